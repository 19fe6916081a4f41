/** One step of a participant. What all protocols have in common is in ../step.ts. */
import { mayAsk } from '../asking.ts'
import type { Context, ParticipantId } from '../protocol.ts'
import { assert, beginStepOf, type StepOf, save, send } from '../step.ts'
import { type EjectCommand, type Lane, laneOf, lastNumber, type NumberedCommand } from './commands.ts'
import { peersOf } from './members.ts'
import type { ConsensusMessage } from './messages.ts'
import type { ConsensusState, Durable, Round, Soft, Stub, TimerName } from './state.ts'

export { restartRepeats } from '../retransmission.ts'
export { assert, cancelTimer, emit, forget, save, send, setTimer, takeEffects } from '../step.ts'

export interface Step extends StepOf<ConsensusMessage, TimerName> {
  readonly state: ConsensusState
  /** The users that wait are part of the durable state. */
  readonly localQueue: Durable
  /** There is a new command of this participant that all must hear of. */
  hasCommand: boolean
  /** There are new proposals of this coordinator. They leave together at the end of the step. */
  hasProposals: boolean
  /** The set of members has changed in this step. */
  hasNewSet: boolean
}

export function beginStep(context: Context, state: ConsensusState, now: number): Step {
  const step = beginStepOf<ConsensusMessage, TimerName>(context, now, state.soft.timers)
  return Object.assign(step, {
    state,
    localQueue: state.durable,
    hasCommand: false,
    hasProposals: false,
    hasNewSet: false,
  })
}

/** To all other members. */
export function broadcast(step: Step, body: ConsensusMessage): void {
  for (const peer of peersOf(step)) send(step, peer, body)
}

export function changeStub(step: Step, change: Partial<Stub>): void {
  const { durable } = step.state
  durable.stub = { ...durable.stub, ...change }
  save(step, 'stub', durable.stub)
}

/** Each question gets a new name. */
export function nextRound(soft: Soft): Round {
  soft.rounds++
  return `${soft.life}.${soft.rounds}`
}

// ---------------------------------------------------------------- own commands

type WithoutNumber<Type> = Type extends NumberedCommand ? Omit<Type, 'participant' | 'number'> : never

export const isFree = (step: Step, lane: Lane): boolean => step.state.durable.lanes[lane].command === null

/**
 * The command is decided sooner or later, unless it is taken back because it has become void. Durable before
 * it is said.
 */
export function submit(step: Step, command: WithoutNumber<NumberedCommand>): number {
  const { lanes, machine } = step.state.durable
  const lane = laneOf(command as NumberedCommand)
  assert(lanes[lane].command === null, 'one command at a time in each lane')
  const participant = step.context.config.self
  // A core of this participant that was given up before the lock was born may have asked for something.
  const number = Math.max(lanes[lane].number, lastNumber(machine, lane, participant)) + 1
  changeLane(step, lane, number, { ...command, participant, number } as NumberedCommand)
  step.hasCommand = true
  return number
}

/** The command was decided, or no decision about it changes anything any more. */
export function clearLane(step: Step, lane: Lane): void {
  const { number, command } = step.state.durable.lanes[lane]
  if (command !== null) changeLane(step, lane, number, null)
}

function changeLane(step: Step, lane: Lane, number: number, command: NumberedCommand | null): void {
  const own = { number, command }
  step.state.durable.lanes[lane] = own
  save(step, `lane/${lane}`, own)
}

/** Not durable: a participant that wants the holder out finds out again after a restart. */
export function submitEjection(step: Step, command: EjectCommand): void {
  step.state.soft.ejection = command
  step.hasCommand = true
}

// ---------------------------------------------------------------- catching up

/** Asks a peer that has more for what is missing here. */
export function askForCatchUp(step: Step, peer: ParticipantId): void {
  const { durable, soft } = step.state
  if (!mayAsk(soft, peer)) return
  soft.asking = peer
  send(step, peer, { type: 'catch-up-request', decided: durable.machine.applied })
}
