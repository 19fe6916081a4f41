/**
 * What this participant has promised and accepted: one acceptor for all instances. Instances are accepted in
 * order, so the log has no gaps. What was accepted in an old ballot stays until a later ballot proposes
 * something for its place.
 */
import type { Json } from '../../json.ts'
import { canonical } from '../../resource/canonical.ts'
import { ENTRY_WEIGHT, excess, fittingEntries } from '../log-weight.ts'
import { configIn } from '../members/sets.ts'
import * as running from '../running-digest.ts'
import type { Command } from './commands.ts'
import type { Durable, Entry } from './state.ts'
import { assert, forget, type Step, save } from './step.ts'

// ---------------------------------------------------------------- promises

/**
 * Promising more than was asked for is always safe. The coordinator of the highest ballot is the one to wait
 * for.
 */
export function promise(step: Step, ballot: number): void {
  const { durable, soft } = step.state
  if (ballot <= durable.acceptor.promised) return
  durable.acceptor = { ...durable.acceptor, promised: ballot }
  save(step, 'acceptor', durable.acceptor)
  if (soft.candidacy !== null && soft.candidacy.ballot < ballot) soft.candidacy = null
}

/**
 * Whether this participant may propose: a majority of the present members has promised this ballot (rule P6),
 * and no higher one is known here.
 */
export function isCoordinator(step: Step): boolean {
  const { acceptor, machine } = step.state.durable
  const { promised, prepared, preparedFor = 0 } = acceptor
  return promised === prepared && preparedFor === configIn(machine)
}

/** A record or a message names the set only if it is not the first one. */
export function ofConfig({ machine }: Durable): { readonly config?: number } {
  const config = configIn(machine)
  return config === 0 ? {} : { config }
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

/** What an entry weighs; an operation was weighed when it was issued. */
export function weightOf({ command }: Pick<Entry, 'command'>): number {
  if (command.kind === 'operation') return ENTRY_WEIGHT + command.opId.length + command.weight
  if (command.kind !== 'members') return ENTRY_WEIGHT
  const places = Object.values(command.members)
  return ENTRY_WEIGHT + places.reduce((total, address) => total + ENTRY_WEIGHT + address.length, 0)
}

/**
 * The change of members that is accepted and not decided, if there is one: it is the last entry (rule P7).
 */
export const hasOpenChange = (durable: Durable): boolean =>
  undecided(durable).at(-1)?.command.kind === 'members'

/** The commands after `position` and up to `last` that fit one message. */
export function commandsForMessage(step: Step, position: number, last: number): Command[] {
  const { durable } = step.state
  const from = position - baseOf(durable)
  assert(from >= 0, 'instances were asked for that the log no longer has')
  const entries = durable.log.slice(from, from + last - position)
  return fittingEntries(entries, weightOf, step.context.config.limits).map(entry => entry.command)
}

// ---------------------------------------------------------------- the running digest

/**
 * The digest of the commands up to `position`; `undefined` if this participant does not have that place yet,
 * or no longer.
 */
function digestAt(durable: Durable, position: number): string | undefined {
  const { applied, digest } = durable.machine
  return position === applied ? digest : entryAt(durable, position)?.digest
}

export const digestThrough = (durable: Durable, position: number): string | null =>
  digestAt(durable, position) ?? null

/** The digest at a place that is decided or accepted here. */
export function knownDigest(durable: Durable, position: number): string {
  const digest = digestAt(durable, position)
  assert(digest !== undefined, 'a digest was asked for of a place that is not in the log')
  return digest
}

/**
 * Another participant has this digest there, at a place up to which both have decided, or accepted in the
 * same ballot.
 */
export function assertSameLog(durable: Durable, position: number, digest: string | null): void {
  if (digest !== null) running.assertSameLog(digestAt(durable, position), digest, position)
}

const logKey = (position: number): string => `log/${position}`

/** Accepts a command in the next instance, or in one that is not decided yet. */
export function accept(step: Step, position: number, ballot: number, command: Command): void {
  const { durable } = step.state
  assert(position > durable.machine.applied, 'what is decided stays as it is')
  assert(position <= lengthOf(durable) + 1, 'instances are accepted in order')
  put(step, { position, ballot, command, digest: digestOf(durable, position, command) })
  if (command.kind === 'members') dropAfter(step, position)
  else followAfter(step, position)
}

/**
 * What was accepted after a change of members, in whatever ballot, was accepted for other members, and is not
 * decided (rule P7).
 */
export function dropAfter(step: Step, position: number): void {
  const { durable, soft } = step.state
  for (const entry of durable.log.splice(position - baseOf(durable))) {
    soft.logWeight -= weightOf(entry)
    forget(step, logKey(entry.position))
  }
}

/** What was accepted after this place in an older ballot follows other commands now. */
export function followAfter(step: Step, position: number): void {
  const { durable } = step.state
  for (let next = position + 1; next <= lengthOf(durable); next++) {
    const entry = entryAt(durable, next)!
    const digest = digestOf(durable, next, entry.command)
    if (digest === entry.digest) return
    put(step, { ...entry, digest })
  }
}

/**
 * Each participant computes it for itself, so it must depend on nothing but the commands. A log that is older
 * than digests therefore stays without: participants know different parts of it.
 */
function digestOf(durable: Durable, position: number, command: Command): string {
  const before = knownDigest(durable, position - 1)
  if (before === running.UNDIGESTED) return running.UNDIGESTED
  return running.digestAfter(before, canonical(command as unknown as Json))
}

function put(step: Step, entry: Entry): void {
  const { durable, soft } = step.state
  const replaced = entryAt(durable, entry.position)
  soft.logWeight += weightOf(entry) - (replaced === undefined ? 0 : weightOf(replaced))
  durable.log[entry.position - baseOf(durable) - 1] = entry
  save(step, logKey(entry.position), entry)
}

/** Everything up to here is decided, or accepted in this ballot. */
export function acceptedThrough(durable: Durable, ballot: number): number {
  let position = durable.machine.applied
  while (entryAt(durable, position + 1)?.ballot === ballot) position++
  return position
}

// ---------------------------------------------------------------- truncation

/**
 * Keeps the last decided instances for participants that are behind. A participant that needs more gets a
 * snapshot.
 */
export function truncate(step: Step): void {
  const { durable, soft } = step.state
  const decided = durable.machine.applied - baseOf(durable)
  drop(step, excess(durable.log, decided, weightOf, soft.logWeight, step.context.config.limits))
}

/** Drops the decided instances up to `position`, which a snapshot has replaced. */
export function dropThrough(step: Step, position: number): void {
  const { durable } = step.state
  drop(step, Math.min(position - baseOf(durable), durable.log.length))
}

function drop(step: Step, count: number): void {
  const { durable, soft } = step.state
  if (count === 0) return
  for (const entry of durable.log.splice(0, count)) {
    soft.logWeight -= weightOf(entry)
    forget(step, logKey(entry.position))
  }
}
