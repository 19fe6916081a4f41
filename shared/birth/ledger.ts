/**
 * The ledger of a process, as a pure state machine: in which locks the process has voted, and whether it remembers that.
 *
 * Founding. Nobody votes before all processes were up together once. The first registrar collects a nonce of everyone that is new
 * (`gather`, `blank`) and founds with all of them. A process draws a new nonce for each collector, so a founding that an earlier life
 * of the first registrar had begun can no longer be joined by anybody who has answered the present one: there is never more than one
 * that somebody has joined. A process votes once enough others have joined the founding (`note`, `noted`): if it is
 * wiped after that, somebody still has a founding without its new nonce, and it cannot be taken for new.
 *
 * Healing. A process that finds a founding without its nonce was wiped. It takes the next incarnation, has a majority not counting
 * itself note that, and only then gets their indices: all locks that anybody names are lost to it. So either a lock was listed
 * before the new incarnation was noted, or all votes that are given there afterwards say that it was replaced (rule 8).
 */
import type { Json } from '../json.ts'
import type { DurableRecord, ParticipantId } from '../protocols/protocol.ts'
import { majority } from '../protocols/quorum.ts'
import { raised } from './incarnations.ts'
import type {
  FoundedRecord,
  Founding,
  LedgerAnswer,
  LedgerContext,
  LedgerEffect,
  LedgerEntry,
  LedgerInput,
  LedgerMessage,
  LedgerQuestion,
  LedgerRecord,
} from './ledger-types.ts'
import type { Incarnations } from './messages.ts'

export interface LedgerState {
  record: LedgerRecord | null
  readonly entries: Map<string, LedgerEntry>
  soft: Soft
}

interface Soft {
  random: string
  nonces: number
  /** Of those that are new, by participant; only the first registrar collects. */
  gathered: Map<ParticipantId, string>
  /** The own incarnation as those know it that are sure, for a process that was replaced. */
  numbers: Map<ParticipantId, number>
  /** How far the index of each that has noted this incarnation was read; `null`: to its end. */
  noted: Map<ParticipantId, string | null>
  /** The names of all locks in order, while somebody reads the index. */
  names: string[]
  unfinished: string[]
  attempts: number
}

interface Step {
  readonly context: LedgerContext
  readonly state: LedgerState
  readonly records: Map<string, Json>
  readonly effects: LedgerEffect[]
}

/** The registrar that founds. */
const COLLECTOR = 1
const ENTRY = 'lock/'
const MAX_DOUBLINGS = 5

export const ledger = { recover, step, describe }

function recover(_context: LedgerContext, records: Iterable<readonly [string, Json]>): LedgerState {
  const state: LedgerState = { record: null, entries: new Map(), soft: blankSoft('') }
  for (const [key, value] of records) {
    if (key === 'ledger') state.record = value as unknown as LedgerRecord
    else if (key.startsWith(ENTRY))
      state.entries.set(key.slice(ENTRY.length), value as unknown as LedgerEntry)
  }
  return state
}

function blankSoft(random: string): Soft {
  return {
    random,
    nonces: 0,
    gathered: new Map(),
    numbers: new Map(),
    noted: new Map(),
    names: [],
    unfinished: [],
    attempts: 0,
  }
}

function step(context: LedgerContext, state: LedgerState, input: LedgerInput): LedgerEffect[] {
  const step: Step = { context, state, records: new Map(), effects: [] }
  dispatch(step, input)
  if (step.records.size === 0) return step.effects
  const records: DurableRecord[] = [...step.records].map(([key, value]) => ({ key, value }))
  return [{ type: 'save', records }, ...step.effects]
}

function dispatch(step: Step, input: LedgerInput): void {
  switch (input.type) {
    case 'start':
      return onStart(step, input.random)
    case 'message':
      return onMessage(step, input.from, input.message)
    case 'timer':
      return input.timer === 'repeat' ? onRepeat(step) : onFinishTimer(step)
    case 'ask':
      return onAsk(step, input.question)
    case 'finished':
      return onFinished(step, input.lock, input.generation)
    default:
      return input satisfies never
  }
}

// ---------------------------------------------------------------- start and repeats

function onStart(step: Step, random: string): void {
  const { state } = step
  state.soft = blankSoft(random)
  if (state.record === null) write(step, { status: 'blank', nonce: drawNonce(step), collector: null })
  pursue(step)
  if (isHealed(step)) armFinishing(step)
}

