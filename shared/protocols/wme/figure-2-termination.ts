/**
 * Figure 2: the termination phase. A stub that is sure enough that the owner is gone (pre-vote.ts) seals its
 * epoch and says so (NEWEP); a stub that hears of it seals too. With a majority of NEWEPs, the longest log
 * and an owner are proposed to consensus (paxos.ts). The decision ends the epoch: all participants apply the
 * rest, users that lost the token are ejected, and a new epoch begins.
 */

import { answerMs, isSuspected } from '../../detector.ts'
import type { Incarnations } from '../members/changes.ts'
import { isIn, membersIn, type OfSet, withSet } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { changeToPropose, composeMembers } from './change-of-members.ts'
import { advanceCommitted } from './commit.ts'
import { appendPending } from './figure-1-normal-phase.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { admit, eject, settlePendingFromResults } from './grants.ts'
import { becomeRemoved, concludeHandover, sendHandover } from './handover.ts'
import {
  assertSameLog,
  derive,
  digestThrough,
  entriesAfter,
  entryAt,
  lengthOf,
  push,
  rollBack,
} from './log.ts'
import { isMember, majorityOf } from './members.ts'
import type {
  AcceptedMessage,
  AcceptMessage,
  Decision,
  DecisionMessage,
  NewEpochMessage,
  PrepareMessage,
  PromiseMessage,
} from './messages.ts'
import * as paxos from './paxos.ts'
import { restartRepeats } from './repeat.ts'
import { resetForNewEpoch } from './soft.ts'
import type { Entry, EpochRecord, Grant } from './state.ts'
import { askForCatchUp, broadcast, cancelTimer, changeStub, type Step, save, setTimer } from './step.ts'

// ---------------------------------------------------------------- block := true, NEWEP

/** L18, W4: durable before the NEWEP leaves. From here on nothing is appended or acknowledged here. */
export function seal(step: Step): void {
  const { durable, soft } = step.state
  if (durable.epoch.sealed) return
  durable.epoch = { ...durable.epoch, sealed: true }
  save(step, 'epoch', durable.epoch)
  soft.preVote = null
  sendNewEpoch(step)
  restartRepeats(step)
  proposeOnceCollected(step)
}

export function sendNewEpoch(step: Step): void {
  const message = newEpochOf(step)
  // This participant's own NEWEP counts like any other (trap B1).
  step.state.soft.newEpochs[step.context.config.self] = message
  broadcast(step, message)
}

export function newEpochOf(step: Step): NewEpochMessage {
  const { durable, derived, soft } = step.state
  return {
    type: 'new-epoch',
    epoch: durable.epoch.epoch,
    committed: soft.committed,
    digest: digestThrough(durable, soft.committed),
    entries: entriesAfter(durable, soft.committed),
    owner: derived.owner,
    requesting: durable.waiters.length > 0 && !inCriticalSection(durable.stub.phase),
    joins: { ...soft.joins },
    ...changeToPropose(step),
  }
}

// ---------------------------------------------------------------- collect a majority of NEWEP messages

export function onNewEpoch(step: Step, from: ParticipantId, message: NewEpochMessage): void {
  const { soft } = step.state
  assertSameEnd(step, message.committed, message.digest, message.entries)
  seal(step)
  soft.newEpochs[from] = message
  for (const [participant, incarnation] of Object.entries(message.joins))
    noteJoin(step, Number(participant), incarnation)
  proposeOnceCollected(step)
}

/** Within one epoch one log is a prefix of the other, so what both hold is the same. */
function assertSameEnd(step: Step, base: number, digest: string, entries: readonly Entry[]): void {
  const { durable } = step.state
  assertSameLog(durable, base, digest)
  for (const entry of entries) assertSameLog(durable, entry.sequence, entry.digest)
}

/**
 * A wiped participant wants to be taken back; the next decision does it. Of two lives neither is higher: if a
 * late message of an earlier life wins, the later one goes on asking.
 */
export function noteJoin(step: Step, participant: ParticipantId, incarnation: number): void {
  const { durable, soft } = step.state
  if (!isMember(step, participant)) return
  if (durable.epoch.incarnations[participant] !== incarnation) soft.joins[participant] = incarnation
}

// ---------------------------------------------------------------- propose

const MAX_DOUBLINGS = 5

/**
 * L19: the first participant that is here and not suspected proposes at once. The others give it time, each
 * longer than the one before. One that lacks what precedes the entries to be decided could not enter the next
 * epoch by itself, so another one goes first, if there is one (Q6).
 */
