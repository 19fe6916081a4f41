/**
 * The register of one generation: single-decree Paxos among the registrars (G2 to G8). Ballot 0 belongs
 * to the first owner and has no messages of its own; all others have a prepare and an accept.
 */

import { ballotAbove } from '../protocols/ballots.ts'
import type { ParticipantId } from '../protocols/protocol.ts'
import { majority } from '../protocols/quorum.ts'
import { assert } from '../protocols/step.ts'
import { incarnationIn } from './incarnations.ts'
import { beginCore, dropCore, giveUserEvent } from './lock-core.ts'
import {
  cancelTimer,
  change,
  emit,
  firstOwner,
  isEntitled,
  isLost,
  isRegistrar,
  modeOf,
  PROPOSE_TIMER,
  type Proposal,
  type Step,
  send,
  setTimer,
  tellRegistrars,
  type Vote,
} from './lock-state.ts'
import type { LockContext } from './lock-types.ts'
import type { AcceptedBallot, BirthMessage } from './messages.ts'
import { configured } from './moving.ts'
import {
  allowsBallotZero,
  EPOCHS_OF_A_BALLOT,
  isBornWith,
  isMember,
  isSame,
  isWeak,
  type LockValue,
} from './value.ts'

// ---------------------------------------------------------------- ballot 0

/**
 * Whether this registrar may still accept in ballot 0, from a first owner that is in its first incarnation.
 */
export function isOpenForBallotZero(step: Step): boolean {
  const { promised, accepted, chosen, known } = step.state.birth
  const isNothingDecided = promised === 0 && accepted === null && chosen === null
  return isNothingDecided && incarnationIn(known, firstOwner(step.context)) === 1
}

/** G6: the first owner begins by itself, unless its process may have begun before and forgotten it. */
export function mayBeginAlone(step: Step): boolean {
  const { context } = step
  if (context.self !== firstOwner(context) || !isEntitled(step) || !isOpenForBallotZero(step)) return false
  return mayBeginWithDefaults(step)
}

/** Whether a first owner with these defaults begins alone, as far as the deployment goes (G4, G13). */
export function mayBeginWithDefaults({ context: { defaults, registrars }, state }: Step): boolean {
  return allowsBallotZero(defaults, registrars.length) && !(state.birth.isStrict && isWeak(defaults))
}

/** The acceptance, the core's beginning and whatever it does first are one transaction. */
export function beginAlone(step: Step): void {
  const { context, state } = step
  const value: LockValue = {
    configuration: { ...context.defaults, firstOwner: context.self },
    startEpoch: state.birth.startEpoch,
  }
  acceptBallotZero(step, value)
}

/** Whether a value can be the one of ballot 0. */
export function isOfBallotZero(step: Step, value: LockValue): boolean {
  const { context, state } = step
  return value.configuration.firstOwner === firstOwner(context) && value.startEpoch === state.birth.startEpoch
}

/** G2: from now on, whatever this participant says in the core is its acceptance. */
export function acceptBallotZero(step: Step, value: LockValue): void {
  const { birth } = step.state
  assert(birth.promised === 0 && birth.accepted === null, 'ballot 0 comes before all others')
  change(step, { accepted: { ballot: 0, value } })
  const replayed = birth.core !== null && !isSame(birth.core, value) ? dropCore(step, 'not-applied') : []
  if (step.state.birth.core === null) beginCore(step, value, true)
  step.state.soft.isWaitingForFirst = false
  step.state.soft.attempts = 0
  for (const event of replayed) giveUserEvent(step, event)
  concludeBallotZero(step)
}

/** G4: a majority that acts under the value of ballot 0 has chosen it. */
export function concludeBallotZero(step: Step): void {
  const { context, state } = step
  const { accepted, chosen, incarnation, known } = state.birth
  if (chosen !== null || accepted?.ballot !== 0) return
  const votes = new Map(state.soft.acting)
  if (isRegistrar(context, context.self)) votes.set(context.self, { incarnation, known })
  if (countVotes(votes) >= majority(context.registrars.length)) learnChosen(step, accepted.value)
}

