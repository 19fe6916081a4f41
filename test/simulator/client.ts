/**
 * A user of the lock, as an automaton: it stays away, tries, is let in, issues a few operations one at a
 * time, and leaves. It repeats everything that is not answered in time. It may also withdraw, stay too long,
 * or disappear from one moment to the next; then a user of another name takes its seat. What it does and
 * hears is the history that the judge gets.
 */
import type { EjectionReason } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import type { Mode, PendingOutcome, Refusal, UserInput, UserOutput } from '../../shared/protocols/protocol.ts'
import { ClientBase } from './client-base.ts'
import { drawOperation } from './client-operations.ts'
import { isEqual } from './invariants/equal.ts'
import { violate } from './violation.ts'

type Try = Extract<UserInput, { readonly type: 'try' }>
type Output<Type extends UserOutput['type']> = Extract<UserOutput, { readonly type: Type }>

interface Operation {
  readonly opId: string
  readonly operation: Json
}

export class Client extends ClientBase {
  /** Towards the end it does not try again, but finishes what it has begun. */
  isLeaving = false
  #operations = 0
  #try: Try = { type: 'try', user: '', ttlMs: 0 }
  #triesSaid = 0
  #crit: Output<'crit'> | null = null
  /** How many operations this critical section still has. */
  #remaining = 0
  #staysTooLong = false
  /**
   * The mode of all its tries: then a try that is taken for a second one is as good as the one that follows.
   */
  #mode: Mode = 'exclusive'
  #pending: Operation | null = null
  /** It leaves with the pending operation. */
  #thenExits = false
  /** How often its participant had fallen back when it issued the pending operation, and the one before. */
  #fallBacks = { now: 0, before: 0 }
  #last: { readonly opId: string; readonly result: Json } | null = null
  /** An operation whose fate is unknown, or that failed: it is asked for again under the next grant. */
  #again: Operation | null = null
  /** Grants that it has said `exit` to as soon as it heard of them. */
  readonly #declined = new Set<number>()

  /** A new user comes to the seat. */
  sitDown(): void {
    this.takeNewName()
    this.#mode = this.plan.shared > 0 && this.random.chance(this.plan.shared) ? 'shared' : 'exclusive'
    this.world.users.set(this.name, this)
    this.become('away', this.random.fraction() * this.#awayMs)
  }

  get #awayMs(): number {
    const { awayMs, patience } = this.plan
    return this.world.hasFaults ? awayMs * patience : awayMs
  }

  // ---------------------------------------------------------------- what it does

  onWake(generation: number): void {
    if (this.isOutdated(generation)) return
    if (this.world.hasFaults && this.state !== 'gone' && this.random.chance(this.plan.crash))
      return this.#crash()
    switch (this.state) {
      case 'away':
        return this.isLeaving ? this.become('stopped', Number.POSITIVE_INFINITY) : this.#startTrying()
      case 'trying':
        if (this.random.chance(this.world.hasFaults ? this.plan.withdraw : 0)) return this.#withdraw()
        return this.#retry(this.#try)
      case 'withdrawing':
        return this.#retry({ type: 'withdraw', user: this.name })
      case 'inside':
        return this.#goOnInside()
      case 'issuing':
        return this.#retry(this.#issue())
      case 'leaving':
        return this.#retry({ type: 'exit', user: this.name, fence: this.#fence })
      case 'gone':
        return this.sitDown()
      case 'stopped':
        return
    }
  }

