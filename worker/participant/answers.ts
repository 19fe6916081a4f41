/** How a participant answers the router's calls: each becomes user events of the protocol, and their events the answer. */
import { formatGrantId, formatTicketId } from '../../shared/api/ids.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { Json } from '../../shared/json.ts'
import type { GuardedState, Mode, UserOutput } from '../../shared/protocols/protocol.ts'
import { resultOf } from '../../shared/resource/replica.ts'
import type { Consistency, ParticipantAnswer, ParticipantCall, ParticipantStatus } from './calls.ts'
import { boundToConnection } from './connections.ts'
import { outcomeBody } from './outcome.ts'
import type { BatonParticipant } from './participant.ts'
import { readOne, readPage, snapshotEvent } from './reading.ts'
import {
  anotherHolder,
  guardsNothing,
  holderUnknown,
  noSuchTicket,
  opIdConflict,
  overProblem,
  refusalProblem,
  stateTooLarge,
  tooMany,
  unsettled,
} from './refusals.ts'
import type { WatchEvent } from './storage.ts'

type Call<Type extends ParticipantCall['type']> = Extract<ParticipantCall, { type: Type }>
interface Entering {
  readonly user: string
  /** How long the answer may take. */
  readonly waitMs: number
  /** How long the user may wait in the queue. */
  readonly queueMs: number
  /** `null`: the lock's default. */
  readonly ttlMs: number | null
  readonly confirm: boolean
  readonly mode: Mode
  /** The user goes on waiting when the answer is that it does. */
  readonly staysQueued: boolean
  readonly signal: AbortSignal | null
}

type Event<Type extends UserOutput['type']> = Extract<UserOutput, { type: Type }>

const { ticketMs: TICKET_MS } = API_LIMITS

/** A user with a ticket has said all this when it came. */
const AS_BEFORE = {
  ttlMs: null,
  queueMs: TICKET_MS,
  confirm: false,
  mode: 'exclusive',
  staysQueued: true,
  signal: null,
} as const

/** What is asked of the guarded state. */
const OF_STATE: ReadonlySet<ParticipantCall['type']> = new Set(['ops', 'transact', 'get', 'list'])

/** How long an operation, a read or an operator's request may take before its fate is called unknown. */
const SETTLE_MS = 10_000
/** The grant of a `transact` lasts as long as the call could. */
const TRANSACT_TTL_MS = 60_000

/** What makes room, and how the router finds out that a participant which keeps it waiting is there. */
const ALWAYS_TAKEN: ReadonlySet<ParticipantCall['type']> = new Set([
  'status',
  'withdraw',
  'release',
  'keepalive',
  'eject',
])

export class Answers {
  private readonly participant: BatonParticipant
  private requests = 0

  constructor(participant: BatonParticipant) {
    this.participant = participant
  }

  /** Calls that are not answered yet. */
  private inFlight = 0

  async answer(call: ParticipantCall, signal: AbortSignal, isNew: boolean): Promise<ParticipantAnswer> {
    if (this.inFlight >= API_LIMITS.callsInFlight && !ALWAYS_TAKEN.has(call.type)) {
      const outcome = 'opId' in call ? { outcome: 'not-applied' as const } : {}
      return { ...tooMany('This participant has too many calls to answer.'), ...outcome }
    }
    if (OF_STATE.has(call.type) && this.participant.running.guarded === null) {
      return 'opId' in call ? { ...guardsNothing, outcome: 'not-applied' } : guardsNothing
    }
    this.inFlight++
    try {
      return await this.run(call, signal, isNew)
    } finally {
      this.inFlight--
    }
  }

  private run(call: ParticipantCall, signal: AbortSignal, isNew: boolean): Promise<ParticipantAnswer> {
    switch (call.type) {
      case 'acquire':
        return this.acquire(call, signal)
      case 'ticket':
        return this.ticket(call)
      case 'withdraw':
        return this.withdraw(call)
      case 'ops':
        return this.ops(call)
      case 'keepalive':
        return this.keepAlive(call)
      case 'release':
        return this.release(call)
      case 'transact':
        return this.transact(call, signal)
      case 'get':
        return this.get(call)
      case 'list':
        return this.list(call)
      case 'status':
        return Promise.resolve(done(200, this.status() as unknown as Json))
      case 'history':
        return Promise.resolve(done(200, this.participant.storage.history() as unknown as Json))
      case 'eject':
        return this.eject(call)
      case 'configure': {
        const configuration = this.participant.configuration as unknown as Json
        return Promise.resolve(done(isNew ? 201 : 200, { created: isNew, configuration }))
      }
    }
  }

  // ---- acquiring