/** G8: a vote does not count if any counted vote knows of a later incarnation of its voter. */
export function countVotes(votes: ReadonlyMap<ParticipantId, Vote>): number {
  return validVotes(votes).length
}

/** Those that count. */
export function validVotes(votes: ReadonlyMap<ParticipantId, Vote>): ParticipantId[] {
  const isOld = (voter: ParticipantId, { incarnation }: Vote) =>
    [...votes.values()].some(({ known }) => incarnation < incarnationIn(known, voter))
  return [...votes].flatMap(([voter, vote]) => (isOld(voter, vote) ? [] : [voter]))
}

type Asked<Type extends BirthMessage['type']> = Extract<BirthMessage, { type: Type }>

/**
 * G8: a proposer that has lost its storage begins with the ballots of its earlier life, and what was promised
 * to that one is no promise to this one. An earlier version does not say whom it answers.
 */
const isOfEarlierLife = ({ state }: Step, life: string | undefined): boolean =>
  life !== undefined && life !== state.soft.random

// ---------------------------------------------------------------- acceptor

/** The caller has made sure that this registrar is entitled and knows of no choice. */
export function onPrepare(step: Step, from: ParticipantId, { ballot, life }: Asked<'prepare'>): void {
  const { promised, accepted } = step.state.birth
  if (ballot <= promised) return send(step, from, { type: 'promised', promised })
  change(step, { promised: ballot })
  if (from !== step.context.self)
    return send(step, from, { type: 'promise', ballot, ...(life !== undefined && { life }), accepted })
  const { incarnation, known } = step.state.birth
  step.state.soft.proposal!.promises.set(from, { incarnation, known, accepted })
}

/**
 * Accepting anything, even the same value, parks a core that acts under ballot 0: only the choice says how it
 * goes on (G3).
 */
export function onAccept(step: Step, from: ParticipantId, { ballot, life, value }: Asked<'accept'>): void {
  const { promised } = step.state.birth
  if (ballot < promised) return send(step, from, { type: 'promised', promised })
  change(step, { promised: ballot, accepted: { ballot, value } })
  if (from !== step.context.self)
    return send(step, from, { type: 'accepted', ballot, ...(life !== undefined && { life }) })
  const { incarnation, known } = step.state.birth
  step.state.soft.proposal!.acceptances.set(from, { incarnation, known })
}

// ---------------------------------------------------------------- proposer

/** The ballot is durable before it is used; this participant's own vote counts if it has one. */
export function propose(step: Step): void {
  const { context, state } = step
  const { birth, soft } = state
  const ballot = ballotAbove(Math.max(birth.ballot, birth.promised, soft.highestBallot), context.self)
  const lost = new Set(isLost(step) ? [context.self] : [])
  soft.proposal = { ballot, promises: new Map(), acceptances: new Map(), lost, value: null, request: null }
  soft.isWaitingForFirst = false
  soft.unreachable.clear()
  change(step, { ballot })
  setTimer(step, PROPOSE_TIMER, backOff(step))
  const prepare = { type: 'prepare', ballot, life: soft.random } as const
  tellRegistrars(step, prepare)
  if (isEntitled(step)) onPrepare(step, context.self, prepare)
  concludePromises(step)
}

/**
 * Intervals double, and differ from one proposer to the next, so that two of them do not outbid each other
 * forever.
 */
export function backOff(step: Step): number {
  const { self, registrars, birth } = step.context
  const { attempts } = step.state.soft
  const rank = 1 + ((self + attempts) % registrars.length)
  return Math.min(birth.silentMs * 2 ** Math.min(attempts, 4), birth.silentMaxMs) * (1 + rank / 4)
}

