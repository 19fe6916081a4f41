/** Figure 1, WME-1: an operation is acknowledged to all, and everybody counts for itself: two steps, O(N²) messages. */
import { type Acknowledgement, acknowledgementOf } from './acknowledgement.ts'
import { broadcast, send } from './step.ts'

export const distributedAcknowledgement: Acknowledgement = {
  name: 'wme-1',

  acknowledge(step, sender, entries) {
    const { durable, derived } = step.state
    const ack = acknowledgementOf(durable)
    // Only operations are waited for by all. A grant alone concerns the new owner, who wants it confirmed, and the
    // sender, who repeats it until it knows that it arrived.
    if (entries.some(entry => entry.kind === 'operation')) return broadcast(step, ack)
    const { self } = step.context.config
    if (derived.owner !== self) send(step, derived.owner, ack)
    if (sender !== derived.owner && sender !== self) send(step, sender, ack)
  },

  concludes: () => true,

  committedHere() {},

  flush() {},
}
