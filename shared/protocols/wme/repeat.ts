/**
 * What is unanswered, and therefore repeated (L25; traps C1-C4; ../retransmission.ts). Only what somebody
 * waits for is repeated forever; the rest is repeated `idleRepeats` times.
 */
import { isAsking, passOver } from '../asking.ts'
import type { ParticipantId } from '../protocol.ts'
import { countRepeat, keepRepeating } from '../retransmission.ts'
import { owesHandover } from './handover.ts'
import { isCalling } from './learner.ts'
import { lengthOf, sendEntries } from './log.ts'
import type { Step } from './step.ts'

export { restartRepeats } from '../retransmission.ts'

export const armRepeatTimer = (step: Step): void => keepRepeating(step, isUnanswered(step))

function isUnanswered(step: Step): boolean {
  const { durable, derived, soft } = step.state
  if (soft.changes.length > 0 || soft.proposed !== null || owesHandover(step)) return true
  if (durable.membership.status === 'removed') return false
  if (durable.membership.status === 'joining' && isCalling(step)) return true
  if (durable.epoch.sealed) return true
  if (durable.stub.phase === 'requesting' && derived.owner !== step.context.config.self) return true
  if (soft.preVote !== null || soft.ejects.length > 0 || soft.reads.length > 0) return true
  if (isAsking(soft) || soft.incoming !== null) return true
  return mayRepeatEntries(step) && laggards(step).length > 0
}

/** What is repeated depends on the phase: see `onRepeatTimer` in wme.ts. */
export function beginRepeat(step: Step): void {
  countRepeat(step)
  passOver(step.state.soft)
}

// ---------------------------------------------------------------- the log

/**
 * The participants that are not known to hold what was sent to them, as far as it is this participant's
 * business.
 */
function laggards(step: Step): ParticipantId[] {
  const { durable, derived, soft } = step.state
  const { self } = step.context.config
  const isBehind = (peer: ParticipantId) => peer !== self && soft.acknowledged[peer]! < soft.sent[peer]!
  if (derived.owner !== self) {
    // The participant that gave the token away makes sure that it arrives; then the new owner takes care of
    // the rest.
    const last = durable.log.at(-1)
    const isMine = last?.kind === 'grant' && last.by === self && last.epoch === durable.epoch.epoch
    return isMine && isBehind(derived.owner) ? [derived.owner] : []
  }
  if (lengthOf(durable) === durable.epoch.start) return []
  return derived.members.filter(isBehind)
}

function mayRepeatEntries(step: Step): boolean {
  const { durable, soft } = step.state
  const { phase, grant } = durable.stub
  const isUnconfirmed = grant !== null && grant.sequence > soft.committed
  const isWaitedFor = phase === 'cs-issuing' || phase === 'requesting' || isUnconfirmed
  const isUncommitted = soft.committed < lengthOf(durable)
  return (isWaitedFor && isUncommitted) || soft.idleRepeats < step.context.config.limits.idleRepeats
}

export function repeatEntries(step: Step): void {
  const { durable, soft } = step.state
  if (!mayRepeatEntries(step)) return
  soft.idleRepeats = Math.min(soft.idleRepeats + 1, step.context.config.limits.idleRepeats)
  for (const peer of laggards(step)) {
    const through = sendEntries(step, peer, Math.max(soft.acknowledged[peer]!, durable.epoch.start))
    soft.sent[peer] = Math.max(soft.sent[peer]!, through)
  }
}
