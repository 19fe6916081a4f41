/** A user that repeats everything until it is answered, and records what it does and hears for the judge. */
import type { HistoryEvent, UserStubEvent } from '../../../shared/history/events.ts'
import type { Json } from '../../../shared/json.ts'
import type { Ending, PendingOutcome, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'

type State = 'away' | 'trying' | 'inside' | 'issuing' | 'leaving'

type Happening = UserStubEvent extends infer Event
  ? Event extends UserStubEvent
    ? Omit<Event, 'at' | 'user' | 'participant'>
    : never
  : never

export class Client {
  state: State = 'away'
  private fence = 0
  private operations = 0
  private pending: { readonly opId: string; readonly operation: Json } | null = null
  /** An operation whose grant ended before it was answered; it is asked for again under the next grant. */
  private again: { readonly opId: string; readonly operation: Json } | null = null

  readonly name: string
  readonly participant: number
  private readonly record: (event: HistoryEvent) => void
  private readonly time: () => number

  constructor(name: string, participant: number, record: (event: HistoryEvent) => void, time: () => number) {
    this.name = name
    this.participant = participant
    this.record = record
    this.time = time
  }

  /** What it says next; `choice` decides if there are several possibilities. */
  next(choice: number, isLeaving = false): UserInput | null {
    const user = this.name
    const { fence } = this
    switch (this.state) {
      case 'away':
        if (isLeaving) return null
        this.become('trying', { type: 'try' })
        return this.tryAgain(choice)
      case 'trying':
        return choice % 9 === 0 && !isLeaving ? { type: 'withdraw', user } : this.tryAgain(choice)
      case 'inside':
        if (choice % 3 > 0 && !isLeaving) return this.issueNext()
        this.become('leaving', { type: 'exit', fence })
        return { type: 'exit', user, fence }
      case 'issuing':
        return { type: 'issue', user, fence, ...this.pending! }
      case 'leaving':
        return { type: 'exit', user, fence }
    }
  }

  private tryAgain(choice: number): UserInput {
    const patience = choice % 11 === 0 ? { waitMs: 3_000 } : {}
    return { type: 'try', user: this.name, ttlMs: 8_000, ...patience }
  }

  private issueNext(): UserInput {
    this.pending = this.again ?? {
      opId: `${this.name}-${++this.operations}`,
      operation: [{ increment: 'n' }, { put: this.name, value: this.operations }],
    }
    this.again = null
    this.become('issuing', { type: 'issue', fence: this.fence, ...this.pending })
    return { type: 'issue', user: this.name, fence: this.fence, ...this.pending }
  }

  hear(event: UserOutput): void {
    if (!('user' in event) || event.user !== this.name) return
    switch (event.type) {
      case 'crit': {
        if (this.state !== 'trying') return
        this.fence = event.fence
        return this.become('inside', { type: 'crit', fence: event.fence, epoch: event.epoch })
      }
      case 'outcome': {
        if (this.state !== 'issuing' || event.fence !== this.fence || event.opId !== this.pending!.opId)
          return
        this.pending = null
        const { fence, opId, sequence, result } = event
        return this.become('inside', { type: 'outcome', fence, opId, sequence, result })
      }
      case 'rem':
        if (this.state === 'leaving' && event.fence === this.fence)
          this.becomeAway({ type: 'rem', fence: this.fence })
        return
      case 'ejected':
        if (event.fence === this.fence) this.end(event.reason, event.pending)
        return
      case 'withdrawn':
        if (this.state === 'trying') this.becomeAway({ type: 'withdrawn' })
        return
      case 'refused':
        if (event.event === 'withdraw' && this.state === 'trying') this.becomeAway({ type: 'withdrawn' })
        if (event.refusal.code === 'grant-over') this.endMissed(event.refusal.ending)
        return
    }
  }

  private endMissed(ending: Ending | null): void {
    if (ending !== null && ending.fence !== this.fence) return
    if (ending?.reason === 'released' && this.state !== 'leaving')
      throw new Error(`${this.name} has not left`)
    this.end(ending?.reason === 'released' ? 'expired' : (ending?.reason ?? 'expired'), ending?.pending)
  }

  private end(reason: 'suspected' | 'expired' | 'operator', pending: PendingOutcome | undefined): void {
    const { fence } = this
    if (this.state === 'leaving') return this.becomeAway({ type: 'rem', fence })
    if (this.state === 'inside') return this.becomeAway({ type: 'ejected', fence, reason })
    if (this.state !== 'issuing') return
    const { opId } = this.pending!
    this.again = this.pending
    this.pending = null
    const known = pending?.opId === opId ? pending : ({ opId, outcome: 'unknown' } as const)
    this.becomeAway({ type: 'ejected', fence, reason, pending: known })
  }

  private becomeAway(happening: Happening): void {
    this.become('away', happening)
  }

  private become(state: State, happening: Happening): void {
    this.state = state
    const who = { at: this.time(), user: this.name, participant: this.participant }
    this.record({ ...who, ...happening } as HistoryEvent)
  }
}
