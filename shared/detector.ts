/**
 * ◇P, the eventually perfect failure detector (section 2 of the paper), as bookkeeping without a clock.
 *
 * A participant that needs a peer asks it for a sign of life and sets a timer of `timeoutOf(peer)`. The
 * peer's answer moves the timer, and when the timer fires the peer is suspected. Completeness: a crashed peer
 * answers nothing, so the timer fires. Accuracy is eventual: each time a suspected peer is heard after all,
 * its timeout grows. So in a system whose delays are bounded, by whatever bound, a peer that is up is wrongly
 * suspected only a limited number of times.
 *
 * Nobody is watched without need, so a lock that nobody waits for costs no heartbeat.
 */
import type { Timing } from './protocols/protocol.ts'

/** Plain JSON. Indexed by participant; index 0 is unused. */
export interface Detector {
  suspected: boolean[]
  timeoutMs: number[]
}

const GROWTH = 1.5

export function createDetector(participants: number, timing: Timing): Detector {
  return {
    suspected: new Array(participants + 1).fill(false),
    timeoutMs: new Array(participants + 1).fill(timing.timeoutMs),
  }
}

export const timeoutOf = (detector: Detector, peer: number): number => detector.timeoutMs[peer]!

export const isSuspected = (detector: Detector, peer: number): boolean => detector.suspected[peer]!

export function suspect(detector: Detector, peer: number): void {
  detector.suspected[peer] = true
}

/**
 * A sign of life. A suspicion that it refutes was a mistake, and makes the detector more patient with this
 * peer.
 */
export function heard(detector: Detector, peer: number, timing: Timing): void {
  if (!detector.suspected[peer]) return
  detector.suspected[peer] = false
  detector.timeoutMs[peer] = Math.min(Math.ceil(detector.timeoutMs[peer]! * GROWTH), timing.timeoutMaxMs)
}