function onRepeat(step: Step): void {
  step.state.soft.attempts++
  pursue(step)
}

/** Says whatever has not had its effect, again, until this process is healed. */
function pursue(step: Step): void {
  const { record } = step.state
  if (record === null || isHealed(step)) return
  const { soft } = step.state
  const { repeatMs, repeatMaxMs } = step.context.timing
  const afterMs = Math.min(repeatMs * 2 ** Math.min(soft.attempts, MAX_DOUBLINGS), repeatMaxMs)
  if (record.status === 'blank') {
    if (step.context.self === COLLECTOR) gather(step)
    else broadcast(step, { type: 'hello' })
  } else if (record.incarnation === 0) broadcast(step, { type: 'hello' })
  else heal(step, record)
  if (!isHealed(step)) step.effects.push({ type: 'set-timer', timer: 'repeat', afterMs })
}

// ---------------------------------------------------------------- founding

function gather(step: Step): void {
  const { record } = step.state
  if (record?.status !== 'blank') return
  broadcast(step, { type: 'gather', collector: record.nonce })
  foundIfComplete(step)
}

function onGather(step: Step, from: ParticipantId, collector: string): void {
  const { record } = step.state
  if (record === null) return
  if (record.status === 'founded') return sendFounded(step, from)
  if (from !== COLLECTOR) return
  if (record.collector !== collector) write(step, { status: 'blank', nonce: drawNonce(step), collector })
  const { nonce } = step.state.record as LedgerRecord
  send(step, from, { type: 'blank', collector, nonce })
}

function onBlank(step: Step, from: ParticipantId, collector: string, nonce: string): void {
  const { record, soft } = step.state
  if (record?.status !== 'blank' || record.nonce !== collector) return
  soft.gathered.set(from, nonce)
  foundIfComplete(step)
}

function foundIfComplete(step: Step): void {
  const { record, soft } = step.state
  const { registrars } = step.context
  if (record?.status !== 'blank' || soft.gathered.size < registrars - 1) return
  const nonces = [record.nonce]
  for (let id = 2; id <= registrars; id++) nonces.push(soft.gathered.get(id)!)
  join(step, { collector: record.nonce, nonces })
}

/** A process that is new joins; one that was wiped meanwhile finds that it is not among those that founded. */
function onFounded(
  step: Step,
  from: ParticipantId,
  founding: Founding,
  known: Incarnations,
  isSure: boolean,
): void {
  const { record } = step.state
  if (record === null || isHealed(step)) return
  if (record.status === 'blank') join(step, founding)
  else if (record.incarnation === 0 && isSure && record.founding.collector !== founding.collector)
    join(step, founding)
  const joined = step.state.record as FoundedRecord
  if (!isSure || joined.incarnation !== 0 || joined.founding.collector !== founding.collector) return
  takeNumber(step, from, known)
}

function join(step: Step, founding: Founding): void {
  const { record, soft } = step.state
  const { nonce } = record as LedgerRecord
  const isNew = founding.nonces[step.context.self - 1] === nonce
  soft.numbers.clear()
  write(step, {
    status: 'founded',
    founding,
    nonce,
    incarnation: isNew ? 1 : 0,
    isHealed: false,
    known: {},
  })
  if (!isNew) return broadcast(step, { type: 'hello' })
  if (step.context.self === COLLECTOR) for (const peer of others(step)) sendFounded(step, peer)
  heal(step, step.state.record as FoundedRecord)
}

// ---------------------------------------------------------------- healing

/** A majority of the registrars not counting this one, or all others if they are not so many. */
const needed = ({ registrars }: LedgerContext): number => Math.min(majority(registrars), registrars - 1)

function takeNumber(step: Step, from: ParticipantId, known: Incarnations): void {
  const { soft } = step.state
  const record = step.state.record as FoundedRecord
  soft.numbers.set(from, known[step.context.self] ?? 1)
  if (soft.numbers.size < needed(step.context)) return
  const incarnation = Math.max(...soft.numbers.values()) + 1
  write(step, { ...record, incarnation })
  heal(step, step.state.record as FoundedRecord)
}

function heal(step: Step, record: FoundedRecord): void {
  const { soft } = step.state
  const { nonce, incarnation } = record
  for (const peer of others(step)) {
    const after = soft.noted.get(peer)
    if (after === undefined) sendNote(step, peer)
    else if (after !== null) send(step, peer, { type: 'list', nonce, incarnation, after })
  }
  healIfComplete(step)
}

