/**
 * The replicated state machine. Every participant applies the decided commands in the order of the log, so
 * all have the same queue, the same holder and the same replica of the resource. The request at the head of
 * the queue becomes the holder when nobody is inside; the place in the log where that happens gives the fence
 * of the grant.
 */
import { invoke } from '../../resource/replica.ts'
import { saveResponse } from '../guarded/replica-records.ts'
import { highestAfter, isSet } from '../members/changes.ts'
import type { ParticipantId } from '../protocol.ts'
import { startFence } from '../start-fence.ts'
import { enterSet } from './change-of-members.ts'
import {
  type Command,
  isNumbered,
  isOver,
  laneOf,
  type MembersCommand,
  type NumberedCommand,
  type OperationCommand,
} from './commands.ts'
import { deliverOutcome, loseGrant, release } from './grants.ts'
import { entryAt, truncate } from './log.ts'
import type { Machine, Request } from './state.ts'
import { assert, clearLane, emit, type Step, save } from './step.ts'

/** Everything up to `position` is decided: applies what is not applied yet, all in one transaction. */
export function applyThrough(step: Step, position: number): void {
  const { durable } = step.state
  if (position <= durable.machine.applied) return
  while (durable.machine.applied < position) {
    const next = durable.machine.applied + 1
    const { command, digest } = entryAt(durable, next)!
    change(step, { applied: next, digest })
    apply(step, next, command)
  }
  truncate(step)
}

function apply(step: Step, position: number, command: Command): void {
  if (isOver(step.state.durable.machine, command)) return
  if (isNumbered(command)) note(step, command)
  switch (command.kind) {
    case 'enter':
      return enqueue(step, position, command.participant, command.number)
    case 'withdraw':
      return withdraw(step, position, command.participant, command.request)
    case 'operation':
      return applyOperation(step, position, command)
    case 'leave':
      return leave(step, position, command.fence)
    case 'barrier':
      return
    case 'eject':
      return eject(step, position, command)
    case 'members':
      return changeMembers(step, position, command)
    default:
      return command satisfies never
  }
}

function change(step: Step, changed: Partial<Machine>): void {
  const { durable } = step.state
  durable.machine = { ...durable.machine, ...changed }
  save(step, 'machine', durable.machine)
}

/** Of two decisions about the same command the second changes nothing. */
function note(step: Step, command: NumberedCommand): void {
  const { machine, lanes } = step.state.durable
  const { participant, number } = command
  const lane = laneOf(command)
  const ofLane = [...machine.numbers[lane]]
  while (ofLane.length <= participant) ofLane.push(0)
  ofLane[participant] = number
  change(step, { numbers: { ...machine.numbers, [lane]: ofLane } })
  if (participant === step.context.config.self && lanes[lane].number === number) clearLane(step, lane)
}

// ---------------------------------------------------------------- the queue and the holder

function enqueue(step: Step, position: number, participant: ParticipantId, request: number): void {
  const { queue } = step.state.durable.machine
  assert(!queue.some(queued => queued.participant === participant), 'one request at a time')
  change(step, { queue: [...queue, { participant, request }] })
  grantNext(step, position)
}

function withdraw(step: Step, position: number, participant: ParticipantId, request: number): void {
  const { holder, queue } = step.state.durable.machine
  const isMeant = (one: { participant: ParticipantId; request: number }) =>
    one.participant === participant && one.request === request
  if (holder !== null && isMeant(holder)) change(step, { holder: null })
  else change(step, { queue: queue.filter(queued => !isMeant(queued)) })
  grantNext(step, position)
}

function leave(step: Step, position: number, fence: number): void {
  if (step.state.durable.machine.holder?.fence !== fence) return
  change(step, { holder: null })
  if (step.state.durable.stub.grant?.fence === fence) release(step)
  grantNext(step, position)
}

/**
 * A participant that a majority does not hear loses its place in the queue too, or it would hold up everybody
 * once more.
 */
function eject(step: Step, position: number, command: Extract<Command, { kind: 'eject' }>): void {
  const { holder, queue } = step.state.durable.machine
  const isSuspected = command.reason === 'suspected'
  change(step, {
    holder: null,
    queue: isSuspected ? queue.filter(({ participant }) => participant !== holder!.participant) : queue,
  })
  if (step.state.durable.stub.grant?.fence === command.fence) loseGrant(step, command.reason)
  grantNext(step, position)
}

function grantNext(step: Step, position: number): void {
  const { holder, queue } = step.state.durable.machine
  const [first, ...rest] = queue
  if (holder !== null || first === undefined) return
  const fence = startFence(step.context.config) + position
  change(step, { holder: { ...first, fence }, latestFence: fence, queue: rest })
  emit(step, { type: 'granted', sequence: position, fence, to: first.participant })
}

/**
 * From the next instance on these are the members (rule M1). A holder that is none of them is out, and so are
 * those that wait there (rule M9).
 */
function changeMembers(step: Step, position: number, command: MembersCommand): void {
  const { machine } = step.state.durable
  const { config } = step.context
  const { id, members, primed } = command
  if (!isSet(config, machine, command)) return
  const isStaying = ({ participant }: Request) => members[participant] !== undefined
  const incarnations = Object.entries({ ...machine.set?.incarnations, ...primed }).filter(
    ([participant]) => members[participant] !== undefined,
  )
  change(step, {
    set: {
      members,
      config: position,
      highest: highestAfter(config, machine, command),
      change: id,
      incarnations: Object.fromEntries(incarnations),
    },
    holder: machine.holder !== null && isStaying(machine.holder) ? machine.holder : null,
    queue: machine.queue.filter(isStaying),
  })
  enterSet(step)
  grantNext(step, position)
}

// ---------------------------------------------------------------- the resource

/**
 * Emits `invoke` and `response` if the holder at this place of the log is the one that issued the operation;
 * otherwise nothing happens, anywhere.
 */
function applyOperation(step: Step, sequence: number, command: OperationCommand): void {
  const { machine, replica, stub } = step.state.durable
  const { fence, opId, operation } = command
  if (machine.holder?.fence !== fence) return
  const { resultsKept } = step.context.config.limits
  const response = invoke(step.context.resource, replica, resultsKept, { sequence, opId, operation, fence })
  saveResponse(step, opId, response)
  change(step, { droppedThrough: replica.droppedThrough })
  const { result, changes } = response
  emit(step, { type: 'applied', sequence, fence, opId, operation, result, changes })
  if (stub.grant?.fence === fence && stub.pendingOperation?.opId === opId) {
    deliverOutcome(step, response.sequence, result)
  }
}
