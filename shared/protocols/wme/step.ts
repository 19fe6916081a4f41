/**
 * One step under way: the state that it changes and the effects that it collects. Handlers say what they want done in the
 * order of the paper; `takeEffects` puts the save first, so that everything sent is preceded by everything written.
 */
import type { Json } from '../../json.ts'
import type { Context, DurableRecord, Effect, Emitted, ParticipantId } from '../protocol.ts'
import { MESSAGE_FORMAT } from '../protocol.ts'
import type { Acknowledgement } from './acknowledgement.ts'
import { isTransition } from './figure-3-states.ts'
import type { WmeMessage } from './messages.ts'
import type { StubRecord, TimerName, WmeState } from './state.ts'

export interface Step {
  readonly context: Context
  readonly variant: Acknowledgement
  readonly state: WmeState
  readonly now: number
  readonly records: Map<string, Json | null>
  readonly effects: Effect<WmeMessage>[]
  /** Entries were appended that everybody must get; they leave together at the end of the step. */
  appended: boolean
}

export function beginStep(context: Context, variant: Acknowledgement, state: WmeState, now: number): Step {
  return { context, variant, state, now, records: new Map(), effects: [], appended: false }
}

export function takeEffects(step: Step): Effect<WmeMessage>[] {
  if (step.records.size === 0) return step.effects
  const records: DurableRecord[] = []
  for (const [key, value] of step.records) records.push({ key, value })
  return [{ type: 'save', records }, ...step.effects]
}

/** Something that no interleaving, loss or crash may bring about: a defect, and the participant stops rather than spread it. */
export class ProtocolDefect extends Error {}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ProtocolDefect(message)
}

// ---------------------------------------------------------------- durable

/** `value` is stored by reference, so it must never be changed afterwards. */
export function save(step: Step, key: string, value: object | null): void {
  step.records.set(key, value as Json | null)
}

/** Forgets a record. One that was made in this very step was never stored. */
export function forget(step: Step, key: string, storedBefore = true): void {
  if (storedBefore) step.records.set(key, null)
  else step.records.delete(key)
}

export function changeStub(step: Step, change: Partial<StubRecord>): void {
  const { durable } = step.state
  const stub = { ...durable.stub, ...change }
  assert(
    isTransition(durable.stub.phase, stub.phase),
    `Figure 3 has no ${durable.stub.phase} -> ${stub.phase}`,
  )
  durable.stub = stub
  save(step, 'stub', stub)
}

// ---------------------------------------------------------------- the other effects

export function send(step: Step, to: ParticipantId, body: WmeMessage): void {
  const { configuration } = step.context.config
  step.effects.push({ type: 'send', to, message: { format: MESSAGE_FORMAT, configuration, body } })
}

export function broadcast(step: Step, body: WmeMessage): void {
  const { participants, self } = step.context.config
  for (let peer = 1; peer <= participants; peer++) if (peer !== self) send(step, peer, body)
}

export function emit(step: Step, event: Emitted): void {
  step.effects.push({ type: 'emit', event })
}

export function setTimer(step: Step, timer: TimerName, afterMs: number): void {
  step.state.soft.timers[timer] = true
  step.effects.push({ type: 'set-timer', timer, afterMs })
}

export function cancelTimer(step: Step, timer: TimerName): void {
  if (!step.state.soft.timers[timer]) return
  delete step.state.soft.timers[timer]
  step.effects.push({ type: 'cancel-timer', timer })
}

/** Asks a peer that has more for what is missing here, one peer at a time. */
export function askForCatchUp(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  if (soft.asking !== null) return
  soft.asking = peer
  send(step, peer, {
    type: 'catch-up-request',
    epoch: durable.epoch.epoch,
    length: durable.base.sequence + durable.log.length,
    committed: soft.committed,
  })
}