  private async acquire(call: Call<'acquire'>, signal: AbortSignal): Promise<ParticipantAnswer> {
    const { user, waitMs, ticket } = call
    const { ttlMs, confirm, mode = 'exclusive' } = call
    const queueMs = ticket ? TICKET_MS : waitMs
    const event = await this.enter({
      user,
      waitMs,
      ttlMs,
      queueMs,
      confirm,
      mode,
      staysQueued: ticket,
      signal,
    })
    if (event?.type === 'crit') return done(200, { grant: this.describeGrant(event) })
    if (event?.type === 'refused') return refusalProblem(event.refusal)
    if (event === null && ticket) return this.waitingTicket(user)
    return this.locked()
  }

  /** `try`, and what comes of it within `waitMs`: `crit`, a refusal, or nothing yet (`null`). */
  private async enter(asked: Entering): Promise<UserOutput | null> {
    const { user, waitMs, queueMs, confirm, mode, staysQueued, signal } = asked
    const { waiting, running, configuration } = this.participant
    const isAnswer = (event: UserOutput) => ['crit', 'withdrawn', 'refused'].includes(event.type)
    const answer = waiting.next(user, Date.now() + waitMs, isAnswer)
    const ttlMs = asked.ttlMs ?? configuration!.ttlMs
    const shared = mode === 'shared' ? { mode } : {}
    running.user({ type: 'try', user, ttlMs, waitMs: queueMs, confirm, ...shared })
    const giveUp = () => {
      this.participant.leave(user)
      this.participant.finishEvent()
    }
    if (waitMs === 0 && !staysQueued) this.withdrawIfWaiting(user)
    signal?.addEventListener('abort', giveUp)
    this.participant.finishEvent()
    const event = await answer
    signal?.removeEventListener('abort', giveUp)
    if (event === null && !staysQueued) this.withdrawIfWaiting(user)
    return event
  }

  /** It waits or is inside. */
  private isKnown(user: string): boolean {
    const { holders, waiters } = this.participant.running.view
    return [...holders, ...waiters].some(known => known.user === user)
  }

  private withdrawIfWaiting(user: string): void {
    const { running } = this.participant
    if (running.view.waiters.some(waiter => waiter.user === user)) running.user({ type: 'withdraw', user })
  }

  private describeGrant(event: Event<'crit'>): Json {
    const participant = this.participant.identity.id
    const { fence, epoch, expiresAt, user } = event
    const { ttlMs } = this.participant.running.view.holders.find(holder => holder.user === user)!
    return {
      id: formatGrantId(participant, fence, user),
      fence,
      participant,
      epoch,
      expiresAt: iso(expiresAt),
      ttlMs,
    }
  }

  private waitingTicket(user: string): ParticipantAnswer {
    const { waiters } = this.participant.running.view
    const place = waiters.findIndex(waiter => waiter.user === user)
    const waiter = waiters[place]
    if (waiter === undefined) return noSuchTicket
    this.participant.connections.giveTicket(user)
    const id = formatTicketId(this.participant.identity.id, user)
    return done(202, { ticket: { id, position: place + 1, expiresAt: iso(waiter.waitUntil ?? 0) } })
  }

  private async ticket(call: Call<'ticket'>): Promise<ParticipantAnswer> {
    const { user, waitMs } = call
    if (!this.isKnown(user)) return this.endedTicket(user)
    const event = await this.enter({ ...AS_BEFORE, user, waitMs })
    if (event?.type === 'crit') return done(200, { grant: this.describeGrant(event) })
    return event === null ? this.waitingTicket(user) : noSuchTicket
  }

  private endedTicket(user: string): ParticipantAnswer {
    const ending = this.participant.running.view.endings.find(ended => ended.user === user)
    return ending === undefined ? noSuchTicket : overProblem(ending, undefined)
  }

  private async withdraw(call: Call<'withdraw'>): Promise<ParticipantAnswer> {
    // A client has the id of a ticket or a grant; the router also knows the user of a `transact` that it gave up.
    const user = [call.user, boundToConnection(call.user)].find(name => this.isKnown(name))
    if (user === undefined) return noSuchTicket
    this.participant.leave(user)
    return done(204, null)
  }

  private locked(): ParticipantAnswer {
    const { holder } = this.status()
    const more = holder === null ? {} : { more: { holder: holder as unknown as Json } }
    return {
      type: 'problem',
      code: 'locked',
      detail: 'The lock was not granted in the time to wait.',
      ...more,
    }
  }

  // ---- inside

  private async ops(call: Call<'ops'>): Promise<ParticipantAnswer> {
    const { user, fence, opId, ops } = call
    const event = await this.issue(user, fence, opId, ops)
    if (event === null) return unsettled
    if (event === 'too-much') return stateTooLarge
    if (event.type === 'outcome') return this.outcome(event)
    if (event.type === 'ejected') return overProblem({ ...event }, opId)
    return event.type === 'refused' ? refusalProblem(event.refusal, opId) : unsettled
  }

