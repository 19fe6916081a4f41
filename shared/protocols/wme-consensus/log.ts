/**
 * What this participant has promised and accepted: one acceptor for all instances. Instances are accepted in order, so the
 * log has no gaps; what was accepted in an old ballot stays until a later ballot proposes something for its place.
 */
import type { ParticipantId } from '../protocol.ts'
import type { Command } from './commands.ts'
import type { Durable, Entry } from './state.ts'
import { assert, forget, type Step, save } from './step.ts'

// ---------------------------------------------------------------- ballots

/** The number of a ballot's coordinator is its last digit, so that no two have the same ballot. */
const BALLOT_DIGIT = 256

export const coordinatorOf = (ballot: number): ParticipantId => ballot % BALLOT_DIGIT

/** 0 until the first coordinator is replaced. */
export const roundOf = (ballot: number): number => Math.floor(ballot / BALLOT_DIGIT)

export const ballotAbove = (ballot: number, coordinator: ParticipantId): number =>
  (roundOf(ballot) + 1) * BALLOT_DIGIT + coordinator

/** The first ballot needs no prepare phase: nothing can have been accepted before it. */
export const firstBallot = (firstOwner: ParticipantId): number => {
  assert(firstOwner < BALLOT_DIGIT, 'the ballots have no room for so many participants')
  return firstOwner
}

/** To promise more than one was asked for is always safe; the coordinator of the highest ballot is the one to wait for. */
export function promise(step: Step, ballot: number): void {
  const { durable, soft } = step.state
  if (ballot <= durable.acceptor.promised) return
  durable.acceptor = { ...durable.acceptor, promised: ballot }
  save(step, 'acceptor', durable.acceptor)
  if (soft.candidacy !== null && soft.candidacy.ballot < ballot) soft.candidacy = null
}

/** May propose: a majority has promised this ballot, and nobody is known to have a higher one. */
export function isCoordinator(step: Step): boolean {
  const { promised, prepared } = step.state.durable.acceptor
  return promised === prepared
}

// ---------------------------------------------------------------- instances

/** Where the kept log begins: everything up to here is decided, and dropped. */
export const baseOf = ({ log, machine }: Durable): number => (log[0]?.position ?? machine.applied + 1) - 1

export const lengthOf = (durable: Durable): number => baseOf(durable) + durable.log.length

export const entryAt = (durable: Durable, position: number): Entry | undefined =>
  durable.log[position - baseOf(durable) - 1]

/** Accepted and not known to be decided. */
export function undecided(durable: Durable): Entry[] {
  return durable.log.slice(durable.machine.applied - baseOf(durable))
}

/** The commands after `position`, at most `most` of them. */
export function commandsAfter(durable: Durable, position: number, most: number): Command[] {
  const from = position - baseOf(durable)
  assert(from >= 0, 'instances were asked for that the log no longer has')
  return durable.log.slice(from, from + most).map(entry => entry.command)
}

const logKey = (position: number): string => `log/${position}`

/** Accepts a command in the next instance, or in one that is not decided yet. */
export function accept(step: Step, entry: Entry): void {
  const { durable } = step.state
  assert(entry.position > durable.machine.applied, 'what is decided stays as it is')
  assert(entry.position <= lengthOf(durable) + 1, 'instances are accepted in order')
  durable.log[entry.position - baseOf(durable) - 1] = entry
  save(step, logKey(entry.position), entry)
}

/** Up to here everything is decided, or accepted in this ballot. */
export function acceptedThrough(durable: Durable, ballot: number): number {
  let position = durable.machine.applied
  while (entryAt(durable, position + 1)?.ballot === ballot) position++
  return position
}

// ---------------------------------------------------------------- truncation

/** Keeps the last `logKept` decided instances for those who are behind; who needs more gets a snapshot. */
export function truncate(step: Step): void {
  const { durable } = step.state
  const { logKept } = step.context.config.limits
  const excess = durable.machine.applied - logKept - baseOf(durable)
  if (excess >= Math.max(4, Math.ceil(logKept / 4))) drop(step, excess)
}

/** Drops the decided instances up to `position`, which a snapshot has replaced. */
export function dropThrough(step: Step, position: number): void {
  const { durable } = step.state
  drop(step, Math.min(position - baseOf(durable), durable.log.length))
}

function drop(step: Step, count: number): void {
  for (const { position } of step.state.durable.log.splice(0, count)) forget(step, logKey(position))
}
