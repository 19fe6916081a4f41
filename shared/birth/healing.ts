/**
 * Healing (G11): a process that was replaced takes the next incarnation, has a majority not counting itself
 * note it, and reads their indices. A process in its first incarnation only has itself noted: if it is wiped
 * later, another process knows that it had begun.
 */
import type { ParticipantId } from '../protocols/protocol.ts'
import { armFinishing } from './finishing.ts'
import { raised } from './incarnations.ts'
import {
  isHealed,
  isMine,
  isSure,
  needed,
  others,
  type Step,
  send,
  sendFounded,
  setRepeatTimer,
  write,
  writeEntry,
} from './ledger-state.ts'
import type { FoundedRecord, LedgerEntry, LedgerMessage } from './ledger-types.ts'
import type { Incarnations } from './messages.ts'

export function takeNumber(step: Step, from: ParticipantId, known: Incarnations): void {
  const { soft } = step.state
  const record = step.state.record as FoundedRecord
  soft.numbers.set(from, known[step.context.self] ?? 1)
  if (soft.numbers.size < needed(step.context)) return
  const incarnation = Math.max(...soft.numbers.values()) + 1
  write(step, { ...record, incarnation })
  heal(step, step.state.record as FoundedRecord)
}

export function heal(step: Step, record: FoundedRecord): void {
  const { soft } = step.state
  const { nonce, incarnation } = record
  for (const peer of others(step)) {
    const after = soft.noted.get(peer)
    if (after === undefined) sendNote(step, peer)
    else if (after !== null) send(step, peer, { type: 'list', nonce, incarnation, after })
  }
  healIfComplete(step)
}

export function sendNote(step: Step, to: ParticipantId): void {
  const { founding, nonce, incarnation } = step.state.record as FoundedRecord
  send(step, to, { type: 'note', collector: founding.collector, nonce, incarnation })
}

export function onNote(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'note' }): void {
  const { record } = step.state
  if (record?.status !== 'founded') return send(step, from, { type: 'hello' })
  if (record.founding.collector !== message.collector) return sendFounded(step, from)
  if (!isSure(record)) return
  const { nonce, incarnation } = message
  const known = raised(record.known, { [from]: incarnation })
  if (known !== record.known) write(step, { ...record, known })
  send(step, from, { type: 'noted', nonce, incarnation, known })
  // Now the sender has joined, and can note this process, too.
  if (!isHealed(step) && !step.state.soft.noted.has(from)) sendNote(step, from)
}

export function onNoted(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'noted' }): void {
  const { record, soft } = step.state
  if (!isMine(step, message) || isHealed(step)) return
  const founded = record as FoundedRecord
  const known = raised(founded.known, message.known)
  if (known !== founded.known) write(step, { ...founded, known })
  if (surpass(step, known[step.context.self] ?? 1)) return
  // A process in its first incarnation has forgotten nothing, whatever the others have voted in meanwhile.
  if (founded.incarnation === 1) soft.noted.set(from, null)
  else if (!soft.noted.has(from)) {
    soft.noted.set(from, '')
    send(step, from, { type: 'list', nonce: message.nonce, incarnation: message.incarnation, after: '' })
  }
  healIfComplete(step)
}

/**
 * A life of this process that was over before it healed may have taken a higher number, which only some know.
 * They would take this life for an older one.
 */
export function surpass(step: Step, incarnation: number): boolean {
  const { record, soft } = step.state
  if (record?.status !== 'founded' || record.incarnation === 0 || incarnation <= record.incarnation)
    return false
  soft.noted.clear()
  soft.attempts = 0
  write(step, { ...record, incarnation: incarnation + 1, isHealed: false })
  heal(step, step.state.record as FoundedRecord)
  setRepeatTimer(step)
  return true
}

/** Only a process that has noted the incarnation answers: whatever it lists later says so in its votes. */
export function onList(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'list' }): void {
  const { record, entries, soft } = step.state
  const { nonce, incarnation, after } = message
  if (record?.status !== 'founded' || !isSure(record) || (record.known[from] ?? 1) < incarnation) return
  if (after === '' || soft.names.length === 0) soft.names = [...entries.keys()].sort()
  const begin = after === '' ? 0 : firstAfter(soft.names, after)
  const names = soft.names.slice(begin, begin + step.context.limits.entriesPerPage)
  const isLast = begin + names.length >= soft.names.length
  if (isLast) soft.names = []
  const page = names.map(name => [name, Math.max(entries.get(name)!.voted, entries.get(name)!.lost)] as const)
  send(step, from, { type: 'index', nonce, incarnation, after, entries: page, isLast })
}

export function firstAfter(names: readonly string[], after: string): number {
  let [low, high] = [0, names.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (names[middle]! <= after) low = middle + 1
    else high = middle
  }
  return low
}

export function onIndex(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'index' }): void {
  const { soft } = step.state
  if (!isMine(step, message) || isHealed(step) || soft.noted.get(from) !== message.after) return
  for (const [lock, generation] of message.entries) lose(step, lock, generation)
  const last = message.entries.at(-1)
  soft.noted.set(from, message.isLast || last === undefined ? null : last[0])
  if (!message.isLast && last !== undefined) {
    const { nonce, incarnation } = message
    send(step, from, { type: 'list', nonce, incarnation, after: last[0] })
  }
  healIfComplete(step)
}

/**
 * The highest generation that any process names counts. What was finished in an earlier incarnation must be
 * finished in this one, too.
 */
export function lose(step: Step, lock: string, generation: number): void {
  const { voted, token, lost, isFinished } = step.state.entries.get(lock) ?? UNKNOWN_LOCK
  if (lost >= generation && !isFinished) return
  writeEntry(step, lock, { voted, token, lost: Math.max(lost, generation) })
}

const UNKNOWN_LOCK: LedgerEntry = { voted: 0, token: null, lost: 0 }

export function healIfComplete(step: Step): void {
  const { record, soft } = step.state
  if (record?.status !== 'founded' || record.isHealed || record.incarnation === 0) return
  const complete = [...soft.noted.values()].filter(after => after === null).length
  if (complete < needed(step.context)) return
  write(step, { ...record, isHealed: true })
  armFinishing(step)
}