  /** `issue`, and what becomes of it. A grant has one operation at a time; further ones wait here for their turn. */
  private async issue(
    user: string,
    fence: number,
    opId: string,
    operation: Json,
  ): Promise<UserOutput | 'too-much' | null> {
    const { waiting, running } = this.participant
    const until = Date.now() + SETTLE_MS
    // A refusal comes at once; one that comes later is for another call of the same user.
    let isAsking = false
    const isAnswer = (event: UserOutput) =>
      (event.type === 'outcome' && event.opId === opId && event.fence === fence) ||
      (event.type === 'ejected' && event.fence === fence) ||
      (event.type === 'refused' && event.event === 'issue' && isAsking)
    for (;;) {
      if (this.participant.isTooMuch(user, fence, opId, operation)) return 'too-much'
      const answer = waiting.next(user, until, isAnswer)
      isAsking = true
      running.user({ type: 'issue', user, fence, opId, operation })
      isAsking = false
      this.participant.finishEvent()
      const event = await answer
      if (event?.type !== 'refused' || event.refusal.code !== 'busy') return event
      await waiting.next(user, until, ({ type }) => type === 'outcome' || type === 'ejected')
      if (Date.now() >= until) return null
    }
  }

  private outcome(event: Event<'outcome'>): ParticipantAnswer {
    const body = outcomeBody(event.result)
    return body === null ? opIdConflict : done(200, { sequence: event.sequence, ...body })
  }

  private async keepAlive(call: Call<'keepalive'>): Promise<ParticipantAnswer> {
    const { user, fence } = call
    const { running, waiting, configuration } = this.participant
    const holder = running.view.holders.find(inside => inside.user === user)
    const ttlMs = call.ttlMs ?? holder?.ttlMs ?? configuration!.ttlMs
    const answer = waiting.next(user, Date.now(), ({ type }) => type === 'kept' || type === 'refused')
    running.user({ type: 'keep-alive', user, fence, ttlMs })
    const event = await answer
    if (event?.type === 'kept') return done(200, { expiresAt: iso(event.expiresAt) })
    return event?.type === 'refused' ? refusalProblem(event.refusal) : overProblem(null, undefined)
  }

  private async release(call: Call<'release'>): Promise<ParticipantAnswer> {
    const { user, fence } = call
    const { running, waiting } = this.participant
    for (;;) {
      const answer = waiting.next(
        user,
        Date.now() + SETTLE_MS,
        ({ type }) => type === 'rem' || type === 'refused',
      )
      running.user({ type: 'exit', user, fence })
      this.participant.finishEvent()
      const event = await answer
      if (event?.type === 'rem') return done(204, null)
      if (event?.type !== 'refused') return unsettled
      if (event.refusal.code !== 'busy') return refusalProblem(event.refusal)
      const settled = await waiting.next(
        user,
        Date.now() + SETTLE_MS,
        ({ type }) => type === 'outcome' || type === 'ejected',
      )
      if (settled === null) return unsettled
    }
  }

  /**
   * Acquire, apply, release. The operation is issued in the very event that brings the grant, so that both travel in one
   * request to each participant.
   */
  private async transact(call: Call<'transact'>, signal: AbortSignal): Promise<ParticipantAnswer> {
    const { opId, ops, waitMs } = call
    const user = boundToConnection(call.user)
    const { waiting, running } = this.participant
    let fence: number | null = null
    const answer = waiting.next(user, Date.now() + waitMs + SETTLE_MS, event => {
      if (event.type !== 'crit') return ['outcome', 'ejected', 'refused', 'withdrawn'].includes(event.type)
      fence = event.fence
      if (this.participant.isTooMuch(user, fence, opId, ops)) return true
      running.user({ type: 'issue', user, fence, opId, operation: ops })
      return false
    })
    const giveUp = () => {
      this.participant.leave(user)
      this.participant.finishEvent()
    }
    signal.addEventListener('abort', giveUp)
    running.user({ type: 'try', user, ttlMs: TRANSACT_TTL_MS, waitMs })
    if (waitMs === 0) this.withdrawIfWaiting(user)
    this.participant.finishEvent()
    const event = await answer
    signal.removeEventListener('abort', giveUp)
    this.participant.leave(user)
    if (event?.type === 'crit') return stateTooLarge
    if (event?.type === 'outcome') return this.transacted(event, fence!)
    if (event?.type === 'ejected') return overProblem({ ...event }, opId)
    if (event?.type === 'refused') return refusalProblem(event.refusal, opId)
    return event === null ? unsettled : ({ ...this.locked(), outcome: 'not-applied' } as ParticipantAnswer)
  }

