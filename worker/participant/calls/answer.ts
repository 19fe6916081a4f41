/** Every kind of call that the router makes, and the conversation that answers it. */
import type { Json } from '../../../shared/json.ts'
import type { ParticipantAnswer, ParticipantCall } from '../calls.ts'
import { acquire, confirm, ticket, withdraw } from './acquire.ts'
import { type CallContext, done } from './context.ts'
import type { Conversation } from './conversations.ts'
import { end } from './delete.ts'
import { eject } from './eject.ts'
import { exportLock } from './export.ts'
import { keepAlive, operate, release } from './grant.ts'
import { importPart } from './import.ts'
import { changeMembers } from './members.ts'
import { get, list } from './read.ts'
import { guardsNothing } from './refusals.ts'
import { history, status } from './status.ts'
import { transact } from './transact.ts'

/** The calls that concern the guarded state. */
const OF_STATE: ReadonlySet<ParticipantCall['type']> = new Set([
  'ops',
  'transact',
  'get',
  'list',
  'export',
  'import',
])

export function* answer(
  context: CallContext,
  call: Exclude<ParticipantCall, { type: 'configure' | 'locks' }>,
): Conversation<ParticipantAnswer> {
  if (OF_STATE.has(call.type) && context.member.guarded === null) {
    return 'opId' in call ? { ...guardsNothing, outcome: 'not-applied' } : guardsNothing
  }
  switch (call.type) {
    case 'acquire':
      return yield* acquire(context, call)
    case 'ticket':
      return yield* ticket(context, call)
    case 'withdraw':
      return withdraw(context, call)
    case 'confirm':
      return confirm(context, call)
    case 'ops':
      return yield* operate(context, call)
    case 'keepalive':
      return yield* keepAlive(context, call)
    case 'release':
      return yield* release(context, call)
    case 'transact':
      return yield* transact(context, call)
    case 'get':
      return yield* get(context, call)
    case 'list':
      return yield* list(context, call)
    case 'status':
      return done(200, status(context) as unknown as Json)
    case 'history':
      return done(200, history(context, call) as unknown as Json)
    case 'eject':
      return yield* eject(context, call)
    case 'delete':
      return yield* end(context, call)
    case 'members':
      return yield* changeMembers(context, call)
    case 'export':
      return yield* exportLock(context, call)
    case 'import':
      return yield* importPart(context, call)
  }
}
