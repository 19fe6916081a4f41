/**
 * A new coordinator (multi-Paxos). If a majority suspects the coordinator, a participant takes a ballot of
 * its own above all it has seen (PREPARE). The others promise to accept nothing lower, and say what they have
 * accepted and do not know to be decided (PROMISE). For each such instance the command of the highest ballot
 * may have been decided, so it is proposed again.
 */
import { ballotAbove } from '../ballots.ts'
import { configIn, slots } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { concludeDecided } from './instances.ts'
import { accept, assertSameLog, isCoordinator, lengthOf, ofConfig, promise, undecided } from './log.ts'
import { coordinatorOf, majorityOf, membersOf, peersOf } from './members.ts'
import type { PrepareMessage, PromiseMessage, RejectMessage } from './messages.ts'
import type { Entry } from './state.ts'
import { askForCatchUp, broadcast, restartRepeats, type Step, save, send } from './step.ts'

export function startBallot(step: Step): void {
  const { durable, soft } = step.state
  const { config } = step.context
  const ballot = ballotAbove(durable.acceptor.promised, config.self)
  promise(step, ballot)
  soft.candidacy = { ballot, promises: new Array(slots(config, durable.machine)).fill(null) }
  broadcast(step, prepareOf(step, ballot))
  restartRepeats(step)
}

function prepareOf({ state }: Step, ballot: number): PrepareMessage {
  return { type: 'prepare', ballot, decided: state.durable.machine.applied }
}

/** Others wait for this participant, which was stopped in its prepare phase: it begins a new one. */
export function resumeCandidacy(step: Step): void {
  const { soft } = step.state
  const isExpected = coordinatorOf(step) === step.context.config.self
  if (isExpected && !isCoordinator(step) && soft.candidacy === null) startBallot(step)
}

export function repeatPrepare(step: Step): void {
  const { candidacy } = step.state.soft
  if (candidacy === null) return
  for (const peer of peersOf(step))
    if ((candidacy.promises[peer] ?? null) === null) send(step, peer, prepareOf(step, candidacy.ballot))
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
  return { type: 'promise', ballot, decided, digest, entries: undecided(durable), ...ofConfig(durable) }
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
  const { ballot, promises } = soft.candidacy
  promises[step.context.config.self] = promiseOf(step)
  const here = membersOf(step).filter(member => (promises[member] ?? null) !== null)
  if (here.length < majorityOf(step)) return
  const furthest = Math.max(...here.map(member => promises[member]!.decided))
  if (furthest > durable.machine.applied)
    return askForCatchUp(step, here.find(member => promises[member]!.decided === furthest)!)
  becomeCoordinator(
    step,
    ballot,
    here.map(member => promises[member]!),
  )
}

function becomeCoordinator(step: Step, ballot: number, promises: readonly PromiseMessage[]): void {
  const { durable, soft } = step.state
  soft.candidacy = null
  const preparedFor = configIn(durable.machine)
  durable.acceptor = { promised: ballot, prepared: ballot, ...(preparedFor > 0 && { preparedFor }) }
  save(step, 'acceptor', durable.acceptor)
  soft.acknowledged.ballot = ballot
  soft.acknowledged.through.fill(0)
  soft.acknowledged.claims.fill(null)
  soft.sent.fill(durable.machine.applied)
  soft.told = durable.machine.applied
  // Each log has no gaps, so neither has their union. What was accepted for other members is not decided
  // (rule P7).
  const accepted = new Map<number, Entry>()
  const ofSet = promises.filter(({ config = 0 }) => config === preparedFor)
  for (const entry of ofSet.flatMap(({ entries }) => entries)) {
    const other = accepted.get(entry.position)
    if (other === undefined || other.ballot < entry.ballot) accepted.set(entry.position, entry)
  }
  for (let position = durable.machine.applied + 1; accepted.has(position); position++) {
    const { command } = accepted.get(position)!
    accept(step, position, ballot, command)
    if (command.kind === 'members') break
  }
  if (lengthOf(durable) > durable.machine.applied) step.hasProposals = true
  concludeDecided(step)
}