  /** Said again, it is answered with the fence of the first time too. */
  private transacted(event: Event<'outcome'>, ownFence: number): ParticipantAnswer {
    const answer = this.outcome(event)
    const fence = resultOf(this.participant.running.guarded!.replica, event.opId)?.fence ?? ownFence
    return answer.type === 'done'
      ? done(200, { fence, ...(answer.body as { [member: string]: Json }) })
      : answer
  }

  // ---- reading

  private async get(call: Call<'get'>): Promise<ParticipantAnswer> {
    const problem = await this.awaitConsistency(call.consistency)
    if (problem !== null) return problem
    const { cells, sequence } = this.state
    return readOne(cells, sequence, call)
  }

  private async list(call: Call<'list'>): Promise<ParticipantAnswer> {
    const problem = await this.awaitConsistency(call.consistency)
    if (problem !== null) return problem
    const { cells, sequence } = this.state
    return readPage(cells, sequence, call)
  }

  /** The guarded state as this participant has it, and how far it has come. */
  private get state() {
    const { replica, committed } = this.participant.running.guarded!
    return { cells: replica.cells, sequence: committed }
  }

  private async awaitConsistency(consistency: Consistency): Promise<ParticipantAnswer | null> {
    if (consistency === 'local') return null
    const { running, waiting } = this.participant
    const request = `read/${++this.requests}`
    const answer = waiting.next(request, Date.now() + SETTLE_MS, () => true)
    running.user({ type: 'read', request })
    this.participant.finishEvent()
    const event = await answer
    if (event?.type === 'readable') return null
    if (event?.type === 'refused') return refusalProblem(event.refusal)
    running.user({ type: 'cancel-read', request })
    return {
      type: 'problem',
      code: 'no_quorum',
      detail:
        'A majority of the participants did not answer in time. A read with consistency=local needs none.',
      retryAfterSeconds: 1,
    }
  }

  status(): ParticipantStatus {
    const { running, identity, configuration } = this.participant
    const { phase, epoch, sequence, owner, suspects, waiters, holders } = running.view
    const [holder] = holders
    return {
      configuration: configuration!,
      phase,
      epoch,
      sequence,
      owner,
      queue: waiters.length,
      suspects,
      peerRequests: this.participant.peerRequests,
      counters: { ...this.participant.counters },
      gauges: {
        calls: this.inFlight,
        watchers: this.participant.watchers.size,
        sessions: this.participant.sessions.size,
        stateWeight: this.participant.stateWeight,
      },
      holder:
        holder === undefined
          ? null
          : { participant: identity.id, fence: holder.fence, expiresAt: iso(holder.expiresAt) },
    }
  }

  /** What a watcher that has seen everything up to `since` is told first; `null`: it wants nothing of the past. */
  replay(since: number | null): WatchEvent[] {
    if (since === null) return []
    return this.participant.storage.changesAfter(since) ?? [this.snapshot()]
  }

  snapshot(): WatchEvent {
    const { cells, sequence } = this.state
    return snapshotEvent(cells, sequence)
  }

  private async eject(call: Call<'eject'>): Promise<ParticipantAnswer> {
    const fence = call.fence ?? null
    const { running, waiting } = this.participant
    const { guarded } = running
    if (fence !== null && guarded !== null) {
      if (!hasHeardOf(guarded, fence)) {
        const problem = await this.awaitConsistency('linearizable')
        if (problem !== null) return problem
      }
      // Found and done in one go: whoever is granted the lock later has a higher fence, and stays.
      const refusal = this.refusalToEject(running.guarded!, fence)
      if (refusal !== null) return refusal
    }
    const request = `eject/${++this.requests}`
    const answer = waiting.next(request, Date.now() + SETTLE_MS, () => true)
    running.user({ type: 'eject', request, ...(fence !== null && { fence }) })
    this.participant.finishEvent()
    const event = await answer
    if (event?.type === 'eject-done') return done(200, { epoch: event.epoch })
    if (event?.type !== 'refused') return unsettled
    return event.refusal.code === 'conflict' ? anotherHolder : refusalProblem(event.refusal)
  }

  /** Why the holder with this fence is not to be ejected from here; `null` if it is. */
  private refusalToEject(guarded: GuardedState, fence: number): ParticipantAnswer | null {
    const { running, identity } = this.participant
    if (guarded.latestFence() === fence) return null
    // Only the owner knows of a grant that no majority has heard of yet.
    const isCertain = hasHeardOf(guarded, fence) || running.view.owner === identity.id
    return isCertain ? anotherHolder : holderUnknown
  }
}

/** Whether this participant knows of the grant with this fence, or of a later one. */
const hasHeardOf = (guarded: GuardedState, fence: number): boolean => (guarded.latestFence() ?? -1) >= fence

const done = (status: 200 | 201 | 202 | 204, body: Json): ParticipantAnswer => ({
  type: 'done',
  status,
  body,
})

const iso = (ms: number): string => new Date(ms).toISOString()
