/** Waiting for the lock: `acquire`, with or without a ticket, and what a ticket is good for. */
import { formatGrantId, formatTicketId, isNamedByClient } from '../../../shared/api/ids.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Json } from '../../../shared/json.ts'
import type { Mode, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { boundToConnection } from '../core/connections.ts'
import { type Call, type CallContext, done, iso, patienceOf } from './context.ts'
import { AT_ONCE, ask, type Conversation } from './conversations.ts'
import {
  cannotShare,
  noSuchTicket,
  overProblem,
  refusalProblem,
  shareTaken,
  withdrawnProblem,
} from './refusals.ts'
import { locked } from './status.ts'

interface Entering {
  readonly user: string
  /** How long the answer may take. */
  readonly waitMs: number
  readonly ttlMs: number
  readonly confirm: boolean
  readonly mode: Mode
  /** Whether the user goes on waiting when the answer is that it does. */
  readonly hasTicket: boolean
}

const { ticketMs: TICKET_MS } = API_LIMITS

export function* acquire(context: CallContext, call: Call<'acquire'>): Conversation<ParticipantAnswer> {
  const { user, waitMs, confirm, ticket: hasTicket, mode = 'exclusive' } = call
  const ttlMs = call.ttlMs ?? context.configuration.ttlMs
  if (context.withdrawals.has(user)) return withdrawnProblem
  if (!context.places.take(context.member.view.waiters, user, call.client)) return shareTaken
  if (call.handsOver && !hasTicket) context.handovers.expect(user)
  context.owners.note(user, call.owner)
  context.following.note(user, call.near)
  const event = yield* enter(context, { user, waitMs, ttlMs, confirm, mode, hasTicket })
  if (event?.type === 'crit') return granted(context, event, ttlMs)
  if (event?.type === 'refused')
    return event.refusal.code === 'not-supported'
      ? cannotShare(context.configuration)
      : refusalProblem(event.refusal)
  if (event === null && hasTicket) return waitingTicket(context, user)
  return locked(context)
}

export function* ticket(context: CallContext, call: Call<'ticket'>): Conversation<ParticipantAnswer> {
  const { user, waitMs } = call
  if (!isKnown(context, user)) return endedTicket(context, user)
  // The user said all this when it came: repeating it changes nothing.
  const { ttlMs } = context.configuration
  const event = yield* enter(context, {
    user,
    waitMs,
    ttlMs,
    confirm: false,
    mode: 'exclusive',
    hasTicket: true,
  })
  if (event?.type === 'crit') return granted(context, event, ttlMs)
  return event === null ? waitingTicket(context, user) : noSuchTicket
}

/**
 * A client has the id of a ticket or a grant; the router also knows the user of a `transact` that it gave up.
 */
export function withdraw(context: CallContext, call: Call<'withdraw'>): ParticipantAnswer {
  context.withdrawals.note(call.user)
  const user = [call.user, boundToConnection(call.user)].find(name => isKnown(context, name))
  if (user !== undefined) context.member.leave(user)
  if (call.ofWaiter) return done(200, { configuration: context.configuration as unknown as Json })
  return user === undefined ? noSuchTicket : done(204, null)
}

/** One that is over already needs no confirmation. */
export function confirm({ handovers }: CallContext, { user }: Call<'confirm'>): ParticipantAnswer {
  handovers.taken(user)
  return done(204, null)
}

/** `try`, and what comes of it within `waitMs`: `crit`, a refusal, `withdrawn`, or nothing yet (`null`). */
function* enter(context: CallContext, asked: Entering): Conversation<UserOutput | null> {
  const { member } = context
  const { user, ttlMs, confirm, mode, hasTicket } = asked
  const waitMs = hasTicket ? asked.waitMs : patienceOf(context, asked.waitMs)
  const shared = mode === 'shared' ? { mode } : {}
  const say: UserInput = {
    type: 'try',
    user,
    ttlMs,
    waitMs: hasTicket ? TICKET_MS : waitMs,
    confirm,
    ...shared,
  }
  const until = waitMs === 0 ? AT_ONCE : context.now() + waitMs
  const leave = () => member.leave(user)
  const event = yield* ask({
    key: user,
    say,
    until,
    isAnswer,
    ...(!hasTicket && { whenGone: leave }),
  })
  if (event !== null) return event
  // A client that is told that the lock is taken neither waits nor holds it.
  if (!hasTicket) {
    leave()
    return null
  }
  // The turn in which the time for the answer was over may have let the user in: then that is said again.
  if (member.holderNamed(user) === undefined) return null
  return yield* ask({ key: user, say, until: AT_ONCE, isAnswer })
}

const isAnswer = (event: UserOutput): boolean =>
  event.type === 'crit' || event.type === 'withdrawn' || (event.type === 'refused' && event.event === 'try')

/** It waits or is inside. */
function isKnown({ member }: CallContext, user: string): boolean {
  return member.isWaiting(user) || member.holderNamed(user) !== undefined
}

function granted(
  context: CallContext,
  event: Extract<UserOutput, { type: 'crit' }>,
  ttlMs: number,
): ParticipantAnswer {
  const grant = grantOf(context, event, ttlMs)
  if (!context.handovers.isUntaken(event.user)) return done(200, { grant })
  if (isNamedByClient(event.user)) return done(200, { grant: { ...grant, confirmMs: API_LIMITS.untakenMs } })
  return { ...done(200, { grant }), isUntaken: true }
}

function grantOf({ member }: CallContext, event: Extract<UserOutput, { type: 'crit' }>, asked: number) {
  const { fence, epoch, expiresAt, user } = event
  return {
    id: formatGrantId(member.id, fence, user),
    fence,
    participant: member.id,
    epoch,
    expiresAt: iso(expiresAt),
    ttlMs: member.holderNamed(user)?.ttlMs ?? asked,
  }
}

function waitingTicket(
  { member, connections, places, owners }: CallContext,
  user: string,
): ParticipantAnswer {
  const { waiters } = member.view
  const place = waiters.findIndex(waiter => waiter.user === user)
  const waiter = waiters[place]
  if (waiter === undefined) return noSuchTicket
  if (connections.giveTicket(user, places.clientOf(user) ?? null)) owners.keep(user)
  const id = formatTicketId(member.id, user)
  return done(202, { ticket: { id, position: place + 1, expiresAt: iso(waiter.waitUntil ?? 0) } })
}

function endedTicket({ member }: CallContext, user: string): ParticipantAnswer {
  const ending = member.view.endings.find(ended => ended.user === user)
  return ending === undefined ? noSuchTicket : overProblem(ending, undefined)
}
