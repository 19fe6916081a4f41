/**
 * A user of the lock: it tries, is let in, operates if there is a state to operate on, and leaves. What it
 * says and hears is the history that the checker judges. It repeats what it said when its participant begins
 * again, and only then: between the two nothing gets lost.
 */
import type { EjectionReason, UserStubEvent } from '../../../shared/history/events.ts'
import type { Json } from '../../../shared/json.ts'
import type { PendingOutcome, UserInput, UserOutput } from '../../../shared/protocols/protocol.ts'
import type { Glyph } from './tape.ts'

export type Plan = 'visit' | 'stay' | 'commute'

/** What a user says or hears, before the host adds when and where. */
export type Recorded = UserStubEvent extends infer Event
  ? Event extends UserStubEvent
    ? Omit<Event, 'at' | 'user' | 'participant'>
    : never
  : never

/** What a user needs of the world around it. */
export interface Surroundings {
  readonly ttlMs: number
  readonly guardsState: boolean
  say(user: User, event: UserInput): void
  /** Between the two, by the seed. */
  after(user: User, leastMs: number, mostMs: number, action: () => void): void
  record(event: Recorded, user: User): void
  mark(user: User, glyph: Glyph, text: string): void
}

export type UserState = 'trying' | 'inside' | 'issuing' | 'leaving' | 'gone'

const INSIDE_MS = [14, 30] as const
const AWAY_MS = [60, 260] as const

export class User {
  readonly name: string
  readonly participant: number
  readonly plan: Plan
  state: UserState = 'gone'
  fence = 0
  #pending: { readonly opId: string; readonly operation: Json } | null = null
  #operations = 0
  /** Why its grant has ended, while it waits to hear what became of its operation. */
  #endedBy: EjectionReason | null = null
  /** What was planned before something else happened is not done. */
  #plans = 0
  readonly #world: Surroundings

  constructor(name: string, participant: number, plan: Plan, world: Surroundings) {
    this.name = name
    this.participant = participant
    this.plan = plan
    this.#world = world
  }

  // ---------------------------------------------------------------- what it does

  come(): void {
    this.state = 'trying'
    this.#record({ type: 'try' })
    this.#mark('try', 'waits')
    this.#say()
  }

  operate(): void {
    const opId = `${this.name}-${++this.#operations}`
    const operation = [{ put: 'last', value: this.name }, { increment: 'count' }]
    this.#pending = { opId, operation }
    this.#plans++
    this.state = 'issuing'
    this.#record({ type: 'issue', fence: this.fence, opId, operation })
    this.#mark('issue', `issues ${opId}`)
    this.#say()
  }

  leave(): void {
    this.#plans++
    this.state = 'leaving'
    this.#record({ type: 'exit', fence: this.fence })
    this.#mark('exit', 'leaves')
    this.#say()
  }

  /** The participant has begun again: what it may not have heard is said again. */
  repeat(): void {
    this.#say()
  }

  #say(): void {
    const { name: user, fence } = this
    if (this.state === 'trying') this.#world.say(this, { type: 'try', user, ttlMs: this.#world.ttlMs })
    else if (this.state === 'issuing')
      this.#world.say(this, { type: 'issue', user, fence, ...this.#pending! })
    else if (this.state === 'leaving') this.#world.say(this, { type: 'exit', user, fence })
  }

  #later([least, most]: readonly [number, number], action: () => void): void {
    const plan = ++this.#plans
    this.#world.after(this, least, most, () => {
      if (plan === this.#plans) action()
    })
  }

  #goAway(): void {
    this.state = 'gone'
    this.#pending = null
    this.#endedBy = null
    this.#plans++
    if (this.plan === 'commute') this.#later(AWAY_MS, () => this.come())
  }

  // ---------------------------------------------------------------- what it hears

  hear(event: UserOutput): void {
    switch (event.type) {
      case 'crit':
        return this.#enter(event)
      case 'outcome':
        if (this.state === 'issuing' && event.opId === this.#pending?.opId) this.#onOutcome(event)
        return
      case 'rem':
        if (this.state === 'leaving') this.#left()
        return
      case 'ejected':
        if (this.#isInside && event.fence === this.fence) this.#ejected(event.reason, event.pending)
        return
      case 'withdrawn':
        if (this.state === 'trying') this.#withdrawn('gives up')
        return
      case 'refused':
        return this.#refused(event)
    }
  }

  get #isInside(): boolean {
    return this.state === 'inside' || this.state === 'issuing' || this.state === 'leaving'
  }

  #enter({ fence, epoch }: Extract<UserOutput, { readonly type: 'crit' }>): void {
    if (this.state !== 'trying') return
    this.state = 'inside'
    this.fence = fence
    this.#record({ type: 'crit', fence, epoch })
    this.#mark('enter', `is let in with fence ${fence}`)
    if (this.plan === 'stay') return
    this.#later(INSIDE_MS, () => (this.#world.guardsState ? this.operate() : this.leave()))
  }

  #onOutcome({ opId, sequence, result, fence }: Extract<UserOutput, { readonly type: 'outcome' }>): void {
    this.#record({ type: 'outcome', fence, opId, sequence, result })
    this.#mark('outcome', `hears that ${opId} is applied, at place ${sequence} of the log`)
    this.#pending = null
    this.state = 'inside'
    if (this.#endedBy !== null) return this.#ejected(this.#endedBy, undefined)
    if (this.plan !== 'stay') this.#later(INSIDE_MS, () => this.leave())
  }

  #left(): void {
    this.#record({ type: 'rem', fence: this.fence })
    this.#mark('leave', 'has left')
    this.#goAway()
  }

  #withdrawn(why: string): void {
    this.#record({ type: 'withdrawn' })
    this.#mark('withdrawn', why)
    this.#goAway()
  }

  #ejected(reason: EjectionReason, pending: PendingOutcome | undefined): void {
    const { fence } = this
    // A user that is on its way out does not mind how it got there, if the state is what counts.
    if (this.state === 'leaving' && this.#world.guardsState) return this.#left()
    const issued = this.#pending
    if (issued === null) {
      this.#record({ type: 'ejected', fence, reason })
      this.#mark('ejected', `is ejected (${reason})`)
    } else if (pending?.opId === issued.opId) {
      this.#record({ type: 'ejected', fence, reason, pending })
      this.#mark('ejected', `is ejected (${reason}); ${issued.opId}: ${pending.outcome}`)
    } else {
      // The stub has not heard of the operation yet. It will answer, and the user waits for that.
      this.#endedBy = reason
      return
    }
    this.#goAway()
  }

  #refused({ event, refusal }: Extract<UserOutput, { readonly type: 'refused' }>): void {
    if (event === 'try' && this.state === 'trying') return this.#withdrawn(`is refused: ${refusal.code}`)
    if ((event !== 'issue' && event !== 'exit') || !this.#isInside || refusal.code !== 'grant-over') return
    const reason = this.#endedBy ?? refusal.ending?.reason ?? 'expired'
    if (reason === 'released') return this.#left()
    const opId = this.#pending?.opId
    const outcome = refusal.outcome ?? refusal.ending?.pending?.outcome ?? 'unknown'
    this.#ejected(reason, opId === undefined ? undefined : { opId, outcome })
  }

  #record(event: Recorded): void {
    this.#world.record(event, this)
  }

  #mark(glyph: Glyph, what: string): void {
    this.#world.mark(this, glyph, `${this.name} ${what}`)
  }
}
