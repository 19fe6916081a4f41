/**
 * Retransmission (L25; traps C1-C4): every message is repeated, with growing intervals, until its effect is
 * known. One timer serves all: when it fires, whatever is still unanswered is sent again, and when nothing
 * is, it is not set. Only what somebody waits for is repeated forever; the rest is repeated `idleRepeats`
 * times, so that a lock that nobody waits for falls silent.
 */
import { isAsking, passOver } from '../asking.ts'
import type { ParticipantId } from '../protocol.ts'
import { lengthOf, sendEntries } from './log.ts'
import { cancelTimer, type Step, setTimer } from './step.ts'

const MAX_DOUBLINGS = 6

/** There is something new to make known: repeats begin again with the shortest interval. */
export function restartRepeats(step: Step): void {
  step.state.soft.repeatAttempts = 0
  step.state.soft.idleRepeats = 0
  setTimer(step, 'repeat', step.context.config.timing.repeatMs)
}

/** Called at the end of each step: the timer is set exactly while something is unanswered. */
export function armRepeatTimer(step: Step): void {
  const { soft } = step.state
  if (!isUnanswered(step)) cancelTimer(step, 'repeat')
  else if (!soft.timers.repeat) setTimer(step, 'repeat', intervalMs(step))
}

function intervalMs(step: Step): number {
  const { repeatMs, repeatMaxMs } = step.context.config.timing
  return Math.min(repeatMs * 2 ** step.state.soft.repeatAttempts, repeatMaxMs)
}

function isUnanswered(step: Step): boolean {
  const { durable, derived, soft } = step.state
  if (durable.membership.status === 'joining' || durable.epoch.sealed) return true
  if (durable.stub.phase === 'requesting' && derived.owner !== step.context.config.self) return true
  if (soft.preVote !== null || soft.ejects.length > 0 || soft.reads.length > 0) return true
  if (isAsking(soft) || soft.incoming !== null) return true
  return mayRepeatEntries(step) && laggards(step).length > 0
}

/** Counts the attempt. What is repeated depends on the phase: see `onRepeatTimer` in wme.ts. */
export function countRepeat(step: Step): void {
  const { soft } = step.state
  soft.repeatAttempts = Math.min(soft.repeatAttempts + 1, MAX_DOUBLINGS)
  passOver(soft)
}

// ---------------------------------------------------------------- the log

/**
 * The participants that are not known to hold what was sent to them, as far as it is this participant's
 * business.
 */
function laggards(step: Step): ParticipantId[] {
  const { durable, derived, soft } = step.state
  const { self, participants } = step.context.config
  const isBehind = (peer: ParticipantId) => peer !== self && soft.acknowledged[peer]! < soft.sent[peer]!
  if (derived.owner !== self) {
    // The participant that gave the token away makes sure that it arrives; then the new owner takes care of
    // the rest.
    const last = durable.log.at(-1)
    const isMine = last?.kind === 'grant' && last.by === self && last.epoch === durable.epoch.epoch
    return isMine && isBehind(derived.owner) ? [derived.owner] : []
  }
  if (lengthOf(durable) === durable.epoch.start) return []
  const behind: ParticipantId[] = []
  for (let peer = 1; peer <= participants; peer++) if (isBehind(peer)) behind.push(peer)
  return behind
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
