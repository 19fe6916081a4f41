/**
 * What is decided: one command for each consensus instance, in the order of the log. The earlier algorithm
 * decides three things: to enter, to leave, and to operate on the resource. The other commands are what a
 * service needs besides.
 *
 * A command may be decided twice (P1), by two coordinators that both heard of it. So a participant has three
 * lanes with one command at a time in each. Commands are numbered, and the highest number decided in a lane
 * tells which are old (state-machine.ts).
 */
import type { EjectionReason } from '../../history/events.ts'
import type { Json } from '../../json.ts'
import type { ReadyChange } from '../members/changes.ts'
import { configIn } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import type { Machine } from './state.ts'

/** `asking` for the critical section, being `inside`, and `reading`: none of them waits for another. */
export type Lane = 'asking' | 'inside' | 'reading'

export const LANES: readonly Lane[] = ['asking', 'inside', 'reading']

interface Numbered {
  readonly participant: ParticipantId
  /** Counts the commands of this participant in this lane. */
  readonly number: number
}

/** The participant wants the critical section for one of its users. The number is also the request's name. */
export interface EnterCommand extends Numbered {
  readonly kind: 'enter'
}

/** Nobody waits for this request any longer, whether it is in the queue or was just granted. */
export interface WithdrawCommand extends Numbered {
  readonly kind: 'withdraw'
  readonly request: number
}

export interface OperationCommand extends Numbered {
  readonly kind: 'operation'
  /** The fence of the grant under which it was issued; after that grant it changes nothing. */
  readonly fence: number
  readonly opId: string
  readonly operation: Json
  /** The weight of the operation, computed once, when it was issued. */
  readonly weight: number
}

export interface LeaveCommand extends Numbered {
  readonly kind: 'leave'
  readonly fence: number
}

/**
 * Changes nothing: a participant that sees it decided has everything that was decided before it (reads.ts).
 */
export interface BarrierCommand extends Numbered {
  readonly kind: 'barrier'
}

/**
 * Any participant may force a holder out. Because of the fence it is harmless to decide this twice, or late.
 */
export interface EjectCommand {
  readonly kind: 'eject'
  readonly fence: number
  readonly reason: EjectionReason
}

/**
 * Other members, from the next instance on (change-of-members.ts). `participant` is the one that an operator
 * has asked. Because of the name of the set that it replaces it is harmless to decide this twice, or late.
 */
export interface MembersCommand extends ReadyChange {
  readonly kind: 'members'
  readonly participant: ParticipantId
}

export type NumberedCommand =
  | EnterCommand
  | WithdrawCommand
  | OperationCommand
  | LeaveCommand
  | BarrierCommand

export type Command = NumberedCommand | EjectCommand | MembersCommand

export const isNumbered = (command: Command): command is NumberedCommand => 'number' in command

const LANE_OF: { readonly [Kind in NumberedCommand['kind']]: Lane } = {
  enter: 'asking',
  withdraw: 'asking',
  operation: 'inside',
  leave: 'inside',
  barrier: 'reading',
}

export const laneOf = (command: NumberedCommand): Lane => LANE_OF[command.kind]

export function isSameCommand(a: Command, b: Command): boolean {
  if (a.kind === 'eject') return b.kind === 'eject' && a.fence === b.fence
  if (a.kind === 'members') return b.kind === 'members' && a.id === b.id && a.base === b.base
  if (!isNumbered(b)) return false
  return a.participant === b.participant && a.number === b.number && laneOf(a) === laneOf(b)
}

/** Whether deciding this command (again) would change nothing. What is no member any more wants nothing. */
export function isOver(machine: Machine, command: Command): boolean {
  if (command.kind === 'eject') return machine.holder?.fence !== command.fence
  if (command.kind === 'members') return command.base !== configIn(machine)
  const { participant, number } = command
  if (machine.set !== undefined && machine.set.members[participant] === undefined) return true
  return lastNumber(machine, laneOf(command), participant) >= number
}

/** The last command of this participant that was decided in this lane. */
export const lastNumber = ({ numbers }: Machine, lane: Lane, participant: ParticipantId): number =>
  numbers[lane][participant] ?? 0
