/**
 * What Figure 4 changes in Figure 1, and nothing else: who receives an acknowledgement (L14), and how the
 * others learn that an operation is committed (L15). `wme-1` is in figure-1-acknowledgement.ts, `wme-2` in
 * figure-4-acknowledgement.ts.
 */
import type { ParticipantId, WmeName } from '../protocol.ts'
import { digestThrough, lengthOf } from './log.ts'
import type { InvokeAckMessage } from './messages.ts'
import type { Durable, Entry } from './state.ts'
import type { Step } from './step.ts'

export interface Acknowledgement {
  readonly name: WmeName
  /** Sends the ACK for what the log holds now. `sender` is the participant that sent the new `entries`. */
  acknowledge(step: Step, sender: ParticipantId, entries: readonly Entry[]): void
  /** Whether this participant may conclude from acknowledgements what is committed. */
  concludes(step: Step): boolean
  /** Whether an operation goes to the quickest majority first, and to the rest later. */
  asksMajorityFirst(step: Step): boolean
  /** Whether others wait for the news that an operation is committed. */
  owesNews(step: Step): boolean
  /** Nothing came along that the news could ride on. */
  flush(step: Step): void
}

/** ACK: the log as it is here. It is durable before anything is sent. */
export function acknowledgementOf(durable: Durable): InvokeAckMessage {
  const length = lengthOf(durable)
  return {
    type: 'invoke-ack',
    epoch: durable.epoch.epoch,
    length,
    digest: digestThrough(durable, length),
  }
}
