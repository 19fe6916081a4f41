/**
 * Whether a lock that follows its work (`follow: true`) should move. It does if for some time most of its
 * grants were asked for from a place that has no participant: then the participant that is farthest from
 * there is replaced by one that is there.
 */
import type { ParticipantPlace } from './configuration.ts'
import { distanceBetween } from './geography.ts'

export interface FollowingRules {
  /** Grants count for this long. */
  readonly windowMs: number
  /** Fewer grants than this prove nothing. */
  readonly leastGrants: number
  /** After a change of the participants, whoever asked for it, nothing moves for this long. */
  readonly everyMs: number
}

export const FOLLOWING: FollowingRules = { windowMs: 300_000, leastGrants: 30, everyMs: 900_000 }

/** What a participant knows of the time that counts. */
export interface Work {
  /** By location: how many grants were asked for from there, at this participant. */
  readonly from: ReadonlyMap<string, number>
  /** All grants of the lock, wherever they were asked for. */
  readonly grants: number
}

export interface Move {
  readonly replace: number
  readonly location: string
}

/** Two locations that are nearer than this are one. */
const SAME_KM = 300

export function moveFor(
  { from, grants }: Work,
  places: readonly ParticipantPlace[],
  { leastGrants }: FollowingRules,
): Move | null {
  const [location, count] = [...from].sort(([, left], [, right]) => right - left)[0] ?? ['', 0]
  if (grants < leastGrants || count * 2 <= grants) return null
  const distances = places.map(place => [place, distanceBetween(place.location, location)] as const)
  // One that is anywhere may be there.
  if (distances.some(([, distance]) => distance === null || distance < SAME_KM)) return null
  const [farthest] = distances.reduce((most, one) => (one[1]! > most[1]! ? one : most))
  return { replace: farthest.id, location }
}
