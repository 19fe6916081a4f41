/** Acquiring, and what is done with a grant or a ticket. Both live at the participant that their id names. */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { parseGrantId, parseTicketId, userOfWaiter } from '../../../shared/api/ids.ts'
import type { Json } from '../../../shared/json.ts'
import type { ParticipantCall } from '../../participant/calls.ts'
import { noSuchParticipant, nothing, pass, problemResponse } from '../answers.ts'
import { callerOf, clientOf } from '../authentication.ts'
import { type Call, type Handlers, type RouterContext, runLater, type Services } from '../context.ts'
import { handOver } from '../handover.ts'
import { nearOf, whereFrom } from '../nearest.ts'
import { isNoSuchLock, type Plan, type Routed } from '../routing.ts'
import { tellHolder } from '../who-holds.ts'
import { askAll } from './locks.ts'

export const grantHandlers = {
  acquire: async ({ c, services, parameters: { lock }, body }) => {
    const { at, waitMs, ticket, confirm, mode, ttlMs = null, waiter } = body
    const owner = ownerIn(body)
    const user = waiter === undefined ? services.randomUser() : userOfWaiter(waiter)
    const client = clientOf(c)
    const call = (leftMs: number): ParticipantCall => {
      const asked = { waitMs: leftMs, ttlMs, ticket, confirm, mode, handsOver: true } as const
      return { type: 'acquire', user, ...asked, ...client, ...owner, ...nearOf(c.get('incoming')) }
    }
    return enter(c, services, lock, { user, at, waitMs, call })
  },

  transact: async ({ c, services, parameters: { lock }, body }) => {
    const { at, waitMs, opId } = body
    const user = services.randomUser()
    const ops = body.ops as Json
    const client = clientOf(c)
    const call = (leftMs: number): ParticipantCall => {
      return {
        type: 'transact',
        user,
        opId,
        ops,
        waitMs: leftMs,
        ...client,
        ...ownerIn(body),
        ...nearOf(c.get('incoming')),
      }
    }
    return enter(c, services, lock, { user, at, waitMs, call, atStake: 'transaction' })
  },

  ticket: async ({ c, services, parameters: { lock, id }, query: { waitMs } }) => {
    const { participant, user } = parseTicketId(id)!
    return ofTicket(c, services, lock, participant, { type: 'ticket', user, waitMs, ...clientOf(c) }, waitMs)
  },

  withdraw: async ({ c, services, parameters: { lock, id } }) => {
    const { participant, user } = parseTicketId(id)!
    return ofTicket(c, services, lock, participant, { type: 'withdraw', user, ofTicket: true }, 0)
  },

  withdrawWaiter: async ({ c, services, parameters: { lock, waiter } }) => {
    const user = userOfWaiter(waiter)
    const answers = await askAll(services, lock, () => ({ type: 'withdraw', user, ofWaiter: true }))
    const { participants } = services.routing.configurationOf(lock)
    const silent = participants.filter(({ id }) => !answers.has(id)).map(({ id }) => id)
    if (silent.length === 0) return nothing(c)
    const detail = `Of the participants of this lock ${silent.join(', ')} did not answer. Ask again: there it may still wait.`
    return problemResponse(c, 'no_quorum', detail)
  },

  ops: async call => {
    const { opId } = call.body
    return ofGrant(
      call,
      ({ user, fence }) => ({ type: 'ops', user, fence, opId, ops: call.body.ops as Json }),
      { atStake: 'operation' },
    )
  },

  keepalive: async call => {
    const { ttlMs = null, waitMs } = call.body
    return ofGrant(call, ({ user, fence }) => ({ type: 'keepalive', user, fence, ttlMs, waitMs }), { waitMs })
  },

  release: async call => ofGrant(call, ({ user, fence }) => ({ type: 'release', user, fence })),
} satisfies Partial<Handlers>

const ownerIn = ({ owner }: { readonly owner?: string | undefined }) => (owner === undefined ? {} : { owner })

// ---------------------------------------------------------------- waiting for the lock

