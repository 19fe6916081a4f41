/** How a participant answers the router's calls: each becomes user events of the protocol, and their events the answer. */
import { formatGrantId, formatTicketId } from '../../shared/api/ids.ts'
import type { Json } from '../../shared/json.ts'
import type { Ending, Refusal, UserOutput } from '../../shared/protocols/protocol.ts'
import { inCriticalSection } from '../../shared/protocols/wme/figure-3-states.ts'
import { lengthOf } from '../../shared/protocols/wme/log.ts'
import { reportedPhase } from '../../shared/protocols/wme/wme.ts'
import { cellOfKey, keyOfCell, readKey } from '../../shared/resource/key-value.ts'
import type { Consistency, ParticipantAnswer, ParticipantCall, ParticipantStatus } from './calls.ts'
import { boundToConnection } from './connections.ts'
import type { BatonParticipant } from './participant.ts'
import type { WatchEvent } from './storage.ts'

type Call<Type extends ParticipantCall['type']> = Extract<ParticipantCall, { type: Type }>
type Event<Type extends UserOutput['type']> = Extract<UserOutput, { type: Type }>

/** A ticket lives this long without being asked for. */
const TICKET_MS = 60_000
/** How long an operation, a read or an operator's request may take before its fate is called unknown. */
const SETTLE_MS = 10_000
/** The grant of a `transact` lasts as long as the call could. */
const TRANSACT_TTL_MS = 60_000

export class Answers {
  private readonly participant: BatonParticipant
  private requests = 0

  constructor(participant: BatonParticipant) {
    this.participant = participant
  }

