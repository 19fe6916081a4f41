/**
 * Numbers in the soft state that only say how long to wait, or that are no longer read. All worlds stand
 * still at time 0 and a timer may fire whenever the search allows it, so two states that differ in nothing
 * else behave alike, and are made one:
 *   - `repeatAttempts` and what the detector knows of times are read only to compute intervals, and so is the
 *     time at which the one that is watched is due.
 *   - `leaseUntil` is read only while there are requests.
 *   - `proposeAttempts` beyond 1: `proposeOnceCollected` asks whether it is 0, all else is an interval.
 *   - `idleRepeats` is read to fall silent after some repeats that nobody waits for. Fixed at 0 it never
 *     falls silent: the search has every run of the original and those in which it repeats longer, which loss
 *     and delay may bring about anyhow. (The simulator checks that a lock falls silent.)
 *   - `told` is written by both protocols but read only by `flush` of wme-2 (figure-4-acknowledgement.ts).
 *   - `acknowledged` of a sealed epoch: nothing is concluded, repeated or acknowledged in it any more, and
 *     the next epoch begins with zeros.
 *   - `roundTrips`, `awaited` and `quick` choose who is asked first, and any choice must do. Here nothing
 *     takes time, so those with the smallest numbers are the quickest.
 *   - `invitations`: here an operator waits for ever. `installed` is a set.
 * Ballots, rounds, request numbers and acknowledged lengths are compared with those in messages, and stay as
 * they are.
 */
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { forgetTimes } from './forget-times.ts'

export function normalise(protocol: ProtocolName, { durable, soft }: WmeState): void {
  soft.repeatAttempts = 0
  soft.idleRepeats = 0
  soft.proposeAttempts = Math.min(soft.proposeAttempts, 1)
  forgetTimes(soft.detector)
  if (soft.watch !== null) soft.watch.dueAt = 0
  if (soft.requests.length === 0) soft.leaseUntil = 0
  if (protocol === 'wme-1') soft.told.fill(0)
  soft.roundTrips.fill(0)
  soft.awaited.fill(null)
  soft.quick = []
  if (durable.epoch.sealed) soft.acknowledged.fill(0)
  for (const change of soft.changes) change.invitations = 0
  soft.installed.sort()
}
