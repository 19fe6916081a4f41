/**
 * A new coordinator (multi-Paxos). If a majority suspects the coordinator, a participant takes a ballot of
 * its own above all it has seen (PREPARE). The others promise to accept nothing lower, and say what they have
 * accepted and do not know to be decided (PROMISE). For each such instance the command of the highest ballot
 * may have been decided, so it is proposed again.
 */
import { ballotAbove, proposerOf as coordinatorOf } from '../ballots.ts'
import type { ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { concludeDecided } from './instances.ts'
import { accept, assertSameLog, isCoordinator, lengthOf, promise, undecided } from './log.ts'
import type { PrepareMessage, PromiseMessage, RejectMessage } from './messages.ts'
import type { Entry } from './state.ts'
import { askForCatchUp, broadcast, restartRepeats, type Step, save, send } from './step.ts'

export function startBallot(step: Step): void {
  const { durable, soft } = step.state
  const { self, participants } = step.context.config
  const ballot = ballotAbove(durable.acceptor.promised, self)
  promise(step, ballot)
  soft.candidacy = { ballot, promises: new Array(participants + 1).fill(null) }
  soft.candidacy.promises[self] = promiseOf(step)
  broadcast(step, { type: 'prepare', ballot })
  restartRepeats(step)
}

/** Others wait for this participant, which was stopped in its prepare phase: it begins a new one. */
export function resumeCandidacy(step: Step): void {
  const { durable, soft } = step.state
  const isExpected = coordinatorOf(durable.acceptor.promised) === step.context.config.self
  if (isExpected && !isCoordinator(step) && soft.candidacy === null) startBallot(step)
}

export function repeatPrepare(step: Step): void {
  const { candidacy } = step.state.soft
  if (candidacy === null) return
  const { self } = step.context.config
  candidacy.promises.forEach((promised, peer) => {
    if (peer > 0 && peer !== self && promised === null)
      send(step, peer, { type: 'prepare', ballot: candidacy.ballot })
  })
}

export function onPrepare(step: Step, from: ParticipantId, message: PrepareMessage): void {
  const { promised } = step.state.durable.acceptor
  if (message.ballot < promised) return send(step, from, { type: 'reject', promised })
  promise(step, message.ballot)
  send(step, from, promiseOf(step))
}

function promiseOf(step: Step): PromiseMessage {
  const { durable } = step.state
  const { promised: ballot } = durable.acceptor
  const { applied: decided, digest } = durable.machine
  return { type: 'promise', ballot, decided, digest, entries: undecided(durable) }
}

export function onPromise(step: Step, from: ParticipantId, message: PromiseMessage): void {
  const { candidacy } = step.state.soft
  const { durable } = step.state
  if (message.decided <= durable.machine.applied) assertSameLog(durable, message.decided, message.digest)
  if (candidacy?.ballot === message.ballot) candidacy.promises[from] = message
}

/** The sender has promised a higher ballot: that ballot's coordinator is the one to wait for now. */
export function onReject(step: Step, message: RejectMessage): void {
  promise(step, message.promised)
}

/**
 * Called at the end of each step: with the promises of a majority, and everything that any of them knows to
 * be decided, this participant is the coordinator.
 */
export function concludeCandidacy(step: Step): void {
  const { durable, soft } = step.state
  if (soft.candidacy === null) return
  const promises = soft.candidacy.promises.filter(promised => promised !== null)
  if (promises.length < majority(step.context.config.participants)) return
  const furthest = Math.max(...promises.map(({ decided }) => decided))
  if (furthest > durable.machine.applied) {
    const knows = soft.candidacy.promises.findIndex(promised => promised?.decided === furthest)
    return askForCatchUp(step, knows)
  }
  becomeCoordinator(step, soft.candidacy.ballot, promises)
}

function becomeCoordinator(step: Step, ballot: number, promises: readonly PromiseMessage[]): void {
  const { durable, soft } = step.state
  soft.candidacy = null
  durable.acceptor = { promised: ballot, prepared: ballot }
  save(step, 'acceptor', durable.acceptor)
  soft.acknowledged.ballot = ballot
  soft.acknowledged.through.fill(0)
  soft.acknowledged.claims.fill(null)
  soft.sent.fill(durable.machine.applied)
  soft.told = durable.machine.applied
  // Each log has no gaps, so neither has their union.
  const accepted = new Map<number, Entry>()
  for (const entry of promises.flatMap(({ entries }) => entries)) {
    const other = accepted.get(entry.position)
    if (other === undefined || other.ballot < entry.ballot) accepted.set(entry.position, entry)
  }
  for (let position = durable.machine.applied + 1; accepted.has(position); position++) {
    accept(step, position, ballot, accepted.get(position)!.command)
  }
  if (lengthOf(durable) > durable.machine.applied) step.hasProposals = true
  concludeDecided(step)
}
