/**
 * A lock of three participants that is used all the time, with nothing that fails: messages take their time,
 * and a process stands still for a moment now and then. Whoever is suspected then is suspected wrongly. The
 * protocol is the shipped one. When a process goes on, its timers come before what it has not read yet, as
 * they do in most event loops.
 *
 * In the end the process of the holder can be frozen for good, to see how long the others wait.
 */
import type { AnyEnvelope, AnyProtocol, OpaqueMessage, OpaqueState } from '../../../shared/protocols/all.ts'
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type Input,
  type Timing,
} from '../../../shared/protocols/protocol.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import { EventQueue, type Scheduled } from '../event-queue.ts'
import { Random } from '../random.ts'
import type { Place } from './places.ts'

export interface Setting {
  readonly protocol: AnyProtocol
  readonly place: Place
  readonly seed: number
  /** The participants that have a user. */
  readonly users: readonly number[]
  readonly timing?: Partial<Timing>
}

export interface HourCounts {
  /** How often a participant that was there was suspected. */
  wrongSuspicions: number
  /** Users that lost the lock by it. */
  ejections: number
  grants: number
  pings: number
}

type Kind = 'message' | 'timer' | 'user' | 'pause'
type Due = Scheduled<Kind, unknown>

interface Seat {
  readonly context: Context
  readonly state: OpaqueState
  readonly timers: Map<string, number>
  suspects: readonly number[]
  pausedUntil: number
  /** The fence of the user that is inside. */
  fence: number | null
}

const PARTICIPANTS = 3
const HOLD_MIN_MS = 200
const HOLD_MAX_MS = 3_000
const AWAY_MAX_MS = 200
const TTL_MS = 600_000

export class Hour {
  now = 0
  readonly counts: HourCounts = { wrongSuspicions: 0, ejections: 0, grants: 0, pings: 0 }
  private readonly queue = new EventQueue<Due>()
  private readonly random: Random
  private readonly setting: Setting
  private readonly seats: Seat[] = []
  private orders = 0

  constructor(setting: Setting) {
    this.setting = setting
    this.random = new Random(setting.seed, 1)
    const { protocol } = setting
    for (let self = 1; self <= PARTICIPANTS; self++) {
      const config = {
        ...{ self, participants: PARTICIPANTS, configuration: 1, localHandoffs: 1 },
        timing: { ...DEFAULT_TIMING, ...setting.timing },
        limits: DEFAULT_LIMITS,
      }
      const context = { config, resource: keyValue }
      const state = protocol.recover(context, [])
      const timers = new Map<string, number>()
      this.seats.push({ context, state, timers, suspects: [], pausedUntil: 0, fence: null })
    }
    for (let self = 1; self <= PARTICIPANTS; self++) {
      this.step(self, { type: 'start', now: this.clock, genesis: true, incarnation: self })
      if (setting.users.includes(self)) this.comeBack(self)
      this.planPause(self)
    }
  }

  private get clock(): number {
    return Math.floor(this.now)
  }

  private seat(participant: number): Seat {
    return this.seats[participant - 1]!
  }

  private after(delayMs: number, kind: Kind, target: number, source: number, payload: unknown): void {
    this.queue.push({ at: this.now + delayMs, order: ++this.orders, kind, target, source, payload })
  }

  runFor(durationMs: number): void {
    this.runUntil(this.now + durationMs)
  }

  /** Until then, or until it is enough. */
  private runUntil(end: number, isEnough: () => boolean = () => false): void {
    while (!isEnough()) {
      const next = this.queue.peek()
      if (next === undefined || next.at > end) break
      this.queue.pop()
      this.now = next.at
      this.happen(next)
    }
    if (!isEnough()) this.now = end
  }

