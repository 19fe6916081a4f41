/**
 * The ledger of a process, as a pure state machine: in which locks the process has voted, and whether it
 * remembers that.
 *
 * Founding. Nobody votes before all processes were up together once. The first registrar collects a nonce of
 * every process that is new (`gather`, `blank`) and founds with all of them. A process draws a new nonce for
 * each collector. So a founding that an earlier life of the first registrar had begun can no longer be joined
 * by a process that has answered the present one: there is never more than one founding that anybody has
 * joined. A process votes once enough others have joined the founding (`note`, `noted`): if it is wiped after
 * that, another process still has a founding without its new nonce, and it cannot be taken for new.
 *
 * Healing. A process that finds a founding without its nonce was wiped. It takes the next incarnation, has a
 * majority not counting itself note that, and only then gets their indices: every lock that any of them names
 * is lost to it. So either a lock was listed before the new incarnation was noted, or all votes that are
 * given there afterwards say that it was replaced (G8).
 */
import type { Json } from '../json.ts'
import type { DurableRecord, ParticipantId } from '../protocols/protocol.ts'
import type { LedgerSight } from './existence.ts'
import { armFinishing, finishSoon, onFinished, onFinishTimer } from './finishing.ts'
import { gather, onBlank, onFounded, onGather, onHello } from './founding.ts'
import { heal, onIndex, onList, onNote, onNoted, surpass } from './healing.ts'
import {
  blankSoft,
  broadcast,
  COLLECTOR,
  describe,
  drawNonce,
  ENTRY,
  isHealed,
  type LedgerState,
  others,
  type Step,
  setEntry,
  setRepeatTimer,
  write,
  writeEntry,
} from './ledger-state.ts'
import type {
  LedgerAnswer,
  LedgerContext,
  LedgerEffect,
  LedgerEntry,
  LedgerHealth,
  LedgerInput,
  LedgerLook,
  LedgerMessage,
  LedgerQuestion,
  LedgerRecord,
} from './ledger-types.ts'

export type { LedgerState } from './ledger-state.ts'

export const ledger = { recover, step, describe, health, look }

function recover(_context: LedgerContext, records: Iterable<readonly [string, Json]>): LedgerState {
  const state: LedgerState = { record: null, entries: new Map(), unfinishedLocks: 0, soft: blankSoft('') }
  for (const [key, value] of records) {
    if (key === 'ledger') state.record = value as unknown as LedgerRecord
    else if (key.startsWith(ENTRY)) setEntry(state, key.slice(ENTRY.length), value as unknown as LedgerEntry)
  }
  return state
}

function health({ record, unfinishedLocks }: LedgerState): LedgerHealth {
  return { healed: record?.status === 'founded' && record.isHealed, unfinishedLocks }
}

/**
 * Whether a participant that has stored this token, or none, has forgotten nothing of this generation. Unlike
 * `ask`, this lists nothing: whoever asks does not vote.
 */
function look({ record, entries }: LedgerState, { lock, generation, token }: LedgerLook): LedgerSight {
  if (record?.status !== 'founded') return { isSure: false, incarnation: 0, known: {} }
  const { incarnation, known, isHealed } = record
  const entry = entries.get(lock)
  const isNew = entry === undefined || Math.max(entry.voted, entry.lost) < generation
  const isListed = entry !== undefined && entry.lost < generation && entry.token === token
  return { isSure: isHealed && (isNew || isListed), incarnation, known }
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
      return onFinished(step, input)
    default:
      return input satisfies never
  }
}

// ---------------------------------------------------------------- start and repeats

function onStart(step: Step, random: string): void {
  const { state } = step
  state.soft = blankSoft(random)
  if (state.record === null)
    write(step, { status: 'blank', nonce: drawNonce(step), collector: null, earlier: [] })
  pursue(step)
  if (isHealed(step)) armFinishing(step)
}

function onRepeat(step: Step): void {
  step.state.soft.attempts++
  pursue(step)
}

/** Repeats whatever has not had its effect, until this process is healed. */
function pursue(step: Step): void {
  const { record } = step.state
  if (record === null || isHealed(step)) return
  if (record.status === 'blank') {
    if (step.context.self === COLLECTOR) gather(step)
    else broadcast(step, { type: 'hello' })
  } else if (record.incarnation === 0) broadcast(step, { type: 'hello' })
  else heal(step, record)
  if (!isHealed(step)) setRepeatTimer(step)
}

// ---------------------------------------------------------------- objects

/** Index before vote (G1): the lock is listed, with the object's token, before the object may vote. */
function onAsk(step: Step, question: LedgerQuestion): void {
  const { lock, generation, token } = question
  surpass(step, question.incarnation)
  const { record, entries } = step.state
  if (record?.status !== 'founded' || !record.isHealed)
    return answer(step, question, 'not-ready', describe(step.context, step.state))
  const entry = entries.get(lock)
  if (entry === undefined && entries.size >= step.context.limits.locks)
    return answer(step, question, 'not-ready', `This process takes part in ${entries.size} locks already.`)
  const { voted, lost, isFinished } = entry ?? { voted: 0, lost: 0 }
  // A question about a generation that is over may only be late. If its object has lost anything, that shows
  // when it asks about the present one.
  if (lost >= generation || voted > generation) return answer(step, question, 'lost')
  if (voted < generation)
    writeEntry(step, lock, { voted: generation, token, lost, ...(isFinished && { isFinished }) })
  else if (entry!.token !== token) {
    writeEntry(step, lock, { voted, token: entry!.token, lost: voted })
    finishSoon(step, lock)
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
  const founded = record?.status === 'founded' ? record : null
  const { incarnation, known } = founded ?? { incarnation: 0, known: {} }
  const isStrict = founded?.founding.isStrict
  const said = { generation, token, verdict, incarnation, known, ...(isStrict && { isStrict }) }
  step.effects.push({ type: 'answer', lock, answer: detail === undefined ? said : { ...said, detail } })
}

// ---------------------------------------------------------------- messages

function onMessage(step: Step, from: ParticipantId, message: LedgerMessage): void {
  if (!others(step).includes(from)) return
  switch (message.type) {
    case 'gather':
      return onGather(step, from, message.collector)
    case 'blank':
      return onBlank(step, from, message)
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