function sendNote(step: Step, to: ParticipantId): void {
  const { founding, nonce, incarnation } = step.state.record as FoundedRecord
  send(step, to, { type: 'note', collector: founding.collector, nonce, incarnation })
}

function onNote(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'note' }): void {
  const { record } = step.state
  if (record?.status !== 'founded') return send(step, from, { type: 'hello' })
  if (record.founding.collector !== message.collector) return sendFounded(step, from)
  if (!isSure(record)) return
  const { nonce, incarnation } = message
  const known = raised(record.known, { [from]: incarnation })
  if (known !== record.known) write(step, { ...record, known })
  send(step, from, { type: 'noted', nonce, incarnation, known })
  // Now it has joined, and can note this one, too.
  if (!isHealed(step) && !step.state.soft.noted.has(from)) sendNote(step, from)
}

function onNoted(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'noted' }): void {
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
 * A life of this process that was over before it healed may have taken a higher number, which only some know. They would take
 * this life for an older one.
 */
function surpass(step: Step, incarnation: number): boolean {
  const { record, soft } = step.state
  if (record?.status !== 'founded' || record.incarnation === 0 || incarnation <= record.incarnation)
    return false
  soft.noted.clear()
  soft.attempts = 0
  write(step, { ...record, incarnation: incarnation + 1, isHealed: false })
  pursue(step)
  return true
}

/** Only a process that has noted the incarnation answers: what it lists later says so in its votes. */
function onList(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'list' }): void {
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

function firstAfter(names: readonly string[], after: string): number {
  let [low, high] = [0, names.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (names[middle]! <= after) low = middle + 1
    else high = middle
  }
  return low
}

function onIndex(step: Step, from: ParticipantId, message: LedgerMessage & { type: 'index' }): void {
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

/** The highest generation that anybody names counts. */
function lose(step: Step, lock: string, generation: number): void {
  const entry = step.state.entries.get(lock) ?? { voted: 0, token: null, lost: 0 }
  if (entry.lost >= generation) return
  writeEntry(step, lock, { voted: entry.voted, token: entry.token, lost: generation })
}

function healIfComplete(step: Step): void {
  const { record, soft } = step.state
  if (record?.status !== 'founded' || record.isHealed || record.incarnation === 0) return
  const complete = [...soft.noted.values()].filter(after => after === null).length
  if (complete < needed(step.context)) return
  write(step, { ...record, isHealed: true })
  armFinishing(step)
}

// ---------------------------------------------------------------- objects

/** Index before vote (rule 1): the lock is listed, with the object's token, before the object may vote. */
function onAsk(step: Step, question: LedgerQuestion): void {
  const { lock, generation, token } = question
  surpass(step, question.incarnation)
  const { record, entries } = step.state
  if (record?.status !== 'founded' || !record.isHealed)
    return answer(step, question, 'not-ready', describe(step.context, step.state))
  const entry = entries.get(lock)
  if (entry === undefined && entries.size >= step.context.limits.locks)
    return answer(step, question, 'not-ready', `This process takes part in ${entries.size} locks already.`)
  const { voted, lost } = entry ?? { voted: 0, lost: 0 }
  if (lost >= generation) return answer(step, question, 'lost')
  if (voted < generation) writeEntry(step, lock, { voted: generation, token, lost })
  else if (entry!.token !== token) {
    writeEntry(step, lock, { ...entry!, lost: voted })
    return answer(step, question, 'lost')
  }
  answer(step, question, 'entitled')
}

function answer(
  step: Step,
  { lock, generation, token }: LedgerQuestion,
  verdict: LedgerAnswer['verdict'],
  detail?: string,
): void {
  const { record } = step.state
  const { incarnation, known } = record?.status === 'founded' ? record : { incarnation: 0, known: {} }
  const said = { generation, token, verdict, incarnation, known }
  step.effects.push({ type: 'answer', lock, answer: detail === undefined ? said : { ...said, detail } })
}

// ---------------------------------------------------------------- finishing, in the background

function armFinishing(step: Step): void {
  const { entries, soft } = step.state
  soft.unfinished = []
  for (const [lock, { lost, isFinished }] of entries) if (lost > 0 && !isFinished) soft.unfinished.push(lock)
  if (soft.unfinished.length > 0) setFinishTimer(step, step.context.timing.finishMs)
}

function setFinishTimer(step: Step, afterMs: number): void {
  step.effects.push({ type: 'set-timer', timer: 'finish', afterMs })
}

/** One lock at a time. Those that could not be finished are tried again later. */
function onFinishTimer(step: Step): void {
  const { entries, soft, record } = step.state
  if (record?.status !== 'founded' || !record.isHealed) return
  const lock = soft.unfinished.shift()
  if (lock === undefined) return armFinishing(step)
  const isOver = entries.get(lock)?.isFinished === true
  if (!isOver) step.effects.push({ type: 'finish', lock, incarnation: record.incarnation })
  const { finishMs, finishAgainMs } = step.context.timing
  setFinishTimer(step, soft.unfinished.length > 0 ? finishMs : finishAgainMs)
}

function onFinished(step: Step, lock: string, generation: number): void {
  const entry = step.state.entries.get(lock)
  if (entry === undefined || entry.isFinished || generation < entry.lost) return
  writeEntry(step, lock, { ...entry, isFinished: true })
}

// ---------------------------------------------------------------- messages

function onMessage(step: Step, from: ParticipantId, message: LedgerMessage): void {
  if (!others(step).includes(from)) return
  switch (message.type) {
    case 'gather':
      return onGather(step, from, message.collector)
    case 'blank':
      return onBlank(step, from, message.collector, message.nonce)
    case 'hello':
      return onHello(step, from)
    case 'founded':
      return onFounded(step, from, message.founding, message.known, message.isSure)
    case 'note':
      return onNote(step, from, message)
    case 'noted':
      return onNoted(step, from, message)
    case 'list':
      return onList(step, from, message)
    case 'index':
      return onIndex(step, from, message)
    default:
      return message satisfies never
  }
}

function onHello(step: Step, from: ParticipantId): void {
  const { record } = step.state
  if (record?.status === 'founded') sendFounded(step, from)
  else if (record !== null && step.context.self === COLLECTOR)
    send(step, from, { type: 'gather', collector: record.nonce })
}

function sendFounded(step: Step, to: ParticipantId): void {
  const record = step.state.record as FoundedRecord
  const { founding, known } = record
  send(step, to, { type: 'founded', founding, known, isSure: isSure(record) })
}

// ---------------------------------------------------------------- helpers

/** A process that has forgotten nothing: one that was never replaced, or has healed. */
const isSure = (record: FoundedRecord): boolean => record.isHealed || record.incarnation === 1

const isHealed = ({ state: { record } }: Step): boolean => record?.status === 'founded' && record.isHealed

/** Not an answer to an earlier life of this process. */
function isMine({ state: { record } }: Step, message: { nonce: string; incarnation: number }): boolean {
  return (
    record?.status === 'founded' &&
    record.nonce === message.nonce &&
    record.incarnation === message.incarnation
  )
}

/** Unique: no two starts have the same random text. */
function drawNonce({ state: { soft } }: Step): string {
  soft.nonces++
  return `${soft.random}.${soft.nonces}`
}

function write(step: Step, record: LedgerRecord): void {
  step.state.record = record
  step.records.set('ledger', record as unknown as Json)
}

function writeEntry(step: Step, lock: string, entry: LedgerEntry): void {
  step.state.entries.set(lock, entry)
  step.records.set(ENTRY + lock, entry as unknown as Json)
}

function others({ context: { self, registrars } }: Step): ParticipantId[] {
  const peers: ParticipantId[] = []
  for (let peer = 1; peer <= registrars; peer++) if (peer !== self) peers.push(peer)
  return peers
}

function send(step: Step, to: ParticipantId, message: LedgerMessage): void {
  step.effects.push({ type: 'send', to, message })
}

function broadcast(step: Step, message: LedgerMessage): void {
  for (const peer of others(step)) send(step, peer, message)
}

/** In words, what this process waits for; empty if it takes part. */
function describe({ registrars, self }: LedgerContext, { record, soft }: LedgerState): string {
  if (record?.status === 'founded' && record.isHealed) return ''
  if (record?.status === 'founded') {
    return record.incarnation === 1
      ? `Process ${self} waits for the others to begin.`
      : `Process ${self} has lost its storage, and is learning from the others what it had.`
  }
  const missing = self === COLLECTOR ? registrars - 1 - soft.gathered.size : null
  return `This deployment begins once all of its ${registrars} processes have been up together${missing === null ? '' : `; ${missing} are missing`}.`
}
