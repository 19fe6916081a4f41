/**
 * Some time in which nobody fails: the detector is wrong a few times and then no more. And a freeze is short.
 */
import { describe, expect, it } from 'vitest'
import { protocolNamed } from '../../../shared/protocols/all.ts'
import { DEFAULT_TIMING } from '../../../shared/protocols/protocol.ts'
import { Hour } from '../../simulator/detector/hour.ts'
import { PLACES, type Place } from '../../simulator/detector/places.ts'

const HALF_AN_HOUR_MS = 1_800_000
const placeNamed = (name: string): Place => PLACES.find(place => place.name === name)!
/** Each of three participants may be wrong about each other one. */
const PAIRS = 6

// What wme-1 and wme-2 differ in does not concern the detector.
describe.each(['wme-2', 'wme-consensus'] as const)('%s', name => {
  const protocol = protocolNamed(name)
  const createHour = (place: string, users: readonly number[], seed = 1) =>
    new Hour({ protocol, place: placeNamed(place), seed, users })

  it('suspects almost nobody wrongly where pauses are shorter than the least time-out', () => {
    for (const place of ['one machine', 'three continents']) {
      const hour = createHour(place, [1, 2, 3])
      hour.runFor(HALF_AN_HOUR_MS)
      expect(hour.counts.grants).toBeGreaterThan(500)
      expect(hour.counts.wrongSuspicions).toBeLessThanOrEqual(1)
      expect(hour.counts.ejections).toBe(0)
    }
  })

  it('where they are longer it is wrong a limited number of times, as often as T1 allows', () => {
    const hour = createHour('one busy machine', [1, 2, 3])
    hour.runFor(3 * HALF_AN_HOUR_MS)
    // Two pauses may follow each other: one of the peer, and one of the participant that asks.
    const longestMs = 2 * placeNamed('one busy machine').pauseMaxMs
    const each = Math.ceil(Math.log(longestMs / DEFAULT_TIMING.timeoutMinMs) / Math.log(1.5))
    expect(hour.counts.wrongSuspicions).toBeGreaterThan(0)
    expect(hour.counts.wrongSuspicions).toBeLessThanOrEqual(PAIRS * each)
  })

  it('leaves a frozen holder behind sooner than the configured time-out, though nobody else waits', () => {
    const times = Array.from({ length: 15 }, (_, index) => {
      const hour = createHour('one machine', [1, 2], index + 1)
      hour.runFor(20_000)
      return hour.freezeHolder()
    }).sort((one, other) => one - other)
    // One time-out until the next ping, one for its answer; pauses and the decision take the rest.
    expect(times[7]).toBeLessThan(3 * DEFAULT_TIMING.timeoutMinMs)
    expect(times[14]).toBeLessThan(DEFAULT_TIMING.timeoutMs)
  })

  it('and if somebody asks only after the freeze, at a participant that never had the lock', () => {
    const times = Array.from({ length: 15 }, (_, index) => {
      const hour = createHour('one machine', [1], index + 1)
      hour.runFor(20_000)
      return hour.freezeHolder(2)
    }).sort((one, other) => one - other)
    // Half of the least time-out until the first ping, and a quarter of the configured one for its answer.
    expect(times[7]).toBeLessThan(3 * DEFAULT_TIMING.timeoutMinMs)
    expect(times[14]).toBeLessThan(DEFAULT_TIMING.timeoutMs)
  })
})
