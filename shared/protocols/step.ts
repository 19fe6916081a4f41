/**
 * One step under way, and the effects that it collects. Handlers ask for effects in the order of their paper.
 * `takeEffects` puts the save first, so that everything written precedes everything sent.
 */
import type { Json } from '../json.ts'
import { type AnyMessage, formatOf } from './message-format.ts'
import type { Context, DurableRecord, Effect, Emitted, ParticipantId } from './protocol.ts'

/** The timers that are set. They are soft state: timers are lost with the process. */
export type SetTimers<TimerName extends string = string> = { [timer in TimerName]?: true }

export interface StepOf<Message, TimerName extends string = string> {
  readonly context: Context
  readonly now: number
  readonly records: Map<string, Json | null>
  /** Whether all records so far may be written later (W9). */
  mayWait: boolean
  readonly effects: Effect<Message>[]
  readonly timers: SetTimers<TimerName>
}

export function beginStepOf<Message, TimerName extends string>(
  context: Context,
  now: number,
  timers: SetTimers<TimerName>,
): StepOf<Message, TimerName> {
  return { context, now, records: new Map(), mayWait: true, effects: [], timers }
}

export function takeEffects<Message>(
  step: Pick<StepOf<Message>, 'records' | 'mayWait' | 'effects'>,
): Effect<Message>[] {
  if (step.records.size === 0) return step.effects
  const records: DurableRecord[] = []
  for (const [key, value] of step.records) records.push({ key, value })
  const save = step.mayWait
    ? ({ type: 'save', records, mayWait: true } as const)
    : ({ type: 'save', records } as const)
  return [save, ...step.effects]
}

/**
 * Something happened that no interleaving, loss or crash can bring about. It is a defect, and the participant
 * stops rather than spread it.
 */
export class ProtocolDefect extends Error {}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ProtocolDefect(message)
}

// ---------------------------------------------------------------- durable

export type Saving = Pick<StepOf<unknown>, 'records' | 'mayWait'>

/** `value` is stored by reference, so it must never be changed afterwards. */
export function save(step: Saving, key: string, value: object | null): void {
  step.mayWait = false
  step.records.set(key, value as Json | null)
}

/** The same for what may be written later, or again: mostly what follows from a log of a majority (W9). */
export function saveLater(step: Saving, key: string, value: object | null): void {
  step.records.set(key, value as Json | null)
}

/** Forgets a record. A record that was made in this very step was never stored. */
export function forget(step: Saving, key: string, storedBefore = true): void {
  if (storedBefore) save(step, key, null)
  else step.records.delete(key)
}

// ---------------------------------------------------------------- the other effects

interface Sending<Message> {
  readonly context: Context
  readonly effects: { push(effect: Effect<Message>): unknown }
}

export function send<Message>(step: Sending<Message>, to: ParticipantId, body: Message): void {
  const { configuration } = step.context.config
  const format = formatOf(body as AnyMessage)
  step.effects.push({ type: 'send', to, message: { format, configuration, body } })
}

export function broadcast<Message>(step: Sending<Message>, body: Message): void {
  const { participants, self } = step.context.config
  for (let peer = 1; peer <= participants; peer++) if (peer !== self) send(step, peer, body)
}

/** Effects that carry no message. */
export interface Collecting {
  readonly effects: { push(effect: Effect<never>): unknown }
}

interface Timing<TimerName extends string> extends Collecting {
  readonly timers: SetTimers<TimerName>
}

export function emit(step: Collecting, event: Emitted): void {
  step.effects.push({ type: 'emit', event })
}

export function setTimer<TimerName extends string>(
  step: Timing<TimerName>,
  timer: TimerName,
  afterMs: number,
): void {
  step.timers[timer] = true
  step.effects.push({ type: 'set-timer', timer, afterMs })
}

export function cancelTimer<TimerName extends string>(step: Timing<TimerName>, timer: TimerName): void {
  if (!step.timers[timer]) return
  delete step.timers[timer]
  step.effects.push({ type: 'cancel-timer', timer })
}
