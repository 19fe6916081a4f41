/**
 * `members`: an operator wants other participants. The members are asked for the whole set that follows from
 * the present one; what happens then is the protocol's business. A call that is left early leaves the change
 * as it is: asked again, it goes on waiting for the same one.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { nameOfChange, type WantedBy, wantedMembers } from '../../../shared/api/members-change.ts'
import type { Json } from '../../../shared/json.ts'
import { CHANGING_PROTOCOLS } from '../../../shared/protocols/members/which.ts'
import type { Refusal, UserOutput } from '../../../shared/protocols/protocol.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { type Call, type CallContext, deletion, done, SETTLE_MS } from './context.ts'
import { ask, type Conversation } from './conversations.ts'
import { catchUp } from './read.ts'
import { deletedMeanwhile, noMember, refusalProblem, tooMany } from './refusals.ts'

export function* changeMembers(
  context: CallContext,
  { change }: Pick<Call<'members'>, 'change'>,
  by: WantedBy = 'operator',
): Conversation<ParticipantAnswer> {
  const { member } = context
  if (member.view.members === undefined) return cannotChange(context.configuration)
  const until = context.now() + SETTLE_MS
  const isDeleted = deletion(context)
  // What this participant has not heard of yet may be the very change that is asked for.
  const problem = member.guarded === null ? null : yield* catchUp(context)
  // The next lock of the name may have begun in the very turn that brought the answer.
  if (isDeleted()) return deletedMeanwhile
  if (problem !== null) return problem
  const { members, membership } = member.view
  if (membership !== 'member' || members === undefined) return noMember
  const configuration = member.configuration
  const wanted = wantedMembers(change, {
    places: configuration.participants,
    highest: members.highest,
    processes: context.processes,
  })
  if (wanted.type === 'impossible') return { type: 'problem', code: 'bad_request', detail: wanted.detail }
  if (wanted.type === 'nothing') return done(members.isHandedOver ? 200 : 202, bodyOf(configuration))
  const id = nameOfChange(change, by)
  const isAnother = change.configuration !== undefined && change.configuration !== configuration.number
  if (isAnother && members.change !== id) return anotherChange(configuration)
  context.expectMembers(wanted.members)
  const request = context.newRequest()
  const base = members.configuration
  const say = { type: 'change-members', request, id, base, members: wanted.members } as const
  const event = yield* ask({ key: request, say, until, isAnswer: () => true })
  return isDeleted() ? deletedMeanwhile : answerTo(context, event)
}

function answerTo({ member }: CallContext, event: UserOutput | null): ParticipantAnswer {
  // This participant has lost its place in the lock, and the others may still make the change.
  if (member.engine.birth.value === null) return { ...noMember, outcome: 'unknown' }
  if (event?.type === 'refused') return refusedChange(member.configuration, event.refusal)
  return done(event === null ? 202 : 200, bodyOf(member.configuration))
}

function refusedChange(configuration: LockConfiguration, refusal: Refusal): ParticipantAnswer {
  switch (refusal.code) {
    case 'elsewhere':
      return { type: 'elsewhere', configuration }
    case 'other-members':
      return anotherChange(configuration)
    case 'not-reached':
      return {
        type: 'problem',
        code: 'no_quorum',
        detail:
          `The participants of the lock are the same as before: ${refusal.participants.join(', ')}, which were to come, ` +
          'did not answer in time. Ask again.',
        retryAfterSeconds: 1,
      }
    case 'not-supported':
      return cannotChange(configuration)
    case 'too-many-waiters':
      return tooMany(
        'Too many changes of the participants wait at this participant of the lock, and this one no longer does. ' +
          'Look at the participants that the lock has, and ask again if you still want others.',
      )
    default:
      return refusalProblem(refusal)
  }
}

/** The router says of this what an operator may know. */
const bodyOf = (configuration: LockConfiguration) => ({ configuration: configuration as unknown as Json })

function anotherChange(configuration: LockConfiguration): ParticipantAnswer {
  return {
    type: 'problem',
    code: 'conflict',
    detail:
      'Another change of the participants came first. The lock has these now; ask again if you still want yours.',
    more: bodyOf(configuration),
  }
}

function cannotChange({ protocol }: LockConfiguration): ParticipantAnswer {
  return {
    type: 'problem',
    code: 'not_supported',
    detail:
      `A lock with the protocol ${protocol} keeps the participants that it was created with. The protocols whose ` +
      `locks can get others are: ${CHANGING_PROTOCOLS.join(', ')}.`,
  }
}