interface Entry {
  readonly user: string
  readonly at: number | undefined
  readonly waitMs: number
  readonly call: (waitMs: number) => ParticipantCall
  readonly atStake?: 'transaction'
}

/**
 * Waits for the lock at one participant after the other, and leaves no user waiting in vain: it is withdrawn
 * where nothing was heard, and everywhere once the client has gone.
 */
async function enter(c: RouterContext, services: Services, lock: string, entry: Entry): Promise<Response> {
  const { user, at, waitMs, atStake } = entry
  const { caller, times } = services
  const { signal } = c.get('incoming')
  const withdraw = (place: ParticipantPlace) =>
    runLater(c, caller.call(lock, place, { type: 'withdraw', user }, { limitMs: times.answerMs }))
  let asked: ParticipantPlace | null = null
  const plan: Plan = {
    lock,
    from: () => whereFrom(c.get('incoming')),
    limitMs: waitMs + times.answerMs,
    createsLock: true,
    ...(atStake && { atStake }),
    ask: (place, leftMs) => {
      asked = place
      const leftToWait = Math.min(waitMs, Math.max(0, leftMs - times.answerMs))
      return caller.call(lock, place, entry.call(leftToWait), {
        limitMs: leftMs,
        signal,
        caller: callerOf(c),
        asItIs: true,
      })
    },
    abandon: withdraw,
    isOver: () => signal.aborted,
  }
  const refusedOrNot =
    at === undefined ? await services.routing.anyone(plan) : await services.routing.only(at, plan)
  // The answer was quicker than the word that the client has gone: nobody will ever use what it was given.
  if (signal.aborted && atStake === undefined && isGiven(refusedOrNot) && asked !== null) withdraw(asked)
  const answer = signal.aborted ? refusedOrNot : await tellHolder(services, lock, refusedOrNot)
  return answer.type === 'gone'
    ? noSuchParticipant(c, 'body', at!)
    : passOrHandOver(c, services, lock, answer)
}

/** A grant, or a ticket. */
const isGiven = (answer: Routed): boolean => answer.type === 'done' || answer.type === 'passed'

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
  if (isNoSuchLock(answer)) return problemResponse(c, 'no_such_ticket', NO_LOCK)
  if (answer.type === 'gone')
    return problemResponse(
      c,
      'no_such_ticket',
      'The participant that gave out this ticket is not part of this lock.',
    )
  return passOrHandOver(c, services, lock, answer)
}

function passOrHandOver(
  c: RouterContext,
  services: Services,
  lock: string,
  answer: Exclude<Routed, { type: 'gone' }>,
): Response {
  const isUntaken = answer.type === 'done' && answer.isUntaken === true
  return isUntaken ? handOver(c, services, lock, answer) : pass(c, answer)
}

/** Whatever it was that had given out the id: it is over. */
const NO_LOCK = 'There is no such lock (any more).'

type GrantCall = Call<'ops'> | Call<'keepalive'> | Call<'release'>

async function ofGrant(
  { c, services, parameters: { lock, id } }: GrantCall,
  callFor: (grant: { readonly user: string; readonly fence: number }) => ParticipantCall,
  { atStake, waitMs = 0 }: { readonly atStake?: 'operation'; readonly waitMs?: number } = {},
): Promise<Response> {
  const grant = parseGrantId(id)!
  const { fence } = grant
  const plan = { ...planFor(c, services, lock, callFor(grant), waitMs), fence, ...(atStake && { atStake }) }
  const answer = await services.routing.only(grant.participant, plan)
  const isLockGone = isNoSuchLock(answer)
  if (answer.type !== 'gone' && !isLockGone) return pass(c, answer)
  const detail = isLockGone
    ? NO_LOCK
    : `Participant ${grant.participant}, where this grant lived, is not part of this lock (any more).`
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
    from: () => whereFrom(c.get('incoming')),
    limitMs,
    ask: place => services.caller.call(lock, place, call, { limitMs, caller: callerOf(c), asItIs: true }),
  }
}
