/** Acquiring, and what is done with a grant or a ticket. Both live at the participant that their id names. */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { parseGrantId, parseTicketId } from '../../../shared/api/ids.ts'
import type { Json } from '../../../shared/json.ts'
import type { ParticipantCall } from '../../participant/calls.ts'
import { noSuchParticipant, pass, problemResponse } from '../answers.ts'
import { callerOf, clientOf } from '../authentication.ts'
import { type Call, type Handlers, type RouterContext, runLater, type Services } from '../context.ts'
import { whereFrom } from '../nearest.ts'
import type { Plan } from '../routing.ts'

export const grantHandlers = {
  acquire: async ({ c, services, parameters: { lock }, body }) => {
    const { at, waitMs, ticket, confirm, mode, ttlMs = null } = body
    const user = services.randomUser()
    const client = clientOf(c)
    const call = (leftMs: number): ParticipantCall => {
      return { type: 'acquire', user, waitMs: leftMs, ttlMs, ticket, confirm, mode, ...client }
    }
    return enter(c, services, lock, { user, at, waitMs, call })
  },

  transact: async ({ c, services, parameters: { lock }, body }) => {
    const { at, waitMs, opId } = body
    const user = services.randomUser()
    const ops = body.ops as Json
    const client = clientOf(c)
    const call = (leftMs: number): ParticipantCall => {
      return { type: 'transact', user, opId, ops, waitMs: leftMs, ...client }
    }
    return enter(c, services, lock, { user, at, waitMs, call, atStake: 'transaction' })
  },

  ticket: async ({ c, services, parameters: { lock, id }, query: { waitMs } }) => {
    const { participant, user } = parseTicketId(id)!
    return ofTicket(c, services, lock, participant, { type: 'ticket', user, waitMs, ...clientOf(c) }, waitMs)
  },

  withdraw: async ({ c, services, parameters: { lock, id } }) => {
    const { participant, user } = parseTicketId(id)!
    return ofTicket(c, services, lock, participant, { type: 'withdraw', user }, 0)
  },

  ops: async call => {
    const { opId } = call.body
    return ofGrant(
      call,
      ({ user, fence }) => ({ type: 'ops', user, fence, opId, ops: call.body.ops as Json }),
      'operation',
    )
  },

  keepalive: async call => {
    const ttlMs = call.body.ttlMs ?? null
    return ofGrant(call, ({ user, fence }) => ({ type: 'keepalive', user, fence, ttlMs }))
  },

  release: async call => ofGrant(call, ({ user, fence }) => ({ type: 'release', user, fence })),
} satisfies Partial<Handlers>

// ---------------------------------------------------------------- waiting for the lock

interface Entry {
  readonly user: string
  readonly at: number | undefined
  readonly waitMs: number
  readonly call: (waitMs: number) => ParticipantCall
  readonly atStake?: 'transaction'
}

/**
 * Waits for the lock at one participant after the other, and leaves nobody waiting in vain: where nothing was heard, and
 * everywhere once the client has gone, the user is withdrawn.
 */
async function enter(c: RouterContext, services: Services, lock: string, entry: Entry): Promise<Response> {
  const { user, at, waitMs, atStake } = entry
  const { caller, times } = services
  const { signal } = c.get('incoming')
  const withdraw = (place: ParticipantPlace) =>
    runLater(c, caller.call(lock, place, { type: 'withdraw', user }, { limitMs: times.answerMs }))
  const plan: Plan = {
    lock,
    from: whereFrom(c.get('incoming')),
    limitMs: waitMs + times.answerMs,
    ...(atStake && { atStake }),
    ask: (place, leftMs) => {
      const leftToWait = Math.min(waitMs, Math.max(0, leftMs - times.answerMs))
      return caller.call(lock, place, entry.call(leftToWait), {
        limitMs: leftMs,
        signal,
        caller: callerOf(c),
      })
    },
    abandon: withdraw,
    isOver: () => signal.aborted,
  }
  const answer =
    at === undefined ? await services.routing.anyone(plan) : await services.routing.only(at, plan)
  return answer.type === 'gone' ? noSuchParticipant(c, 'body', at!) : pass(c, answer)
}

// ---------------------------------------------------------------- where an id leads

async function ofTicket(
  c: RouterContext,
  services: Services,
  lock: string,
  participant: number,
  call: ParticipantCall,
  waitMs: number,
): Promise<Response> {
  const answer = await services.routing.only(participant, planFor(c, services, lock, call, waitMs))
  if (answer.type === 'gone')
    return problemResponse(
      c,
      'no_such_ticket',
      'The participant that gave out this ticket is not part of this lock.',
    )
  return pass(c, answer)
}

type GrantCall = Call<'ops'> | Call<'keepalive'> | Call<'release'>

async function ofGrant(
  { c, services, parameters: { lock, id } }: GrantCall,
  callFor: (grant: { readonly user: string; readonly fence: number }) => ParticipantCall,
  atStake?: 'operation',
): Promise<Response> {
  const grant = parseGrantId(id)!
  const plan = { ...planFor(c, services, lock, callFor(grant), 0), ...(atStake && { atStake }) }
  const answer = await services.routing.only(grant.participant, plan)
  if (answer.type !== 'gone') return pass(c, answer)
  const detail = `Participant ${grant.participant}, where this grant lived, is not part of this lock (any more).`
  return problemResponse(c, 'ejected', detail, atStake === undefined ? {} : { outcome: 'unknown' })
}

function planFor(
  c: RouterContext,
  services: Services,
  lock: string,
  call: ParticipantCall,
  waitMs: number,
): Plan {
  const limitMs = waitMs + services.times.answerMs
  return {
    lock,
    from: whereFrom(c.get('incoming')),
    limitMs,
    ask: place => services.caller.call(lock, place, call, { limitMs, caller: callerOf(c) }),
  }
}
