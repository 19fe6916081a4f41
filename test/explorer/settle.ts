/**
 * Progress: from every quiet world, if nothing more goes wrong, all users come through. This is tried by one fair run: who is down
 * comes back, messages are delivered, users go in and out as soon as they can, and when nothing else is left to do, the
 * `repeat` and `propose` timers fire in turn. Nobody suspects anybody.
 *
 * That one fair run succeeds does not prove that all do, but a world from which nothing leads on is found.
 */
import type { Findings } from './findings.ts'
import { Fingerprinter } from './fingerprint.ts'
import { FIRST_MESSAGE, inputOfAction, inputOfTimer, RECOVER } from './seats.ts'
import { FingerprintSet } from './tables.ts'
import { describeStep } from './trace.ts'
import { NORMAL, type Worlds } from './worlds.ts'

const MOST_STEPS = 2_000
const MOST_TOLD = 60

const URGENT: readonly number[] = [RECOVER, inputOfTimer('flush')]
const USER: readonly number[] = [inputOfAction('repeat'), inputOfAction('exit'), inputOfAction('try')]
const TIMERS: readonly number[] = [inputOfTimer('repeat'), inputOfTimer('propose')]

export class Settler {
  /** Worlds that were tried. */
  count = 0
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

  /** Tries it from this quiet world. What is found on the way to success need not be tried again. */
  settle(start: Int32Array): void {
    const { worlds, findings, fingerprint } = this
    const world = start.slice()
    const run: number[] = []
    const lastFired = new Map<number, number>()
    for (let count = 0; count < MOST_STEPS && !this.areUsersThrough(world); count++) {
      worlds.expandFreely(world)
      if (worlds.isQuiet) {
        fingerprint.compute(world, 0)
        const known = this.settled.add(fingerprint.high, fingerprint.low)
        // A quiet world that was met before, not in this very run, leads on: it was tried then.
        if (known !== 0 && count === 0) return
        if (count === 0) this.count++
      }
      const ordinal = findings.violation === null ? this.choose(lastFired, count) : worlds.count - 1
      if (ordinal === -1) break
      run.push(...worlds.steps.subarray(3 * ordinal, 3 * ordinal + 3))
      if (findings.violation !== null) return this.describe(run)
      world.set(worlds.successors.subarray(ordinal * worlds.width, (ordinal + 1) * worlds.width))
    }
    if (this.areUsersThrough(world)) return
    findings.violate('from every quiet world all users come through', this.describeUsers(world))
    this.describe(run)
  }

  private describe(run: readonly number[]): void {
    const steps: string[] = []
    for (let at = 0; at < Math.min(run.length, 3 * MOST_TOLD); at += 3) {
      steps.push(describeStep(this.worlds, run[at]!, run[at + 1]!, run[at + 2]!))
    }
    this.trace = ['then, without a fault:', ...steps, `(${run.length / 3} steps)`]
  }

  private areUsersThrough(world: Int32Array): boolean {
    for (let index = 0; index < this.worlds.participants; index++) {
      const { user } = this.worlds.seats.seats[world[index]!]!
      if (user !== null && (user.phase !== 'out' || user.triesLeft > 0)) return false
    }
    return true
  }

  private describeUsers(world: Int32Array): string {
    const users = [...world.subarray(0, this.worlds.participants)].map(
      seat => this.worlds.seats.seats[seat]!.user,
    )
    return users.map(user => (user === null ? '' : `${user.name} is ${user.phase}`)).join(' ')
  }

  /** The successor to go on with. */
  private choose(lastFired: Map<number, number>, now: number): number {
    const { count, steps } = this.worlds
    let best = -1
    let bestRank = Number.POSITIVE_INFINITY
    for (let ordinal = 0; ordinal < count; ordinal++) {
      if (steps[3 * ordinal + 2] !== NORMAL) continue
      const key = steps[3 * ordinal]! * 64 + steps[3 * ordinal + 1]!
      const rank = this.rankOf(steps[3 * ordinal + 1]!, lastFired.get(key) ?? -1)
      if (rank < bestRank) {
        best = ordinal
        bestRank = rank
      }
    }
    if (best !== -1 && TIMERS.includes(steps[3 * best + 1]!)) {
      lastFired.set(steps[3 * best]! * 64 + steps[3 * best + 1]!, now)
    }
    return best
  }

  private rankOf(input: number, lastFired: number): number {
    if (input >= FIRST_MESSAGE || URGENT.includes(input)) return 0
    if (USER.includes(input)) return 1
    if (TIMERS.includes(input)) return 2 + (lastFired + 1) / (2 * MOST_STEPS)
    return Number.POSITIVE_INFINITY
  }
}
