/**
 * Which peer a participant that is behind asks for what it misses: one at a time, and one that has just shown
 * that it has more. A peer that does not answer until the next repeat is passed over as long as others speak:
 * it may speak before all of them, and hear nothing.
 */
import type { ParticipantId } from './protocol.ts'
import { type Incoming, isComing } from './snapshots.ts'

export interface Asking {
  /** The peer that was asked, until it answers or the repeat timer fires. */
  asking: ParticipantId | null
  /** The peers that were asked before, one after the other, and did not answer. */
  unanswered: ParticipantId[]
  incoming: Incoming | null
}

export const NOBODY_ASKED = { asking: null, unanswered: [] }

export function mayAsk({ asking, unanswered, incoming }: Asking, peer: ParticipantId): boolean {
  return asking === null && !unanswered.includes(peer) && !isComing(incoming)
}

export const isAsking = ({ asking, unanswered }: Asking): boolean => asking !== null || unanswered.length > 0

/** An answer has come, or none is wanted any more. */
export function endAsking(soft: Asking): void {
  soft.asking = null
  soft.unanswered = []
}

/**
 * Called at each repeat. If nobody was asked since the last one, only peers that had been passed over have
 * spoken.
 */
export function passOver(soft: Asking): void {
  const { asking, unanswered, incoming } = soft
  // The sender of a snapshot answers with an offer, which is not taken while its pages may still come.
  const isSender = asking !== null && asking === incoming?.from
  soft.unanswered = asking === null ? [] : isSender ? unanswered : [...unanswered, asking]
  soft.asking = null
}
