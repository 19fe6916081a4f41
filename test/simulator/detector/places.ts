/** Where the participants are: how long messages take, and how long a process that is well stands still. */
import type { Random } from '../random.ts'

export interface Place {
  readonly name: string
  /** The time of one message from one participant to another. */
  delayMs(random: Random, from: number, to: number): number
  readonly loss: number
  /** Each process stands still for a moment once in this time on average, for up to so long. */
  readonly pauseEveryMs: number
  readonly pauseMaxMs: number
}

/** Half of a round trip between the participants of a lock on three continents. */
const FAR_MS = [
  [0, 45, 75],
  [45, 0, 110],
  [75, 110, 0],
] as const

const near = (random: Random): number => 0.5 + 2.5 * random.fraction()

/** Now and then a message takes much longer than the others. */
function far(random: Random, from: number, to: number): number {
  const usual = FAR_MS[(from - 1) % 3]![(to - 1) % 3]! + random.exponential(4)
  return random.chance(0.02) ? usual + 300 * random.fraction() : usual
}

/** A process that is well stands still for less than 200 ms. On a busy machine it may be twice as long. */
const place = (name: string, delayMs: Place['delayMs'], loss: number, pauseMaxMs: number): Place => ({
  ...{ name, delayMs, loss, pauseMaxMs },
  pauseEveryMs: 5_000,
})

export const PLACES: readonly Place[] = [
  place('one machine', near, 0, 200),
  place('one busy machine', near, 0, 400),
  place('three continents', far, 0, 200),
  place('three continents, busy', far, 0, 400),
  place('three continents, 1 % lost', far, 0.01, 200),
]