function proposeOnceCollected(step: Step): void {
  const { soft } = step.state
  const { self } = step.context.config
  const collected = collectedNewEpochs(step)
  if (collected.length < majorityOf(step) || soft.proposal !== null || soft.timers.propose) return
  const here = collected.filter(sender => sender === self || !isSuspected(soft.detector, sender))
  const { committed } = longestOf(step)
  const isCoordinator = (here.find(sender => endOf(soft.newEpochs[sender]!) >= committed) ?? here[0]) === self
  if (!isCoordinator || soft.proposeAttempts > 0) return setProposeTimer(step)
  const patienceMs = incumbentPatience(step)
  if (patienceMs === 0) propose(step)
  else setTimer(step, 'propose', patienceMs)
}

/**
 * An owner that only stood still for a moment keeps the token if it gets the time for its NEWEP, which is as
 * long as its answers take (rule T5). One that cannot be reached at all is not waited for.
 */
function incumbentPatience(step: Step): number {
  const { derived, soft } = step.state
  const { self, timing } = step.context.config
  const isHere = derived.owner === self || soft.newEpochs[derived.owner] !== null
  if (isHere || soft.detector[derived.owner]!.suspected === 'unreachable') return 0
  return Math.min(answerMs(soft.detector, derived.owner), timing.proposeMs)
}

function collectedNewEpochs(step: Step): ParticipantId[] {
  const { newEpochs } = step.state.soft
  const senders: ParticipantId[] = []
  for (let sender = 1; sender < newEpochs.length; sender++)
    if (newEpochs[sender] !== null) senders.push(sender)
  return senders
}

/** Backoff: intervals double and differ by rank, so that proposers do not duel forever. */
function setProposeTimer(step: Step): void {
  const { soft } = step.state
  const { self, timing } = step.context.config
  const rank =
    1 + collectedNewEpochs(step).filter(sender => sender < self && !isSuspected(soft.detector, sender)).length
  setTimer(step, 'propose', timing.proposeMs * rank * 2 ** Math.min(soft.proposeAttempts, MAX_DOUBLINGS))
}

function propose(step: Step): void {
  step.state.soft.proposeAttempts++
  setProposeTimer(step)
  finishIfChosen(
    step,
    paxos.startBallot(step, () => composeDecision(step)),
  )
}

export function onProposeTimer(step: Step): void {
  if (!step.state.durable.epoch.sealed) return
  if (collectedNewEpochs(step).length >= majorityOf(step)) propose(step)
}

/** The longest log, who has the token next, and who the members are (rule M1). */
function composeDecision(step: Step): Decision {
  const { durable, soft } = step.state
  const longest = longestOf(step)
  const taken = { ...durable.epoch.incarnations, ...soft.joins }
  const { set, incarnations } = composeMembers(step, collectedNewEpochs(step), taken)
  return {
    owner: nextOwner(step, longest.owner, incarnations, withSet(set)),
    base: longest.committed,
    digest: longest.digest,
    entries: longest.entries,
    incarnations,
    ...withSet(set),
  }
}

function longestOf({ state: { soft } }: Step): NewEpochMessage {
  const collected = soft.newEpochs.filter(message => message !== null && message !== undefined)
  return collected.reduce((best, message) => (endOf(message) > endOf(best) ? message : best))
}

const endOf = (message: NewEpochMessage): number => message.committed + message.entries.length

/**
 * The owner stays if it is here and not suspected (trap B9). Otherwise the token goes to the first that asked
 * and is here (trap B8: only a participant that has sent a NEWEP can take it up), and otherwise to the
 * proposer. It is always a member of the next epoch: if need be another one that is here, or a newcomer (rule
 * M8).
 */
function nextOwner(
  step: Step,
  incumbent: ParticipantId,
  incarnations: Incarnations,
  next: OfSet,
): ParticipantId {
  const { durable, soft } = step.state
  const { self } = step.context.config
  const isLost = (participant: ParticipantId) =>
    incarnations[participant] !== durable.epoch.incarnations[participant]
  const stays = (participant: ParticipantId) => isIn(step.context.config, next, participant)
  const isHere = (participant: ParticipantId) =>
    stays(participant) &&
    (participant === self ||
      (soft.newEpochs[participant] != null &&
        !isSuspected(soft.detector, participant) &&
        !isLost(participant)))
  if (isHere(incumbent)) return incumbent
  const asked = soft.requests.map(request => request.participant)
  const requesting = collectedNewEpochs(step).filter(sender => soft.newEpochs[sender]!.requesting)
  const candidates = [...asked.filter(participant => requesting.includes(participant)), ...requesting, self]
  return (
    candidates.find(isHere) ??
    collectedNewEpochs(step).find(sender => stays(sender) && !isLost(sender)) ??
    Math.min(...membersIn(step.context.config, next).filter(member => !isMember(step, member)))
  )
}

// ---------------------------------------------------------------- consensus messages

export function onPrepare(step: Step, from: ParticipantId, message: PrepareMessage): void {
  seal(step)
  giveOthersTime(step)
  paxos.onPrepare(step, from, message)
}

export function onAccept(step: Step, from: ParticipantId, message: AcceptMessage): void {
  seal(step)
  giveOthersTime(step)
  paxos.onAccept(step, from, message)
}