  private happen(due: Due): void {
    const { kind, target, source, payload } = due
    const { pausedUntil, timers } = this.seat(target)
    // A frozen process never goes on.
    if (pausedUntil === Number.POSITIVE_INFINITY) return
    if (kind !== 'pause' && pausedUntil > this.now) return this.queue.push({ ...due, at: pausedUntil })
    switch (kind) {
      case 'pause':
        this.seat(target).pausedUntil = this.now + this.setting.place.pauseMaxMs * this.random.fraction()
        return this.planPause(target)
      case 'timer': {
        const timer = payload as string
        if (timers.get(timer) !== source) return
        timers.delete(timer)
        return this.step(target, { type: 'timer', now: this.clock, timer })
      }
      case 'message':
        return this.step(target, {
          type: 'message',
          now: this.clock,
          from: source,
          message: payload as AnyEnvelope,
        })
      case 'user':
        return this.step(target, { type: 'user', now: this.clock, event: payload as never })
    }
  }

  private planPause(participant: number): void {
    this.after(this.random.exponential(this.setting.place.pauseEveryMs), 'pause', participant, 0, null)
  }

  // ---------------------------------------------------------------- steps

  private step(participant: number, input: Input<OpaqueMessage>): void {
    const { protocol } = this.setting
    const seat = this.seat(participant)
    for (const effect of protocol.step(seat.context, seat.state, input)) this.perform(participant, effect)
    const { suspects } = protocol.view(seat.context, seat.state)
    for (const peer of suspects) {
      const isFrozen = this.seat(peer).pausedUntil === Number.POSITIVE_INFINITY
      if (!seat.suspects.includes(peer) && !isFrozen) this.counts.wrongSuspicions++
    }
    seat.suspects = suspects
  }

  private perform(participant: number, effect: Effect<OpaqueMessage>): void {
    const { timers } = this.seat(participant)
    switch (effect.type) {
      case 'send':
        return this.send(participant, effect.to, effect.message)
      case 'set-timer': {
        const number = this.orders + 1
        timers.set(effect.timer, number)
        return this.after(effect.afterMs, 'timer', participant, number, effect.timer)
      }
      case 'cancel-timer':
        timers.delete(effect.timer)
        return
      case 'emit':
        return this.told(participant, effect.event)
    }
  }

  private send(from: number, to: number, message: AnyEnvelope): void {
    const { place } = this.setting
    if ((message.body as { type?: string }).type === 'ping') this.counts.pings++
    if (this.random.chance(place.loss)) return
    this.after(place.delayMs(this.random, from, to), 'message', to, from, message)
  }

  private told(participant: number, event: Emitted): void {
    const seat = this.seat(participant)
    if (event.type === 'crit') {
      this.counts.grants++
      seat.fence = event.fence
      const { user, fence } = event
      const holdMs = this.random.between(HOLD_MIN_MS, HOLD_MAX_MS)
      this.after(holdMs, 'user', participant, 0, { type: 'exit', user, fence })
    }
    if (event.type !== 'rem' && event.type !== 'ejected') return
    if (event.type === 'ejected') this.counts.ejections++
    seat.fence = null
    this.comeBack(participant)
  }

  private comeBack(participant: number, afterMs = this.random.between(1, AWAY_MAX_MS)): void {
    const user = `user of ${participant}`
    this.after(afterMs, 'user', participant, 0, { type: 'try', user, ttlMs: TTL_MS })
  }

  // ---------------------------------------------------------------- freezing

  /**
   * Freezes the process of the holder, and returns the time until the next grant: to whoever waits already,
   * or to a user of this participant, which asks at that moment.
   */
  freezeHolder(asksThen: number | null = null, limitMs = 600_000): number {
    const isHeld = () => this.seats.some(({ fence }) => fence !== null)
    this.runUntil(this.now + limitMs, isHeld)
    const holder = this.seats.find(({ fence }) => fence !== null)!
    const frozenAt = this.now
    const { grants } = this.counts
    holder.pausedUntil = Number.POSITIVE_INFINITY
    if (asksThen !== null) this.comeBack(asksThen, 0)
    this.runUntil(this.now + limitMs, () => this.counts.grants > grants)
    return this.now - frozenAt
  }
}
