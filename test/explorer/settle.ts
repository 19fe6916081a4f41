/**
 * Progress: from every quiet world, if nothing more goes wrong, all users get through, and an operator that
 * has asked for other members is answered. This is tried by one fair run: participants that are down come
 * back, messages are delivered, users go in and out as soon as they can, and when nothing else is left to do,
 * the timers fire in turn. Nobody suspects anybody.
 *
 * The run ends when all are through; when it meets a quiet world from which an earlier run got through; or
 * when it comes to a world for the second time with the same timers next in turn. Then it would go around in
 * a cycle forever, and that is a violation. There is no limit to its length but the time of the search. That
 * one fair run succeeds does not prove that all do, but a world from which nothing leads on is found.
 */
import type { Findings } from './findings.ts'
import { Fingerprinter } from './fingerprint.ts'
import { FIRST_MESSAGE, inputOfAction, inputOfTimer, RECOVER } from './seats.ts'
import { FingerprintSet } from './tables.ts'
import { describeStep } from './trace.ts'
import { NORMAL, type Worlds } from './worlds.ts'

const MAX_TOLD = 60
/** A step is three numbers of the run. */
const LOOK_AT_CLOCK_EVERY = 3 * 4_096

const URGENT: readonly number[] = [RECOVER, inputOfTimer('flush'), inputOfTimer('spread')]
const USER: readonly number[] = [inputOfAction('repeat'), inputOfAction('exit'), inputOfAction('try')]
const TIMERS: readonly number[] = (['repeat', 'members', 'propose'] as const).map(inputOfTimer)

export class Settler {
  /** Worlds that were tried. */
  count = 0
  /** The time was over before a run had come to its end, so the run says nothing. */
  isTimeOver = false
  /** The run that did not succeed. */
  trace: readonly string[] = []
  private readonly worlds: Worlds
  private readonly findings: Findings
  private readonly settled = new FingerprintSet()
  private readonly fingerprint: Fingerprinter

  constructor(worlds: Worlds, findings: Findings) {
    this.worlds = worlds
    this.findings = findings
    this.fingerprint = new Fingerprinter(worlds)
  }

  /** Tries a run from this quiet world. Worlds met on the way to success need not be tried again. */
  settle(start: Int32Array, isTimeOver: () => boolean): void {
    const { worlds, findings } = this
    const world = start.slice()
    const run: number[] = []
    const turns = new Turns()
    const met = new Set<string>()
    const quiet: [number, number][] = []
    if (this.areAllThrough(world) || this.isSettled(world)) return
    this.count++
    while (!this.areAllThrough(world)) {
      if (run.length % LOOK_AT_CLOCK_EVERY === LOOK_AT_CLOCK_EVERY - 3 && isTimeOver()) {
        this.isTimeOver = true
        return
      }
      worlds.expandFreely(world)
      if (worlds.isQuiet && run.length > 0 && this.isSettled(world)) break
      const { high, low } = this.fingerprintOf(world)
      if (worlds.isQuiet) quiet.push([high, low])
      const place = `${high} ${low} ${turns.order}`
      const ordinal =
        findings.violation !== null ? worlds.count - 1 : met.has(place) ? -1 : this.choose(turns)
      met.add(place)
      if (ordinal === -1) {
        findings.violate('from every quiet world all users come through', this.describeUsers(world))
        return this.describe(run)
      }
      run.push(...worlds.steps.subarray(3 * ordinal, 3 * ordinal + 3))
      if (findings.violation !== null) return this.describe(run)
      world.set(worlds.successors.subarray(ordinal * worlds.width, (ordinal + 1) * worlds.width))
    }
    for (const [high, low] of quiet) this.settled.add(high, low)
  }

  private isSettled(world: Int32Array): boolean {
    const { high, low } = this.fingerprintOf(world)
    return this.settled.has(high, low)
  }

  private fingerprintOf(world: Int32Array): { readonly high: number; readonly low: number } {
    this.fingerprint.compute(world, 0)
    const { high, low } = this.fingerprint
    return { high, low }
  }

  private describe(run: readonly number[]): void {
    const steps: string[] = []
    for (let at = 0; at < Math.min(run.length, 3 * MAX_TOLD); at += 3) {
      steps.push(describeStep(this.worlds, run[at]!, run[at + 1]!, run[at + 2]!))
    }
    this.trace = ['then, without a fault:', ...steps, `(${run.length / 3} steps)`]
  }

  private areAllThrough(world: Int32Array): boolean {
    for (let index = 0; index < this.worlds.participants; index++) {
      const { user } = this.worlds.seats.seats[world[index]!]!
      if (user !== null && (user.phase !== 'out' || user.triesLeft > 0)) return false
      if (this.worlds.menuOf(world[index]!).isChanging) return false
    }
    return true
  }

  private describeUsers(world: Int32Array): string {
    const seats = [...world.subarray(0, this.worlds.participants)]
    const waits = seats.map(seat => {
      const { participant, user } = this.worlds.seats.seats[seat]!
      if (user !== null) return `${user.name} is ${user.phase}`
      return this.worlds.menuOf(seat).isChanging ? `an operator waits at ${participant}` : ''
    })
    return waits.join(' ')
  }

  /** The successor to go on with; -1: there is none. */
  private choose(turns: Turns): number {
    const { count, steps } = this.worlds
    let best = -1
    let bestRank = Number.POSITIVE_INFINITY
    for (let ordinal = 0; ordinal < count; ordinal++) {
      if (steps[3 * ordinal + 2] !== NORMAL) continue
      const rank = rankOf(turns, steps[3 * ordinal]!, steps[3 * ordinal + 1]!)
      if (rank >= bestRank) continue
      best = ordinal
      bestRank = rank
    }
    if (bestRank >= 2 && best !== -1) turns.take(steps[3 * best]!, steps[3 * best + 1]!)
    return best
  }
}

/** Messages first, then users, then timers: the timer that has waited longest for its turn comes first. */
function rankOf(turns: Turns, participant: number, input: number): number {
  if (input >= FIRST_MESSAGE || URGENT.includes(input)) return 0
  if (USER.includes(input)) return 1
  return TIMERS.includes(input) ? 2 + turns.placeOf(participant, input) : Number.POSITIVE_INFINITY
}

/** The order in which the timers have last fired: a timer that has not fired yet comes first. */
class Turns {
  private fired: string[] = []

  get order(): string {
    return this.fired.join()
  }

  placeOf(participant: number, timer: number): number {
    return this.fired.indexOf(`${participant}:${timer}`) + 1
  }

  take(participant: number, timer: number): void {
    const name = `${participant}:${timer}`
    this.fired = [...this.fired.filter(other => other !== name), name]
  }
}
