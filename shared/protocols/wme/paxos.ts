/**
 * Single-decree Paxos between the participants, one instance for each epoch, run only when the epoch must
 * end.
 *
 * Every participant is an acceptor, a learner and possibly a proposer. A proposer takes a ballot of its own
 * that is higher than any it has seen (PREPARE). An acceptor promises not to accept lower ones and says what
 * it has accepted so far (PROMISE). With a majority of promises the proposer proposes the value of the
 * highest accepted ballot among them, or its own if there is none (ACCEPT). A value that a majority has
 * accepted in one ballot (ACCEPTED) is chosen, and no other ever is (trap A13).
 *
 * Durable before it is said (W5): the promised ballot, the accepted ballot and value, and the proposer's own
 * ballot.
 */
import { ballotAbove } from '../ballots.ts'
import type { ParticipantId } from '../protocol.ts'
import { majorityOf } from './members.ts'
import type {
  AcceptedMessage,
  AcceptedValue,
  AcceptMessage,
  Decision,
  PrepareMessage,
  PromiseMessage,
  RejectMessage,
} from './messages.ts'
import type { PaxosRecord } from './state.ts'
import { broadcast, type Step, save, send } from './step.ts'

export const INITIAL_PAXOS: PaxosRecord = { promised: 0, accepted: null, ballot: 0 }

function changePaxos(step: Step, change: Partial<PaxosRecord>): void {
  const { durable } = step.state
  durable.paxos = { ...durable.paxos, ...change }
  save(step, 'paxos', durable.paxos)
}

// ---------------------------------------------------------------- proposer

/**
 * Sends PREPARE with a fresh ballot. `compose` gives the value in case nothing was accepted before. Returns
 * the value if it is chosen at once.
 */
export function startBallot(step: Step, compose: () => Decision): Decision | null {
  const { durable, soft } = step.state
  const { self } = step.context.config
  const highest = Math.max(durable.paxos.promised, durable.paxos.ballot, soft.highestBallot)
  const ballot = ballotAbove(highest, self)
  changePaxos(step, { ballot, promised: ballot })
  soft.proposal = {
    ballot,
    promises: new Array(soft.newEpochs.length).fill(undefined),
    value: null,
    accepted: new Array(soft.newEpochs.length).fill(false),
  }
  soft.proposal.promises[self] = durable.paxos.accepted
  broadcast(step, { type: 'prepare', epoch: durable.epoch.epoch, ballot })
  return proposeOnceMajorityPromised(step, compose)
}

export function onPromise(
  step: Step,
  from: ParticipantId,
  message: PromiseMessage,
  compose: () => Decision,
): Decision | null {
  const { proposal } = step.state.soft
  if (proposal === null || proposal.ballot !== message.ballot || proposal.value !== null) return null
  proposal.promises[from] = message.accepted
  return proposeOnceMajorityPromised(step, compose)
}

function proposeOnceMajorityPromised(step: Step, compose: () => Decision): Decision | null {
  const { durable, soft } = step.state
  const { self } = step.context.config
  const proposal = soft.proposal!
  const promised = proposal.promises.filter(promise => promise !== undefined)
  if (promised.length < majorityOf(step)) return null
  // Another proposer may meanwhile have made this very acceptor promise a higher ballot.
  if (durable.paxos.promised > proposal.ballot) return null
  proposal.value = highestAccepted(promised)?.value ?? compose()
  changePaxos(step, { accepted: { ballot: proposal.ballot, value: proposal.value } })
  proposal.accepted[self] = true
  broadcast(step, {
    type: 'accept',
    epoch: durable.epoch.epoch,
    ballot: proposal.ballot,
    value: proposal.value,
  })
  return chosen(step)
}

function highestAccepted(promises: readonly (AcceptedValue | null)[]): AcceptedValue | null {
  let highest: AcceptedValue | null = null
  for (const accepted of promises) {
    if (accepted !== null && accepted.ballot > (highest?.ballot ?? 0)) highest = accepted
  }
  return highest
}

export function onAccepted(step: Step, from: ParticipantId, message: AcceptedMessage): Decision | null {
  const { proposal } = step.state.soft
  if (proposal === null || proposal.ballot !== message.ballot || proposal.value === null) return null
  proposal.accepted[from] = true
  return chosen(step)
}

function chosen(step: Step): Decision | null {
  const proposal = step.state.soft.proposal!
  const accepted = proposal.accepted.filter(Boolean).length
  return accepted >= majorityOf(step) ? proposal.value : null
}

/** Another proposer has a higher ballot: this one is given up, and a later one will be higher. */
export function onReject(step: Step, message: RejectMessage): void {
  const { soft } = step.state
  soft.highestBallot = Math.max(soft.highestBallot, message.promised)
  if (soft.proposal?.ballot === message.ballot) soft.proposal = null
}

// ---------------------------------------------------------------- acceptor

export function onPrepare(step: Step, from: ParticipantId, message: PrepareMessage): void {
  const { durable, soft } = step.state
  const { epoch, ballot } = message
  if (ballot < durable.paxos.promised) return reject(step, from, ballot)
  soft.highestBallot = Math.max(soft.highestBallot, ballot)
  if (ballot > durable.paxos.promised) changePaxos(step, { promised: ballot })
  send(step, from, { type: 'promise', epoch, ballot, accepted: durable.paxos.accepted })
}

export function onAccept(step: Step, from: ParticipantId, message: AcceptMessage): void {
  const { durable, soft } = step.state
  const { epoch, ballot, value } = message
  if (ballot < durable.paxos.promised) return reject(step, from, ballot)
  soft.highestBallot = Math.max(soft.highestBallot, ballot)
  if (durable.paxos.accepted?.ballot !== ballot)
    changePaxos(step, { promised: ballot, accepted: { ballot, value } })
  send(step, from, { type: 'accepted', epoch, ballot })
}

function reject(step: Step, to: ParticipantId, ballot: number): void {
  const { epoch, paxos } = step.state.durable
  send(step, to, { type: 'reject', epoch: epoch.epoch, ballot, promised: paxos.promised })
}