  answer(call: ParticipantCall, signal: AbortSignal, isNew: boolean): Promise<ParticipantAnswer> {
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
        return this.eject()
      case 'configure': {
        const configuration = this.participant.configuration as unknown as Json
        return Promise.resolve(done(isNew ? 201 : 200, { created: isNew, configuration }))
      }
    }
  }

  // ---- acquiring

  private async acquire(call: Call<'acquire'>, signal: AbortSignal): Promise<ParticipantAnswer> {
    const { user, waitMs, ticket } = call
    const event = await this.enter(
      user,
      waitMs,
      call.ttlMs,
      ticket ? TICKET_MS : waitMs,
      call.confirm,
      ticket,
      signal,
    )
    if (event?.type === 'crit') return done(200, { grant: this.describeGrant(event) })
    if (event?.type === 'refused') return this.refused(event.refusal)
    if (event === null && ticket) return this.waitingTicket(user)
    return this.locked()
  }

  /** `try`, and what comes of it within `waitMs`: `crit`, a refusal, or nothing yet (`null`). */
  private async enter(
    user: string,
    waitMs: number,
    ttlMs: number | null,
    queueMs: number,
    confirm: boolean,
    staysQueued: boolean,
    signal: AbortSignal | null,
  ): Promise<UserOutput | null> {
    const { waiting, running, configuration } = this.participant
    const isAnswer = (event: UserOutput) => ['crit', 'withdrawn', 'refused'].includes(event.type)
    const answer = waiting.next(user, Date.now() + waitMs, isAnswer)
    running.user({ type: 'try', user, ttlMs: ttlMs ?? configuration!.ttlMs, waitMs: queueMs, confirm })
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

  private withdrawIfWaiting(user: string): void {
    const { running } = this.participant
    if (running.state.durable.waiters.some(waiter => waiter.user === user))
      running.user({ type: 'withdraw', user })
  }

  private describeGrant(event: Event<'crit'>): Json {
    const participant = this.participant.identity.id
    const { fence, epoch, expiresAt, user } = event
    const { ttlMs } = this.participant.running.state.durable.stub.grant!
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
    const { waiters } = this.participant.running.state.durable
    const place = waiters.findIndex(waiter => waiter.user === user)
    const waiter = waiters[place]
    if (waiter === undefined) return noSuchTicket
    this.participant.connections.giveTicket(user)
    const id = formatTicketId(this.participant.identity.id, user)
    return done(202, { ticket: { id, position: place + 1, expiresAt: iso(waiter.waitUntil ?? 0) } })
  }

  private async ticket(call: Call<'ticket'>): Promise<ParticipantAnswer> {
    const { user, waitMs } = call
    const { stub, waiters } = this.participant.running.state.durable
    const isKnown = stub.grant?.user === user || waiters.some(waiter => waiter.user === user)
    if (!isKnown) return this.endedTicket(user)
    const event = await this.enter(user, waitMs, null, TICKET_MS, false, true, null)
    if (event?.type === 'crit') return done(200, { grant: this.describeGrant(event) })
    return event === null ? this.waitingTicket(user) : noSuchTicket
  }

  private endedTicket(user: string): ParticipantAnswer {
    const ending = this.participant.running.state.durable.stub.endings.find(ended => ended.user === user)
    return ending === undefined ? noSuchTicket : overProblem(ending, undefined)
  }

  private async withdraw(call: Call<'withdraw'>): Promise<ParticipantAnswer> {
    const { stub, waiters } = this.participant.running.state.durable
    const isKnown = (user: string) =>
      stub.grant?.user === user || waiters.some(waiter => waiter.user === user)
    // A client has the id of a ticket or a grant; the router also knows the user of a `transact` that it gave up.
    const user = [call.user, boundToConnection(call.user)].find(isKnown)
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
    if (event === null) return this.unsettled()
    if (event.type === 'outcome') return this.outcome(event)
    if (event.type === 'ejected') return overProblem({ ...event }, opId)
    return event.type === 'refused' ? this.refused(event.refusal, opId) : this.unsettled()
  }

  /** `issue`, and what becomes of it. A grant has one operation at a time; further ones wait here for their turn. */
  private async issue(
    user: string,
    fence: number,
    opId: string,
    operation: Json,
  ): Promise<UserOutput | null> {
    const { waiting, running } = this.participant
    const until = Date.now() + SETTLE_MS
    // A refusal comes at once; one that comes later is for another call of the same user.
    let isAsking = false
    const isAnswer = (event: UserOutput) =>
      (event.type === 'outcome' && event.opId === opId && event.fence === fence) ||
      (event.type === 'ejected' && event.fence === fence) ||
      (event.type === 'refused' && event.event === 'issue' && isAsking)
    for (;;) {
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
    const result = event.result as { readonly [member: string]: Json }
    if (result.error === 'conflict') return opIdConflict
    return done(200, { sequence: event.sequence, ...result })
  }

  private unsettled(): ParticipantAnswer {
    return {
      type: 'problem',
      code: 'no_quorum',
      detail:
        'A majority of the participants did not answer in time. Ask again with the same opId to learn the outcome.',
      outcome: 'unknown',
      retryAfterSeconds: 1,
    }
  }

  private async keepAlive(call: Call<'keepalive'>): Promise<ParticipantAnswer> {
    const { user, fence } = call
    const { running, waiting, configuration } = this.participant
    const { grant } = running.state.durable.stub
    const ttlMs = call.ttlMs ?? grant?.ttlMs ?? configuration!.ttlMs
    const answer = waiting.next(user, Date.now(), ({ type }) => type === 'kept' || type === 'refused')
    running.user({ type: 'keep-alive', user, fence, ttlMs })
    const event = await answer
    if (event?.type === 'kept') return done(200, { expiresAt: iso(event.expiresAt) })
    return event?.type === 'refused' ? this.refused(event.refusal) : overProblem(null, undefined)
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
      if (event?.type !== 'refused') return this.unsettled()
      if (event.refusal.code !== 'busy') return this.refused(event.refusal)
      const settled = await waiting.next(
        user,
        Date.now() + SETTLE_MS,
        ({ type }) => type === 'outcome' || type === 'ejected',
      )
      if (settled === null) return this.unsettled()
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
    if (event?.type === 'outcome') return this.transacted(event, fence!)
    if (event?.type === 'ejected') return overProblem({ ...event }, opId)
    if (event?.type === 'refused') return this.refused(event.refusal, opId)
    return event === null
      ? this.unsettled()
      : ({ ...this.locked(), outcome: 'not-applied' } as ParticipantAnswer)
  }

  private transacted(event: Event<'outcome'>, fence: number): ParticipantAnswer {
    const answer = this.outcome(event)
    return answer.type === 'done'
      ? done(200, { fence, ...(answer.body as { [member: string]: Json }) })
      : answer
  }

  // ---- reading

  private async get(call: Call<'get'>): Promise<ParticipantAnswer> {
    const problem = await this.awaitConsistency(call.consistency)
    if (problem !== null) return problem
    const { replica } = this.participant.running.state.durable
    const { committed } = this.participant.running.state.soft
    if (replica.cells[cellOfKey(call.key)] === undefined) {
      return { type: 'problem', code: 'no_such_key', detail: `There is no key ${JSON.stringify(call.key)}.` }
    }
    const { value, revision } = readKey(replica.cells, call.key)
    return done(200, { key: call.key, value, revision, sequence: committed })
  }

  private async list(call: Call<'list'>): Promise<ParticipantAnswer> {
    const problem = await this.awaitConsistency(call.consistency)
    if (problem !== null) return problem
    const { cells } = this.participant.running.state.durable.replica
    const keys = Object.keys(cells)
      .map(keyOfCell)
      .filter(key => key.startsWith(call.prefix) && (call.after === null || key > call.after))
      .sort()
    const page = keys.slice(0, call.limit)
    const entries = page.map(key => ({ key, ...readKey(cells, key) }))
    const cursor = keys.length > page.length ? page.at(-1)! : null
    return done(200, {
      entries,
      cursor,
      sequence: this.participant.running.state.soft.committed,
    } as unknown as Json)
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
    if (event?.type === 'refused') return this.refused(event.refusal)
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
    const { durable, derived, soft } = running.state
    const { grant, phase } = durable.stub
    const isHeld = grant !== null && inCriticalSection(phase)
    return {
      configuration: configuration!,
      phase:
        durable.membership.status === 'joining' ? 'joining' : reportedPhase(running.context, running.state),
      epoch: durable.epoch.epoch,
      sequence: lengthOf(durable),
      owner: derived.owner,
      queue: durable.waiters.length,
      suspects: soft.detector.suspected.flatMap((suspected, peer) => (suspected ? [peer] : [])),
      peerRequests: this.participant.peerRequests,
      holder: isHeld
        ? { participant: identity.id, fence: grant.fence, expiresAt: iso(grant.expiresAt) }
        : null,
    }
  }

  /** What a watcher that has seen everything up to `since` is told first; `null`: it wants nothing of the past. */
  replay(since: number | null): WatchEvent[] {
    if (since === null) return []
    return this.participant.storage.changesAfter(since) ?? [this.snapshot()]
  }

  /** The whole state, for watchers that miss a part of how it came to be. */
  snapshot(): WatchEvent {
    const { cells } = this.participant.running.state.durable.replica
    const sequence = this.participant.running.state.soft.committed
    const keys = Object.keys(cells).map(keyOfCell)
    const entries = keys.map(key => ({ key, ...readKey(cells, key) }))
    return { event: 'snapshot', sequence, data: { sequence, entries } as unknown as Json }
  }

  private async eject(): Promise<ParticipantAnswer> {
    const { running, waiting } = this.participant
    const request = `eject/${++this.requests}`
    const answer = waiting.next(request, Date.now() + SETTLE_MS, () => true)
    running.user({ type: 'eject', request })
    this.participant.finishEvent()
    const event = await answer
    if (event?.type === 'eject-done') return done(200, { epoch: event.epoch })
    return event?.type === 'refused' ? this.refused(event.refusal) : this.unsettled()
  }

  // ---- refusals

  private refused(refusal: Refusal, opId?: string): ParticipantAnswer {
    switch (refusal.code) {
      case 'grant-over':
        return overProblem(refusal.ending, opId)
      case 'conflict':
        return opIdConflict
      case 'too-large':
        return {
          type: 'problem',
          code: 'too_large',
          detail: 'The operation is too large.',
          outcome: 'not-applied',
        }
      case 'too-many-waiters':
        return {
          type: 'problem',
          code: 'too_many',
          detail: 'Too many users wait for this lock at this participant.',
          ...(opId !== undefined && { outcome: 'not-applied' as const }),
          retryAfterSeconds: 1,
        }
      case 'not-a-member':
        return {
          type: 'problem',
          code: 'no_quorum',
          detail: 'This participant is being taken back by the others. Ask again, or ask another one.',
          outcome: 'not-applied',
          retryAfterSeconds: 1,
        }
      case 'not-supported':
        return {
          type: 'problem',
          code: 'not_supported',
          detail: "The lock's protocol cannot do this.",
          ...(opId !== undefined && { outcome: 'not-applied' as const }),
        }
      case 'busy':
        return this.unsettled()
      case 'not-waiting':
        return noSuchTicket
    }
  }
}

const done = (status: 200 | 201 | 202 | 204, body: Json): ParticipantAnswer => ({
  type: 'done',
  status,
  body,
})

const iso = (ms: number): string => new Date(ms).toISOString()

const noSuchTicket: ParticipantAnswer = {
  type: 'problem',
  code: 'no_such_ticket',
  detail: 'There is no such ticket: it was never issued, it was withdrawn, or its time is over.',
}

const opIdConflict: ParticipantAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'This opId was used for another operation.',
  outcome: 'not-applied',
}

/** The grant is over. What became of `opId` under it is said: applied operations have their result in the table already. */
function overProblem(ending: Omit<Ending, 'user'> | null, opId: string | undefined): ParticipantAnswer {
  const code = ending === null ? 'ejected' : CODE_OF_ENDING[ending.reason]
  const pending = ending?.pending?.opId === opId ? ending?.pending?.outcome : undefined
  const outcome =
    opId === undefined ? {} : { outcome: pending ?? (ending === null ? 'unknown' : 'not-applied') }
  const detail =
    ending === null ? 'The grant is over; how it ended is no longer known.' : DETAIL_OF_ENDING[ending.reason]
  return { type: 'problem', code, detail, ...outcome } as ParticipantAnswer
}

const CODE_OF_ENDING = {
  released: 'released',
  suspected: 'ejected',
  operator: 'ejected',
  expired: 'expired',
} as const

const DETAIL_OF_ENDING = {
  released: 'The grant was released.',
  suspected:
    'The holder was ejected: its participant was suspected to be gone, and the others went on without it.',
  operator: 'The holder was ejected by an operator.',
  expired: 'The grant was not kept alive in time.',
} as const
