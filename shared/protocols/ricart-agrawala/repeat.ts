/**
 * The paper's channels lose nothing. Ours do, so whatever has not had its effect is said again, with backoff.
 * The timer is set exactly while something is unanswered, so that a lock that nobody waits for falls silent.
 */
import { hasEjections, repeatEjections } from '../lock-only/operators.ts'
import type { ParticipantId } from '../protocol.ts'
import { countRepeat, keepRepeating } from '../retransmission.ts'
import { awaitedBySponsor, loseNewcomer, sendChange } from './group-change.ts'
import { awaitedToSpeak } from './section-6-1-implicit-reply.ts'
import { isAsking, sendJoin } from './section-7-2-insertion.ts'
import { askWhetherThere, noteAsked, watchSilent } from './section-7-4-failures.ts'
import type { Step } from './step.ts'

export function armRepeatTimer(step: Step): void {
  watchSilent(step, awaitedPeers(step))
  const isWanted = isUnanswered(step)
  if (!isWanted) step.state.soft.repeatAttempts = 0
  keepRepeating(step, isWanted)
}

const awaitedPeers = (step: Step): ParticipantId[] => [...awaitedToSpeak(step), ...awaitedBySponsor(step)]

function isUnanswered(step: Step): boolean {
  if (isAsking(step)) return true
  return awaitedPeers(step).length > 0 || hasEjections(step)
}

export function onRepeatTimer(step: Step): void {
  countRepeat(step)
  loseNewcomer(step)
  repeatAll(step)
}

/** Also called after a restart, when the node does not know what was sent. */
export function repeatAll(step: Step): void {
  sendJoin(step)
  askWhetherThere(step, awaitedToSpeak(step))
  sendChange(step)
  noteAsked(step, awaitedPeers(step))
  repeatEjections(step)
}