export function onPromise(
  step: Step,
  from: ParticipantId,
  vote: Vote,
  { ballot, life, accepted }: Asked<'promise'>,
): void {
  const { context, state } = step
  const { soft } = state
  const { proposal } = soft
  const isFirst = from === firstOwner(context)
  if (isFirst && accepted === null && !mayHaveForgotten(context, vote.incarnation)) soft.isFirstBound = true
  if (proposal?.ballot === ballot && !isOfEarlierLife(step, life))
    proposal.promises.set(from, { ...vote, accepted })
  concludePromises(step)
}

function concludePromises(step: Step): void {
  const { proposal } = step.state.soft
  const { self, registrars } = step.context
  if (proposal === null || proposal.value !== null || isOutbid(proposal)) return
  const voters = validVotes(proposal.promises)
  if (voters.length < majority(registrars.length)) return
  const value = adopted(proposal, voters) ?? ownValue(step, proposal, voters)
  if (value === null) return
  proposal.value = value
  const accept = { type: 'accept', ballot: proposal.ballot, life: step.state.soft.random, value } as const
  tellRegistrars(step, accept)
  if (isEntitled(step)) onAccept(step, self, accept)
  concludeAcceptances(step)
}

/**
 * What may have been chosen already: the value of the highest ballot that any member of the majority has
 * accepted.
 */
function adopted({ promises }: Proposal, voters: readonly ParticipantId[]): LockValue | null {
  let highest: AcceptedBallot | null = null
  for (const voter of voters) {
    const { accepted } = promises.get(voter)!
    if (accepted !== null && (highest === null || accepted.ballot > highest.ballot)) highest = accepted
  }
  return highest?.value ?? null
}

/**
 * Nobody acts on it before it is chosen, so any participant that has not lost its storage can be the first
 * owner.
 */
function ownValue(step: Step, proposal: Proposal, voters: readonly ParticipantId[]): LockValue | null {
  const { context, state } = step
  const configure = state.soft.configures[0]
  const configuration = configure?.configuration ?? context.defaults
  if (!isWeak(configuration) && awaited(step, proposal, voters).length > 0) return null
  proposal.request = configure?.request ?? null
  const least = configuration.imported?.epoch ?? 0
  const startEpoch = Math.max(state.birth.startEpoch + EPOCHS_OF_A_BALLOT, least)
  const wanted = configure === undefined ? context.self : configuration.firstOwner
  const able = [wanted, context.self, ...voters].find(
    candidate => voters.includes(candidate) && isMember({ configuration, startEpoch }, candidate),
  )
  return { configuration: { ...configuration, firstOwner: able ?? 1 }, startEpoch }
}

/**
 * G13: those that may let a user into a weak lock, as far as is known here, so that nothing strict is
 * proposed yet. The first owner may begin alone until it promises. If it has lost the lock, or forgotten it,
 * it may have begun, and the lock may live on wherever it was accepted in ballot 0: all others must promise.
 * The defaults of this version say nothing about the first owner, which may run another one. Nor does a later
 * incarnation of its process: if the ledger alone was lost, the first owner goes on.
 */
function awaited(
  { context, state: { birth, soft } }: Step,
  { lost }: Proposal,
  voters: readonly ParticipantId[],
): ParticipantId[] {
  if (birth.isStrict || soft.isFirstBound) return []
  const first = firstOwner(context)
  const mayHaveBegun = lost.has(first) || mayHaveForgotten(context, incarnationIn(birth.known, first))
  const dangerous = mayHaveBegun ? context.registrars.map(({ id }) => id) : [first]
  return dangerous.filter(id => !voters.includes(id) && !lost.has(id))
}

/**
 * A process that was replaced knows which locks a majority of the others had listed. With five and more there
 * are some that it need not have asked.
 */
const mayHaveForgotten = ({ registrars }: LockContext, incarnation: number): boolean =>
  incarnation > 1 && majority(registrars.length) < registrars.length - 1

