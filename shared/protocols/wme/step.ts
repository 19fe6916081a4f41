/** One step of a stub. What all protocols have in common is in ../step.ts. */
import { mayAsk } from '../asking.ts'
import type { Context, ParticipantId } from '../protocol.ts'
import { assert, beginStepOf, type StepOf, save, saveLater, send } from '../step.ts'
import type { Acknowledgement } from './acknowledgement.ts'
import { isTransition } from './figure-3-states.ts'
import { peersOf } from './members.ts'
import type { WmeMessage } from './messages.ts'
import type { Durable, StubRecord, TimerName, WmeState } from './state.ts'

export {
  assert,
  cancelTimer,
  emit,
  forget,
  ProtocolDefect,
  save,
  saveLater,
  send,
  setTimer,
  takeEffects,
} from '../step.ts'

export interface Step extends StepOf<WmeMessage, TimerName> {
  readonly variant: Acknowledgement
  readonly state: WmeState
  /** The users that wait are part of the durable state. */
  readonly localQueue: Durable
  /** Entries were appended that all must get; they leave together at the end of the step. */
  appended: boolean
}

export function beginStep(context: Context, variant: Acknowledgement, state: WmeState, now: number): Step {
  const step = beginStepOf<WmeMessage, TimerName>(context, now, state.soft.timers)
  // A copy with more fields would be an object of no known shape to the engine of Node 20, which is slow.
  return Object.assign(step, { variant, state, localQueue: state.durable, appended: false })
}

export function changeStub(step: Step, change: Partial<StubRecord>): void {
  save(step, 'stub', changedStub(step, change))
}

/** For a change that follows from a log that a majority holds. */
export function changeStubLater(step: Step, change: Partial<StubRecord>): void {
  saveLater(step, 'stub', changedStub(step, change))
}

function changedStub(step: Step, change: Partial<StubRecord>): StubRecord {
  const { durable } = step.state
  const stub = { ...durable.stub, ...change }
  assert(
    isTransition(durable.stub.phase, stub.phase),
    `Figure 3 has no ${durable.stub.phase} -> ${stub.phase}`,
  )
  durable.stub = stub
  return stub
}

/** To all other members of the epoch. */
export function broadcast(step: Step, body: WmeMessage): void {
  for (const peer of peersOf(step)) send(step, peer, body)
}

/** Asks a peer that has more for what is missing here. */
export function askForCatchUp(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  if (!mayAsk(soft, peer)) return
  soft.asking = peer
  send(step, peer, {
    type: 'catch-up-request',
    epoch: durable.epoch.epoch,
    length: durable.base.sequence + durable.log.length,
    committed: soft.committed,
  })
}