function giveOthersTime(step: Step): void {
  if (step.state.soft.timers.propose && step.state.soft.proposal === null) setProposeTimer(step)
}

export function onPromise(step: Step, from: ParticipantId, message: PromiseMessage): void {
  finishIfChosen(
    step,
    paxos.onPromise(step, from, message, () => composeDecision(step)),
  )
}

export function onAccepted(step: Step, from: ParticipantId, message: AcceptedMessage): void {
  finishIfChosen(step, paxos.onAccepted(step, from, message))
}

function finishIfChosen(step: Step, decision: Decision | null): void {
  if (decision === null) return
  broadcast(step, { type: 'decision', epoch: step.state.durable.epoch.epoch, value: decision })
  learn(step, step.context.config.self, decision)
}

export function onDecision(step: Step, from: ParticipantId, message: DecisionMessage): void {
  learn(step, from, message.value)
}

// ---------------------------------------------------------------- decision

function learn(step: Step, from: ParticipantId, decision: Decision): void {
  const { durable } = step.state
  const { owner, base, digest, entries, incarnations, set } = decision
  assertSameEnd(step, base, digest, entries)
  // A stub that lacks what precedes the decided entries gets all of it from one that has made the transition.
  // If the proposer itself lacks them, it hears from such a stub in answer to its next NEWEP.
  if (lengthOf(durable) < base)
    return from === step.context.config.self ? undefined : askForCatchUp(step, from)
  const start = base + entries.length
  const epoch = durable.epoch.epoch + 1
  enterEpoch(step, { epoch, owner, start, sealed: false, incarnations, ...withSet(set) }, entries)
}

/** L20: the whole transition, in one transaction. `entries` reach up to the start of the new epoch. */
export function enterEpoch(step: Step, next: EpochRecord, entries: readonly Entry[]): void {
  const { durable, soft } = step.state
  alignLog(step, next.start, entries)
  const stays = staysIn(step, next)
  // A user that is not in yet is not let in only to be ejected: it goes on waiting.
  if (durable.stub.phase === 'entering' && !stays) changeStub(step, { phase: 'requesting', grant: null })
  advanceCommitted(step, next.start)
  settlePendingFromResults(step)

  const { incarnations } = durable.epoch
  durable.epoch = next
  save(step, 'epoch', next)
  durable.paxos = paxos.INITIAL_PAXOS
  save(step, 'paxos', null)
  derive(step.context.config, step.state)
  resetForNewEpoch(step, incarnations)
  soft.sent.fill(next.start)
  cancelTimer(step, 'propose')

  const isRemoved = !isMember(step, step.context.config.self)
  if (durable.stub.grant !== null) {
    if (stays) goOn(step, durable.stub.grant)
    else eject(step, durable.stub.grant.ending ?? (isRemoved ? 'operator' : 'suspected'))
  }
  if (isRemoved) becomeRemoved(step)
  concludeHandover(step)
  sendHandover(step)
}

/** L21: the holder stays only as the owner of the very next epoch, and only if its grant was decided. */
function staysIn(step: Step, next: EpochRecord): boolean {
  const { epoch, stub } = step.state.durable
  const isNext = next.epoch === epoch.epoch + 1
  return isNext && next.owner === step.context.config.self && stub.grant !== null && isInLog(step, stub.grant)
}

/** Replaces what was rolled back by what was decided (trap A2: by place, not by set difference). */
function alignLog(step: Step, start: number, entries: readonly Entry[]): void {
  const { durable, soft } = step.state
  for (const entry of entries) {
    const isHeld = entryAt(durable, entry.sequence)?.epoch === entry.epoch
    if (isHeld || entry.sequence <= soft.committed) {
      assertSameLog(durable, entry.sequence, entry.digest)
      continue
    }
    rollBack(step, entry.sequence - 1)
    push(step, entry)
  }
  // A snapshot may reach beyond the start of the epoch: what it contains is committed.
  const end = Math.max(start, soft.committed)
  if (lengthOf(durable) > end) rollBack(step, end)
}

/** The grant may have been among the entries that no majority held. */
function isInLog(step: Step, grant: Grant): boolean {
  const { durable } = step.state
  if (grant.sequence <= durable.base.sequence) return true
  return entryAt(durable, grant.sequence)?.epoch === grant.epoch
}

/**
 * The holder has kept the token. Its pending operation is issued again, unless the decision contained it
 * (trap A3).
 */
function goOn(step: Step, grant: Grant): void {
  const { stub } = step.state.durable
  // A snapshot has confirmed the grant without an entry of its own.
  if (stub.phase === 'entering' && grant.sequence <= step.state.soft.committed) admit(step, grant)
  else if (stub.pendingOperation !== null) appendPending(step)
  else if (grant.ending !== null) eject(step, grant.ending)
}
