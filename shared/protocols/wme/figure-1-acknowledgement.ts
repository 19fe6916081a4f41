/**
 * Figure 1, WME-1: an operation is acknowledged to all, and every participant counts for itself. Two steps,
 * O(N²) messages.
 */
import { type Acknowledgement, acknowledgementOf } from './acknowledgement.ts'
import { broadcast, send } from './step.ts'

export const distributedAcknowledgement: Acknowledgement = {
  name: 'wme-1',

  acknowledge(step, sender, entries) {
    const { durable, derived } = step.state
    const ack = acknowledgementOf(durable)
    // Everybody waits for operations. A grant alone concerns only the new owner, which wants it confirmed,
    // and the sender, which repeats it until it knows that it arrived.
    if (entries.some(entry => entry.kind === 'operation')) return broadcast(step, ack)
    const { self } = step.context.config
    if (derived.owner !== self) send(step, derived.owner, ack)
    if (sender !== derived.owner && sender !== self) send(step, sender, ack)
  },

  concludes: () => true,

  // All are to have an operation after two steps, and each waits for the ACKs of the others (Q7).
  asksMajorityFirst: () => false,

  owesNews: () => false,

  flush() {},
}
