/**
 * The log of one lock (L1): grants and operations, numbered without gaps across epochs. The paper's `curSN`
 * is its length, `curOwner` and `granted` follow from the grants in it, and `opHist` is the entries after the
 * start of the epoch.
 */
import { canonical } from '../../resource/canonical.ts'
import { ENTRY_WEIGHT, excess, fittingEntries } from '../log-weight.ts'
import { membersIn } from '../members/sets.ts'
import type { ParticipantConfig, ParticipantId } from '../protocol.ts'
import * as running from '../running-digest.ts'
import type { Derived, Durable, Entry, GrantEntry, OperationEntry, Request, WmeState } from './state.ts'
import { assert, forget, type Step, save, saveLater, send } from './step.ts'

/** The paper's curSN. */
export const lengthOf = (durable: Durable): number => durable.base.sequence + durable.log.length

export const entryAt = (durable: Durable, sequence: number): Entry | undefined =>
  durable.log[sequence - durable.base.sequence - 1]

/** All entries after `sequence`, or the first `most` of them. */
export function entriesAfter(durable: Durable, sequence: number, most = durable.log.length): Entry[] {
  const from = sequence - durable.base.sequence
  assert(from >= 0, 'entries were asked for that the log no longer has')
  return durable.log.slice(from, from + most)
}

/** The entries after `sequence` that fit one message. */
export function entriesForMessage(step: Step, sequence: number): Entry[] {
  const { durable } = step.state
  return fittingEntries(entriesAfter(durable, sequence), weightOf, step.context.config.limits)
}

/**
 * INVOKE: the entries after `after`, as many as fit one message, and what is committed. Returns up to where
 * they reach.
 */
export function sendEntries(step: Step, peer: ParticipantId, after: number): number {
  const { durable, soft } = step.state
  const previous = Math.max(after, durable.base.sequence)
  const entries = entriesForMessage(step, previous)
  send(step, peer, {
    type: 'invoke',
    epoch: durable.epoch.epoch,
    previous,
    digest: digestThrough(durable, previous),
    entries,
    committed: soft.committed,
  })
  return previous + entries.length
}

/** What an entry weighs; it was weighed when it was issued. */
export const weightOf = (entry: Entry): number =>
  ENTRY_WEIGHT + (entry.kind === 'operation' ? entry.opId.length + entry.weight : 0)

// ---------------------------------------------------------------- the running digest

/**
 * The digest of the log up to `sequence`; `undefined` if this participant does not have that place yet, or no
 * longer.
 */
function digestAt(durable: Durable, sequence: number): string | undefined {
  return sequence === durable.base.sequence ? durable.base.digest : entryAt(durable, sequence)?.digest
}

/** The digest of the log up to a place that is here. */
export function digestThrough(durable: Durable, sequence: number): string {
  const digest = digestAt(durable, sequence)
  assert(digest !== undefined, 'a digest was asked for of a place that is not in the log')
  return digest
}

/** Another participant of the same epoch has this digest there: what both hold must be the same (L6). */
export function assertSameLog(durable: Durable, sequence: number, digest: string): void {
  running.assertSameLog(digestAt(durable, sequence), digest, sequence)
}

/** The digest of the log that ends with this entry. */
export function digestOf(before: string, entry: NewEntry & Stamp): string {
  const { sequence, epoch, by } = entry
  const what =
    entry.kind === 'grant'
      ? `grant ${entry.to} ${entry.requestId}`
      : `operation ${entry.fence} ${canonical(entry.opId)} ${canonical(entry.operation)}`
  return running.digestAfter(before, `${sequence} ${epoch} ${by} ${what}`)
}

// ---------------------------------------------------------------- what the log says

/**
 * Who has the token after the entry at `sequence`, according to the log (L2). `sequence` is not below the
 * start of the kept log.
 */
export function ownerAfter(durable: Durable, sequence: number): ParticipantId {
  const { base, epoch } = durable
  for (let at = sequence; at > base.sequence && at > epoch.start; at--) {
    const entry = entryAt(durable, at)!
    if (entry.kind === 'grant') return entry.to
  }
  return base.sequence > epoch.start ? base.owner : epoch.owner
}

/** The last request of each participant that was granted, after the entry at `sequence`. */
export function grantedAfter(durable: Durable, sequence: number): number[] {
  const granted = [...durable.base.granted]
  for (let at = durable.base.sequence + 1; at <= sequence; at++) note(granted, entryAt(durable, at)!)
  return granted
}

function note(granted: number[], entry: Entry): void {
  if (entry.kind !== 'grant') return
  // A participant that came later has a higher number.
  while (granted.length <= entry.to) granted.push(0)
  granted[entry.to] = Math.max(granted[entry.to]!, entry.requestId)
}

/** Computes everything that the log says anew; needed when entries were taken away or the epoch changed. */
export function derive(config: ParticipantConfig, state: WmeState): void {
  const length = lengthOf(state.durable)
  state.derived = {
    members: membersIn(config, state.durable.epoch),
    owner: ownerAfter(state.durable, length),
    granted: grantedAfter(state.durable, length),
    logWeight: 0,
    lastNews: 0,
    lastHandover: 0,
  }
  for (const entry of state.durable.log) count(state.derived, entry)
  dropGrantedRequests(state)
}

