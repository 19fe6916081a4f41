/**
 * Which participants are quick: the time from sending entries to their acknowledgement, measured by the
 * owner. It is soft state, and a hint: whom it names decides who is asked first, never what is committed.
 */
import { noteUsual } from '../../detector.ts'
import type { ParticipantId } from '../protocol.ts'
import { lengthOf } from './log.ts'
import { majorityOf, peersOf } from './members.ts'
import type { Step } from './step.ts'

/** A new measurement counts for this part of the mean. */
const WEIGHT = 1 / 8
/** An acknowledgement is late if it takes this many times as long as usual. */
const LATE = 3
/** An acknowledgement that has not come after this time does not come any more. */
const LOST_MS = 5_000
/** Those who were asked last remain so, unless another one is quicker by this factor. */
const PREFERENCE = 2

/** Up to where the log was sent to as many as make a majority, if not to all. */
export function mostSent(step: Step): number {
  let most = 0
  for (const peer of peersOf(step)) most = Math.max(most, step.state.soft.sent[peer]!)
  return most
}

/** The peers that make a majority with this participant; all, if not enough are known to be there. */
export function quickest(step: Step): readonly ParticipantId[] {
  const { soft } = step.state
  const needed = majorityOf(step) - 1
  const peers = peersOf(step)
  forgetLate(step)
  const known = peers.filter(peer => soft.roundTrips[peer] !== null)
  if (known.length < needed) return peers
  const rank = (peer: ParticipantId) => soft.roundTrips[peer]! / (soft.quick.includes(peer) ? PREFERENCE : 1)
  soft.quick = known.sort((one, other) => rank(one) - rank(other) || one - other).slice(0, needed)
  return soft.quick
}

/**
 * Entries have left for this peer: the time until it acknowledges the whole log counts. What it should have
 * acknowledged long ago was lost, or the peer was gone; then the time begins anew.
 */
export function noteSent(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  const awaited = soft.awaited[peer]
  if (awaited != null && step.now - awaited.since < LOST_MS) return
  soft.awaited[peer] = { length: lengthOf(durable), since: step.now }
}

/** The peer has acknowledged its log up to `length`. */
export function noteAcknowledged(step: Step, peer: ParticipantId, length: number): void {
  const { soft } = step.state
  const awaited = soft.awaited[peer]
  if (awaited == null || length < awaited.length) return
  const took = Math.max(0, step.now - awaited.since)
  const usual = soft.roundTrips[peer] ?? took
  soft.roundTrips[peer] = usual + (took - usual) * WEIGHT
  noteUsual(soft.detector, peer, soft.roundTrips[peer])
  soft.awaited[peer] = null
}

/** A peer that is late is not known to be quick any more, until it acknowledges something. */
function forgetLate(step: Step): void {
  const { soft } = step.state
  for (const peer of peersOf(step)) {
    const awaited = soft.awaited[peer]
    const usual = soft.roundTrips[peer]
    // The clock counts whole milliseconds.
    if (awaited != null && usual != null && step.now - awaited.since > LATE * (usual + 1))
      forgetRoundTrip(step, peer)
  }
}

export function forgetRoundTrip(step: Step, peer: ParticipantId): void {
  step.state.soft.roundTrips[peer] = null
}
