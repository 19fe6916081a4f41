/** The state of a ledger, one step of it, and what its parts have in common. */
import type { Json } from '../json.ts'
import type { ParticipantId } from '../protocols/protocol.ts'
import { majority } from '../protocols/quorum.ts'
import type {
  FoundedRecord,
  LedgerContext,
  LedgerEffect,
  LedgerEntry,
  LedgerMessage,
  LedgerRecord,
} from './ledger-types.ts'

export interface LedgerState {
  record: LedgerRecord | null
  readonly entries: Map<string, LedgerEntry>
  /** How many of the entries are unfinished, so that callers that ask often need not count 250,000 locks. */
  unfinishedLocks: number
  soft: Soft
}

export interface Soft {
  random: string
  nonces: number
  /** The nonces of new processes, and what their defaults promise; only the first registrar collects. */
  gathered: Map<ParticipantId, { readonly nonce: string; readonly isStrict: boolean }>
  /** This process's own incarnation as the sure processes know it, for a process that was replaced. */
  numbers: Map<ParticipantId, number>
  /** How far the index of each process that has noted this incarnation was read; `null`: to its end. */
  noted: Map<ParticipantId, string | null>
  /** The names of all locks in order, while a process reads the index. */
  names: string[]
  unfinished: string[]
  /** Those of the unfinished locks that are on their way. */
  finishing: Set<string>
  attempts: number
}

export interface Step {
  readonly context: LedgerContext
  readonly state: LedgerState
  readonly records: Map<string, Json>
  readonly effects: LedgerEffect[]
}

/** The registrar that founds. */
export const COLLECTOR = 1
export const ENTRY = 'lock/'
const MAX_DOUBLINGS = 5

export function blankSoft(random: string): Soft {
  return {
    random,
    nonces: 0,
    gathered: new Map(),
    numbers: new Map(),
    noted: new Map(),
    names: [],
    unfinished: [],
    finishing: new Set(),
    attempts: 0,
  }
}

/** A majority of the registrars not counting this one, or all others if there are not that many. */
export const needed = ({ registrars }: LedgerContext): number =>
  Math.min(majority(registrars), registrars - 1)

// ---------------------------------------------------------------- helpers

/** A process that has forgotten nothing: one that was never replaced, or has healed. */
export const isSure = (record: FoundedRecord): boolean => record.isHealed || record.incarnation === 1

export const isHealed = ({ state: { record } }: Step): boolean =>
  record?.status === 'founded' && record.isHealed

/** Whether this answers the present life of this process, not an earlier one. */
export function isMine(
  { state: { record } }: Step,
  message: { nonce: string; incarnation: number },
): boolean {
  return (
    record?.status === 'founded' &&
    record.nonce === message.nonce &&
    record.incarnation === message.incarnation
  )
}

/** Unique: no two starts have the same random text. */
export function drawNonce({ state: { soft } }: Step): string {
  soft.nonces++
  return `${soft.random}.${soft.nonces}`
}

export function write(step: Step, record: LedgerRecord): void {
  step.state.record = record
  step.records.set('ledger', record as unknown as Json)
}

/** The participant was lost, and has not been taken back. */
export const isUnfinished = ({ lost, isFinished }: LedgerEntry): boolean => lost > 0 && !isFinished

export function setEntry(state: LedgerState, lock: string, entry: LedgerEntry): void {
  const before = state.entries.get(lock)
  if (before !== undefined && isUnfinished(before)) state.unfinishedLocks--
  if (isUnfinished(entry)) state.unfinishedLocks++
  state.entries.set(lock, entry)
}

export function writeEntry(step: Step, lock: string, entry: LedgerEntry): void {
  setEntry(step.state, lock, entry)
  step.records.set(ENTRY + lock, entry as unknown as Json)
}

export function others({ context: { self, registrars } }: Step): ParticipantId[] {
  const peers: ParticipantId[] = []
  for (let peer = 1; peer <= registrars; peer++) if (peer !== self) peers.push(peer)
  return peers
}

export function send(step: Step, to: ParticipantId, message: LedgerMessage): void {
  step.effects.push({ type: 'send', to, message })
}

export function broadcast(step: Step, message: LedgerMessage): void {
  for (const peer of others(step)) send(step, peer, message)
}

export function setRepeatTimer({ context, state, effects }: Step): void {
  const { repeatMs, repeatMaxMs } = context.timing
  const afterMs = Math.min(repeatMs * 2 ** Math.min(state.soft.attempts, MAX_DOUBLINGS), repeatMaxMs)
  effects.push({ type: 'set-timer', timer: 'repeat', afterMs })
}

/** Says in words what this process waits for; empty if it takes part. */
export function describe({ registrars, self }: LedgerContext, { record, soft }: LedgerState): string {
  if (record?.status === 'founded' && record.isHealed) return ''
  if (record?.status === 'founded') {
    return record.incarnation === 1
      ? `Process ${self} waits for the others to begin.`
      : `Process ${self} has lost its storage, and is learning from the others what it had.`
  }
  const missing = self === COLLECTOR ? registrars - 1 - soft.gathered.size : null
  return `This deployment begins once all of its ${registrars} processes have been up together${missing === null ? '' : `; ${missing} are missing`}.`
}

export function sendFounded(step: Step, to: ParticipantId): void {
  const record = step.state.record as FoundedRecord
  const { founding, known } = record
  send(step, to, { type: 'founded', founding, known, isSure: isSure(record) })
}
