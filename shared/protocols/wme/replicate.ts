/**
 * How entries leave. What the owner has appended goes to all at the end of the step, with two exceptions.
 *
 * A mere re-entry concerns nobody else, and the paper sends nothing then. It rides on the next operation or
 * grant. It leaves by itself only if its user waits for the confirmation, if its user stays inside, or if
 * many re-entries have gathered.
 *
 * An operation needs a majority, not all. With "majority first" (wme-2) it goes at once to the quickest
 * participants that make a majority with the owner (round-trips.ts). The rest lags: it gets the operation
 * with the next ones, in one message, after `flushMs` at the latest. A grant to another participant goes to
 * all, with everything before it (Q1): all must know whom to ask and whom to watch.
 */
import type { ParticipantId } from '../protocol.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { entriesForMessage, lengthOf, sendEntries } from './log.ts'
import { isAlone, peersOf } from './members.ts'
import { restartRepeats } from './repeat.ts'
import { forgetRoundTrip, mostSent, noteSent, quickest } from './round-trips.ts'
import { cancelTimer, type Step, setTimer } from './step.ts'

const mayAppend = ({ state: { durable, derived }, context }: Step): boolean =>
  derived.owner === context.config.self && !durable.epoch.sealed

/** Called at the end of a step that has appended something. */
export function replicateAppended(step: Step): void {
  const { limits, timing } = step.context.config
  if (isAlone(step)) return
  const { durable, derived } = step.state
  const sent = Math.max(mostSent(step), durable.base.sequence)
  const staysHere = derived.lastHandover <= sent
  const isReentry = derived.lastNews <= sent
  const many = Math.min(limits.entriesPerMessage, limits.uncommitted)
  // A user that is entering waits for the confirmation.
  const isWaitedFor = durable.stub.phase === 'entering' || timing.confirmMs === 0
  if (isReentry && lengthOf(durable) - sent < many && !isWaitedFor) return
  replicate(step, staysHere && step.variant.asksMajorityFirst(step) ? quickest(step) : peersOf(step))
}

/** Sends what they were not sent before, together with what is committed. */
function replicate(step: Step, peers: readonly ParticipantId[]): void {
  for (const peer of peersOf(step)) if (peers.includes(peer) || !mayLag(step, peer)) sendUnsent(step, peer)
  restartRepeats(step)
}

function sendUnsent(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  const length = lengthOf(durable)
  // What a participant lags behind by fits one message, unless the newest entry is a heavy one.
  while (soft.sent[peer]! < length) soft.sent[peer] = sendEntries(step, peer, soft.sent[peer]!)
  soft.told[peer] = soft.committed
  noteSent(step, peer)
}

/** Q2: whether what a peer was not sent fits one message, with a grant behind it. */
function mayLag(step: Step, peer: ParticipantId): boolean {
  const { durable, soft } = step.state
  const sent = soft.sent[peer]!
  if (sent < durable.base.sequence) return false
  const unsent = lengthOf(durable) - sent
  const { entriesPerMessage } = step.context.config.limits
  return unsent < entriesPerMessage && entriesForMessage(step, sent).length === unsent
}

/** Called at the end of each step: news that nothing has taken along leaves by itself. */
export function armFlushTimer(step: Step): void {
  if (!step.variant.owesNews(step)) cancelTimer(step, 'flush')
  else if (!step.state.soft.timers.flush) setTimer(step, 'flush', step.context.config.timing.flushMs)
}

// ---------------------------------------------------------------- a user that stays inside

/**
 * Called at the end of each step: the timer is set exactly while a user is inside under a grant that the
 * others have not been told of. They need to know only of a holder that stays: once it has left, nobody does.
 */
export function armConfirmTimer(step: Step): void {
  const { soft } = step.state
  if (!isHeldUnsent(step)) cancelTimer(step, 'confirm')
  else if (step.appended || !soft.timers.confirm)
    setTimer(step, 'confirm', step.context.config.timing.confirmMs)
}

function isHeldUnsent(step: Step): boolean {
  const { grant, phase } = step.state.durable.stub
  if (grant === null || !inCriticalSection(phase) || isAlone(step)) return false
  return mayAppend(step) && grant.sequence > mostSent(step)
}

/** A user has been inside for a while: the others get to know of its grant. */
export function onConfirmTimer(step: Step): void {
  if (isHeldUnsent(step)) replicate(step, peersOf(step))
}

// ---------------------------------------------------------------- the rest, which lags

/**
 * Q5, at the end of each step: the timer is set exactly while somebody lags, and it is never moved. It has
 * to come even while operations follow one another, and even when nothing follows.
 */
export function armSpreadTimer(step: Step): void {
  const { soft } = step.state
  if (!mayAppend(step) || lagging(step).length === 0) cancelTimer(step, 'spread')
  else if (!soft.timers.spread) setTimer(step, 'spread', step.context.config.timing.flushMs)
}

function lagging(step: Step): ParticipantId[] {
  const most = mostSent(step)
  return peersOf(step).filter(peer => step.state.soft.sent[peer]! < most)
}

/** Q6: one that cannot be reached does not answer. The rest need not wait any longer. */
export function onUnreachable(step: Step, peer: ParticipantId): void {
  forgetRoundTrip(step, peer)
  spread(step)
}

/** The rest is asked too, whether or not the quick ones have answered. */
export function spread(step: Step): void {
  if (!mayAppend(step)) return
  const peers = lagging(step)
  if (peers.length > 0) replicate(step, peers)
}
