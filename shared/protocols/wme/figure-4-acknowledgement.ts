/**
 * Figure 4, WME-2: an operation is acknowledged to the owner alone, which then tells all to invoke it
 * (DOINVOKE). Three steps, O(N) messages. The DOINVOKE rides on the next entry and leaves alone only when
 * nothing else does (traps C7, C8: it is cumulative, so neither a second one nor a late one does harm).
 */
import { type Acknowledgement, acknowledgementOf } from './acknowledgement.ts'
import { digestThrough, entryAt } from './log.ts'
import { leastSent } from './replicate.ts'
import { broadcast, type Step, send, setTimer } from './step.ts'

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

  committedHere(step) {
    const { soft } = step.state
    if (owesDoInvoke(step) && !soft.timers.flush) setTimer(step, 'flush', step.context.config.timing.flushMs)
  },

  flush(step) {
    const { soft, durable } = step.state
    if (!owesDoInvoke(step)) return
    soft.told = soft.committed
    const { committed } = soft
    const digest = digestThrough(durable, committed)
    broadcast(step, { type: 'do-invoke', epoch: durable.epoch.epoch, committed, digest })
  },
}

/**
 * An operation is committed, and the others do not know it yet: any entry behind it that was sent would have
 * told them (A5).
 */
function owesDoInvoke(step: Step): boolean {
  const { durable, derived, soft } = step.state
  const { self, participants } = step.context.config
  if (derived.owner !== self || durable.epoch.sealed || participants === 1) return false
  const untold = Math.max(soft.told, leastSent(step) - 1, durable.base.sequence)
  for (let at = soft.committed; at > untold; at--) if (entryAt(durable, at)!.kind === 'operation') return true
  return false
}
