/**
 * What a failure detector knows of times is read only to compute the interval of a timer, or to tell a time
 * that has passed, and in all worlds of a search time stands still. So states that differ in nothing else
 * behave alike, and are made one.
 */
import type { Detector } from '../../shared/detector.ts'

export function forgetTimes(detector: Detector): void {
  for (const peer of detector) {
    if (peer.suspected !== null) peer.suspected = 'late'
    peer.mistakes = 0
    peer.roundTrip = null
    peer.answeredAt = null
    peer.heardAt = null
    peer.awakeSince = null
    peer.asked = []
  }
}
