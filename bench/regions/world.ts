/**
 * Virtual time and the network of a run. Nothing is lost: this measures distance. What happens when something
 * is lost, the simulator in test/simulator/ finds out.
 */
import { EventQueue, type Scheduled } from '../../test/simulator/event-queue.ts'
import { Random } from '../../test/simulator/random.ts'
import { type Place, roundTripMs } from './places.ts'

export interface Conditions {
  readonly seed: number
  /** The round trip within one place: from a Worker to an object beside it. */
  readonly nearMs: number
  /**
   * Until a write counts. An object's write counts when followers in other data centres nearby have it, and
   * a server's when its disk has it; here all have the same.
   */
  readonly diskMs: number
  /**
   * How much quicker than the listed time the quickest message is: 0.1 is ten percent. The listed times are
   * 95th percentiles, so one message in twenty takes longer.
   */
  readonly spread: number
}

export const DEFAULT_CONDITIONS: Conditions = { seed: 1, nearMs: 2, diskMs: 5, spread: 0.1 }

/** The share of messages that take no longer than the listed time. */
const LISTED_PERCENTILE = 0.95

export class World {
  now = 0
  readonly conditions: Conditions
  private readonly queue = new EventQueue<Scheduled<'run', () => void>>()
  private readonly delays: Random
  private order = 0

  constructor(conditions: Conditions) {
    this.conditions = conditions
    this.delays = new Random(conditions.seed, 0)
  }

  at(time: number, run: () => void): void {
    this.queue.push({ at: time, order: this.order++, kind: 'run', target: 0, source: 0, payload: run })
  }

  /** Something travels one way. It leaves at `leavesAt`, which is now or later. */
  travel(from: Place, to: Place, leavesAt: number, arrive: () => void): void {
    this.at(leavesAt + this.oneWayMs(from, to), arrive)
  }

  oneWayMs(from: Place, to: Place): number {
    const { nearMs, spread } = this.conditions
    const share = 1 - spread + (this.delays.fraction() * spread) / LISTED_PERCENTILE
    return (roundTripMs(from, to, nearMs) / 2) * share
  }

  /** Until `isOver`, or until nothing is left to happen. */
  run(isOver: () => boolean): void {
    while (!isOver()) {
      const next = this.queue.pop()
      if (next === undefined) return
      this.now = next.at
      next.payload()
    }
  }
}

/**
 * Writes of one machine. They go on in parallel, but nothing leaves before what was written earlier counts:
 * the output gate of a Durable Object.
 */
export class Disk {
  private readonly world: World
  private durableAt = 0

  constructor(world: World) {
    this.world = world
  }

  /** When what is sent now may leave. */
  leavesAt(writes: boolean): number {
    const { now, conditions } = this.world
    if (writes) this.durableAt = now + conditions.diskMs
    return Math.max(now, this.durableAt)
  }
}
