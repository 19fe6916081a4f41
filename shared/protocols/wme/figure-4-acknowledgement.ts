/**
 * Figure 4, WME-2: an operation is acknowledged to the owner alone, which then tells all to invoke it
 * (DOINVOKE). Three steps, O(N) messages. The DOINVOKE rides on the next entry and leaves alone only when
 * nothing else does (traps C7, C8: it is cumulative, so neither a second one nor a late one does harm).
 */
import type { ParticipantId } from '../protocol.ts'
import { type Acknowledgement, acknowledgementOf } from './acknowledgement.ts'
import { digestThrough, entryAt } from './log.ts'
import { peersOf } from './members.ts'
import { mostSent } from './round-trips.ts'
import { type Step, send } from './step.ts'

export const centralisedAcknowledgement: Acknowledgement = {
  name: 'wme-2',

  acknowledge(step, sender) {
    const { durable, derived } = step.state
    const { self } = step.context.config
    const ack = acknowledgementOf(durable)
    if (derived.owner !== self) send(step, derived.owner, ack)
    // A granter that is no longer the owner repeats the grant until it knows that it arrived.
    if (sender !== derived.owner && sender !== self) send(step, sender, ack)
  },

  concludes: step => step.state.derived.owner === step.context.config.self,

  asksMajorityFirst: step => step.context.config.options?.majorityFirst ?? true,

  owesNews: step => peersOf(step).some(peer => owesDoInvoke(step, peer)),

  flush(step) {
    const { soft, durable } = step.state
    const { committed } = soft
    for (const peer of peersOf(step)) {
      if (!owesDoInvoke(step, peer)) continue
      soft.told[peer] = committed
      const digest = digestThrough(durable, committed)
      send(step, peer, { type: 'do-invoke', epoch: durable.epoch.epoch, committed, digest })
    }
  },
}

/**
 * The last that this peer was sent is an operation, which is committed, and it does not know that yet. Any
 * entry behind the operation would tell it (A5), and one that lags gets the news with what it lacks (Q4).
 */
function owesDoInvoke(step: Step, peer: ParticipantId): boolean {
  const { durable, derived, soft } = step.state
  if (derived.owner !== step.context.config.self || durable.epoch.sealed) return false
  const last = soft.sent[peer]!
  if (last < mostSent(step)) return false
  return soft.told[peer]! < last && last <= soft.committed && entryAt(durable, last)?.kind === 'operation'
}