function count(derived: Derived, entry: Entry): void {
  derived.logWeight += weightOf(entry)
  const isHandover = entry.kind === 'grant' && entry.to !== entry.by
  if (isHandover) derived.lastHandover = entry.sequence
  if (isHandover || entry.kind === 'operation') derived.lastNews = entry.sequence
}

/** The last request of this participant that was granted. */
export const grantedTo = ({ derived }: WmeState, participant: ParticipantId): number =>
  derived.granted[participant] ?? 0

function dropGrantedRequests(state: WmeState): void {
  const { soft } = state
  const isGranted = ({ participant, requestId }: Request) => requestId <= grantedTo(state, participant)
  if (soft.requests.some(isGranted)) soft.requests = soft.requests.filter(request => !isGranted(request))
}

export const logKey = (sequence: number): string => `log/${sequence}`

/**
 * Takes the next entry, which another participant wrote or which was decided. It says which log it follows.
 */
export function push(step: Step, entry: Entry): void {
  const { durable } = step.state
  const length = lengthOf(durable)
  assert(entry.sequence === length + 1, 'an entry leaves a gap in the log')
  running.assertSameLog(digestOf(digestThrough(durable, length), entry), entry.digest, entry.sequence)
  add(step, entry)
}

function add(step: Step, entry: Entry): void {
  const { durable, derived } = step.state
  durable.log.push(entry)
  count(derived, entry)
  save(step, logKey(entry.sequence), entry)
  if (entry.kind === 'grant') {
    derived.owner = entry.to
    note(derived.granted, entry)
    dropGrantedRequests(step.state)
  }
}

/** Takes away all entries after `sequence`: no majority held them, and the decision does not contain them. */
export function rollBack(step: Step, sequence: number): void {
  const { durable, derived, soft } = step.state
  assert(sequence >= soft.committed, 'a committed entry would be rolled back')
  while (lengthOf(durable) > sequence) {
    const entry = durable.log.pop()!
    derived.logWeight -= weightOf(entry)
    forget(step, logKey(entry.sequence))
  }
}

// ---------------------------------------------------------------- appending, as the owner

type Stamp = Pick<Entry, 'sequence' | 'epoch' | 'by'>

type NewEntry = Omit<GrantEntry, keyof Stamp | 'digest'> | Omit<OperationEntry, keyof Stamp | 'digest'>

/**
 * The owner may run only so far ahead of what it knows to be committed; the fences rely on it. This bounds
 * the weight of what is not committed, too: at most one operation is under way, and all else are grants.
 */
export function hasRoom(step: Step): boolean {
  const { durable, soft } = step.state
  return lengthOf(durable) - soft.committed < step.context.config.limits.uncommitted
}

/** Only the owner appends, and never in a sealed epoch (L3). The entry leaves at the end of the step. */
export function append(step: Step, entry: NewEntry): Entry {
  const { durable, derived } = step.state
  const { self } = step.context.config
  assert(derived.owner === self, 'only the owner appends')
  assert(!durable.epoch.sealed, 'nothing is appended after sealing')
  const length = lengthOf(durable)
  const stamped = { ...entry, sequence: length + 1, epoch: durable.epoch.epoch, by: self }
  const appended: Entry = { ...stamped, digest: digestOf(digestThrough(durable, length), stamped) }
  add(step, appended)
  step.appended = true
  return appended
}

// ---------------------------------------------------------------- truncation

/**
 * Keeps the last committed entries for participants that are behind, `logKept` of them and no more than weigh
 * `logWeight`, and drops the rest in runs. A participant that needs more gets a snapshot. This takes no
 * message, and it bounds the log even while a participant is gone; waiting until every participant has an
 * entry (the stability of the paper's section 4) would not.
 */
export function truncate(step: Step): void {
  const { durable, derived, soft } = step.state
  const committed = soft.committed - durable.base.sequence
  const dropped = excess(durable.log, committed, weightOf, derived.logWeight, step.context.config.limits)
  if (dropped === 0) return
  const cut = durable.base.sequence + dropped
  const base = {
    sequence: cut,
    owner: ownerAfter(durable, cut),
    granted: grantedAfter(durable, cut),
    digest: digestThrough(durable, cut),
  }
  for (const entry of durable.log.splice(0, dropped)) {
    derived.logWeight -= weightOf(entry)
    saveLater(step, logKey(entry.sequence), null)
  }
  if (derived.lastNews <= cut) derived.lastNews = 0
  if (derived.lastHandover <= cut) derived.lastHandover = 0
  durable.base = base
  saveLater(step, 'base', base)
  saveProgress(step)
}

/** All operations up to `committed` are applied; this makes the number durable. */
export function saveProgress(step: Step): void {
  const { durable, soft } = step.state
  durable.progress = { applied: soft.committed, droppedThrough: durable.replica.droppedThrough }
  saveLater(step, 'progress', durable.progress)
}