  /** A retry is the same event said again. */
  #retry(event: UserInput): void {
    this.world.counts.clientRetries++
    if (event.type === 'try') this.#triesSaid++
    this.say(event)
    this.wakeToRetry()
  }

  #startTrying(): void {
    const { ttlMinMs, ttlMaxMs, confirm, withdraw } = this.plan
    const random = this.random
    this.#try = {
      type: 'try',
      user: this.name,
      ttlMs: random.between(ttlMinMs, ttlMaxMs),
      ...(this.world.hasFaults && random.chance(withdraw) ? { waitMs: random.between(20, 1_500) } : {}),
      ...(random.chance(confirm) ? { confirm: true } : {}),
      ...this.#sharing,
    }
    this.#triesSaid = 1
    this.recordEvent({ type: 'try', ...this.#sharing })
    this.become('trying', 0)
    this.say(this.#try)
    this.wakeToRetry()
  }

  get #sharing(): { readonly mode?: Mode } {
    return this.#mode === 'shared' ? { mode: 'shared' } : {}
  }

  #withdraw(): void {
    this.become('withdrawing', 0)
    this.say({ type: 'withdraw', user: this.name })
    this.wakeToRetry()
  }

  /** A user that waits at the end of a run gives up, if nothing is owed to it. */
  giveUp(): void {
    this.isLeaving = true
    if (this.state === 'trying') this.#withdraw()
  }

  get #fence(): number {
    return this.#crit!.fence
  }

  #goOnInside(): void {
    const random = this.random
    const isInTime = !this.#staysTooLong
    if (isInTime && random.chance(0.1)) {
      const { ttlMs } = this.#try
      this.world.counts.keepAlives++
      this.say({ type: 'keep-alive', user: this.name, fence: this.#fence, ttlMs })
      return this.wakeAfter(random.between(1, 20))
    }
    if (isInTime && this.#remaining > 0) return this.plan.issues ? this.#issueNext() : this.#rest()
    this.recordEvent({ type: 'exit', fence: this.#fence })
    this.become('leaving', 0)
    this.say({ type: 'exit', user: this.name, fence: this.#fence })
    this.wakeToRetry()
  }

  /** If nothing can be issued, it is inside for its own purposes. */
  #rest(): void {
    this.#remaining--
    this.wakeAfter(this.random.between(0, 20))
  }

  #issueNext(): void {
    this.#remaining--
    if (this.#again !== null) {
      this.#pending = this.#again
      this.#again = null
      this.world.counts.operationsAskedAgain++
    } else {
      const opId = `${this.name}-${++this.#operations}`
      this.#pending = { opId, operation: drawOperation(this.random, this.#crit!.sequence) }
    }
    this.#fallBacks = { now: this.world.fallBacksOf(this.participant), before: this.#fallBacks.now }
    this.#thenExits = this.#remaining === 0 && this.random.chance(this.plan.leavesWithOperation)
    this.recordEvent({ type: 'issue', fence: this.#fence, ...this.#pending })
    this.become('issuing', 0)
    this.say(this.#issue())
    this.wakeToRetry()
  }

  #issue(): UserInput {
    const thenExit = this.#thenExits ? ({ thenExit: true } as const) : {}
    return { type: 'issue', user: this.name, fence: this.#fence, ...this.#pending!, ...thenExit }
  }

  /** The user disappears silently. Nobody tells its stub. */
  #crash(): void {
    this.world.counts.clientCrashes++
    this.recordEvent({ type: 'crash' })
    this.world.users.delete(this.name)
    // A user that comes back may remember what was being done, and asks for it again.
    this.#again = this.random.chance(0.5) ? this.#pending : null
    this.#forget()
    this.become('gone', this.random.between(1, 400))
  }

  #forget(): void {
    this.#crit = null
    this.#pending = null
    this.#last = null
  }

  #goAway(): void {
    this.#forget()
    this.become('away', this.random.fraction() * this.#awayMs)
  }

  // ---------------------------------------------------------------- what it hears

  onOutput(event: UserOutput): void {
    if (!('user' in event)) return
    // What is said to a user that is gone reaches nobody.
    if (event.user !== this.name || this.state === 'gone') return
    switch (event.type) {
      case 'crit':
        return this.#onCrit(event)
      case 'outcome':
        return this.#onOutcome(event)
      case 'rem':
        if (this.state === 'leaving' && event.fence === this.#fence) this.#onLeft()
        return
      case 'ejected':
        if (this.#crit !== null && event.fence === this.#fence) this.#onEjected(event.reason, event.pending)
        return
      case 'withdrawn':
        if (this.state !== 'trying' && this.state !== 'withdrawing') return
        this.world.counts.withdrawals++
        return this.#onWithdrawn()
      case 'refused':
        return this.#onRefused(event.event, event.refusal)
      case 'confirmed':
      case 'kept':
        return
    }
  }

  #onCrit(event: Output<'crit'>): void {
    if (this.#declined.has(event.fence)) return this.#decline(event.fence)
    if (this.state === 'trying' || this.state === 'withdrawing') {
      this.#crit = event
      this.recordEvent({ type: 'crit', fence: event.fence, epoch: event.epoch })
      if (this.#try.confirm && event.confirmed) this.world.counts.confirmedAcquires++
      this.#remaining = this.#again !== null ? this.random.between(1, 3) : this.random.between(0, 3)
      this.#staysTooLong = this.world.hasFaults && this.random.chance(this.plan.overstay)
      return this.become('inside', this.#staysTooLong ? 3 * this.plan.ttlMaxMs : this.random.between(0, 10))
    }
    if (this.#crit?.fence === event.fence) {
      if (event.sequence !== this.#crit.sequence || event.epoch !== this.#crit.epoch) {
        violate('I10', `${this.name} got two different answers to one try`)
      }
      return
    }
    // A try that was said twice can be taken for a second one when the first grant is over already. The user
    // has no use for that grant.
    if (this.#triesSaid < 2)
      violate('I10', `${this.name} is let in (fence ${event.fence}) and has not asked for it`)
    if (this.#crit !== null) this.#onEjected('expired', undefined)
    this.#decline(event.fence)
  }

  #decline(fence: number): void {
    this.#declined.add(fence)
    this.say({ type: 'exit', user: this.name, fence })
  }

  #onOutcome(event: Output<'outcome'>): void {
    if (this.state === 'issuing' && this.#fence === event.fence && this.#pending!.opId === event.opId) {
      const { opId, sequence, result, fence } = event
      this.recordEvent({ type: 'outcome', fence, opId, sequence, result })
      this.#last = { opId, result }
      this.#pending = null
      if (this.#thenExits) this.#leaveWithIt()
      else this.become('inside', this.random.between(0, 10))
    } else if (this.#last?.opId === event.opId && !isEqual(this.#last.result, event.result)) {
      violate('I8', `${this.name} was told two outcomes of ${event.opId}`)
    }
  }

  /** The stub lets it go by itself, unless the operation was known before: then it has to ask. */
  #leaveWithIt(): void {
    this.recordEvent({ type: 'exit', fence: this.#fence })
    this.become('leaving', 0)
    this.wakeToRetry()
  }

  #onLeft(): void {
    this.recordEvent({ type: 'rem', fence: this.#fence })
    this.#goAway()
  }

  #onWithdrawn(): void {
    this.recordEvent({ type: 'withdrawn' })
    this.#goAway()
  }

  #onEjected(reason: EjectionReason, pending: PendingOutcome | undefined): void {
    // A user that is leaving does not mind how it got out. Without a guarded state it says so, since how long
    // it was inside is all there is.
    if (this.state === 'leaving' && this.plan.issues) return this.#onLeft()
    const fence = this.#fence
    const issued = this.#pending
    if (issued === null) {
      this.recordEvent({ type: 'ejected', fence, reason })
      return this.#goAway()
    }
    // An ejection that does not mention the pending operation may date from before the stub heard of it, or
    // from after it was done.
    const said =
      pending?.opId === issued.opId ? pending : ({ opId: issued.opId, outcome: 'unknown' } as const)
    this.recordEvent({ type: 'ejected', fence, reason, pending: said })
    if (this.random.chance(0.6)) this.#again = issued
    this.#goAway()
  }

  #onRefused(event: UserInput['type'], refusal: Refusal): void {
    this.world.counts.refusals++
    if (refusal.code === 'conflict')
      violate('D4', `${this.name} used an opId once and was told of a conflict`)
    switch (event) {
      case 'try':
        if (this.state === 'trying' || this.state === 'withdrawing') this.#onWithdrawn()
        return
      case 'withdraw':
        if (this.state === 'withdrawing') this.#onWithdrawn()
        return
      case 'issue':
      case 'exit':
      case 'keep-alive':
        return this.#onGrantRefused(event, refusal)
    }
  }

  /** Whether the stub may have forgotten that it settled the operation that was issued last before this. */
  #mayBeForgotten(event: 'issue' | 'exit' | 'keep-alive'): boolean {
    const { now, before } = this.#fallBacks
    const whenIssued = event === 'issue' && this.state === 'issuing' ? before : now
    return this.world.fallBacksOf(this.participant) > whenIssued
  }

  /** The grant is over, and the news of its end got lost. */
  #onGrantRefused(event: 'issue' | 'exit' | 'keep-alive', refusal: Refusal): void {
    if (this.#crit === null) return
    // The stub has forgotten that it has settled the operation before, and settles it again.
    if (refusal.code === 'busy' && this.#mayBeForgotten(event)) return
    if (refusal.code === 'busy') {
      violate('I10', `${this.name} was told to be busy with another operation on ${event}, and is not`)
    }
    const ending = refusal.code === 'grant-over' ? refusal.ending : null
    if (ending !== null && ending.fence !== this.#fence) return
    if (ending?.reason === 'released') {
      if (this.state === 'leaving') return this.#onLeft()
      // It left with its operation, whose result is no longer remembered.
      if (this.state === 'issuing' && this.#thenExits) return this.#onEjected('expired', ending.pending)
      violate('I10', `${this.name} is told on ${event} that it has left, and has not`)
    }
    this.#onEjected(ending?.reason ?? 'expired', ending?.pending)
  }
}