/** Those whose promises alone are missing, though a majority has promised (G13). */
export function missing(step: Step): readonly ParticipantId[] {
  const { proposal } = step.state.soft
  if (proposal === null || proposal.value !== null) return []
  const voters = validVotes(proposal.promises)
  return voters.length < majority(step.context.registrars.length) ? [] : awaited(step, proposal, voters)
}

/** The sender has no vote. */
export function onUnable(step: Step, from: ParticipantId, reason: 'lost' | 'not-ready'): void {
  const { soft } = step.state
  soft.unreachable.add(from)
  if (reason !== 'lost') return
  soft.proposal?.lost.add(from)
  concludePromises(step)
}

export function onAccepted(
  step: Step,
  from: ParticipantId,
  vote: Vote,
  { ballot, life }: Asked<'accepted'>,
): void {
  const { proposal } = step.state.soft
  if (proposal?.ballot !== ballot || proposal.value === null || isOfEarlierLife(step, life)) return
  proposal.acceptances.set(from, vote)
  concludeAcceptances(step)
}

function concludeAcceptances(step: Step): void {
  const { proposal } = step.state.soft
  if (proposal === null || proposal.value === null) return
  if (countVotes(proposal.acceptances) < majority(step.context.registrars.length)) return
  const { value } = proposal
  const { self, registrars } = step.context
  learnChosen(step, value)
  const count = Math.max(registrars.length, value.configuration.participants.length)
  for (let peer = 1; peer <= count; peer++) if (peer !== self) send(step, peer, { type: 'chosen', value })
}

/**
 * G7: a participant that is stuck proposes. After a higher ballot it lets the timer run, so that the
 * other one can finish.
 */
export function onPromised(step: Step, promised: number): void {
  const { soft } = step.state
  soft.highestBallot = Math.max(soft.highestBallot, promised)
  soft.isStuck = true
  soft.isWaitingForFirst = false
  if (soft.proposal !== null && promised > soft.proposal.ballot) {
    soft.proposal = { ...soft.proposal, ballot: Number.NaN }
  }
}

const isOutbid = ({ ballot }: Proposal): boolean => Number.isNaN(ballot)

// ---------------------------------------------------------------- the choice

/** A core of another value is dropped; a parked core of this value goes on as storage has it. */
export function learnChosen(step: Step, value: LockValue): void {
  const { birth, soft } = step.state
  if (birth.chosen !== null) return assert(isSame(birth.chosen, value), 'a lock was born twice')
  const wasParked = modeOf(birth) === 'parked'
  const isOther = birth.core !== null && !isSame(birth.core, value)
  const replayed = isOther ? dropCore(step, 'not-applied') : []
  change(step, { chosen: value, accepted: null })
  if (birth.core !== null && !isOther && wasParked) step.restart = true
  answerConfigures(step, value)
  soft.proposal = null
  soft.isStuck = false
  soft.isWaitingForFirst = false
  soft.attempts = 0
  cancelTimer(step, PROPOSE_TIMER)
  for (const asker of soft.askers) send(step, asker, { type: 'chosen', value })
  soft.askers.clear()
  startChosen(step)
  soft.tries.clear()
  for (const event of replayed) giveUserEvent(step, event)
}

/** G5: a member starts, from the beginning if it is entitled, and by being taken back if it was lost. */
export function startChosen(step: Step): void {
  const { context, state } = step
  const { chosen, core } = state.birth
  if (chosen === null || core !== null || !isBornWith(chosen, context)) return
  // The ledger knows nothing of what was lost before there was one.
  const mayBeLost = context.hasLedger && chosen.isOlder === true
  if (isEntitled(step)) beginCore(step, chosen, !mayBeLost)
  else if (isLost(step)) beginCore(step, chosen, false)
}

function answerConfigures(step: Step, value: LockValue): void {
  const { soft } = step.state
  const own = soft.proposal?.value === value ? soft.proposal.request : null
  for (const { request } of soft.configures)
    emit(step, { type: 'configured', request, ...configured(step, value), created: request === own })
  soft.configures = []
}
