/**
 * Changing the members of a lock (rules M1 to M10, P6, P7). An operator asks any member for another set. That
 * member invites those that are new, which get a copy of everything that is decided (learner.ts). Once they
 * all have one, it asks for a command like any other: a majority of the old members decides it, and from the
 * next instance on the new members decide.
 *
 * So nobody may propose anything behind such a command before it is decided, because who decides that is not
 * known before; and a coordinator may propose to the new members only in a ballot that a majority of them has
 * promised. Without the second rule a coordinator that repeats the change in a ballot of the old members
 * would not know what the new ones have decided since.
 */
import { growDetector } from '../../detector.ts'
import { absentOf, isCurrent, isInForce, isSet, newcomersOf } from '../members/changes.ts'
import { createChangeRequests } from '../members/requests.ts'
import { slots } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import { isOver, type MembersCommand } from './commands.ts'
import { becomeRemoved, concludeHandover, elsewhere, isHandedOver, sendHandover } from './handover.ts'
import { isCoordinator } from './log.ts'
import { isMember, peersOf } from './members.ts'
import { sendPing } from './ping.ts'
import type { AskedChange } from './state.ts'
import { type Step, save, send, setTimer } from './step.ts'

// ---------------------------------------------------------------- the participant that was asked

/** A change may be impossible as long as somebody is away, so that the next ones are not kept waiting. */
const MAX_WANTED = 4

export const { onChangeMembers, settleChanges, noteNewcomer, ...requests } = createChangeRequests<Step>({
  ofSet: ({ state }) => state.durable.machine,
  isMember: ({ state }) => state.durable.membership.status === 'member',
  invite(step, newcomer) {
    send(step, newcomer, { type: 'invite', decided: step.state.durable.machine.applied })
  },
  restartRepeats: step => restartCalls(step),
  // A holder that has to go has its time to finish (rule M9) before other changes have their turn.
  turn: ({ now, context }) => Math.floor(now / (2 * context.config.timing.timeoutMaxMs)),
  isHandedOver: step => isHandedOver(step),
  refusal(step, change) {
    const { machine, membership } = step.state.durable
    const isOver = membership.status === 'removed' && !isInForce(step.context.config, machine, change)
    return isOver ? elsewhere(step) : null
  },
})

/** The commands that operators wait for here. They are soft state. */
export function ownChanges(step: Step): MembersCommand[] {
  if (step.state.soft.changes.length === 0) return []
  const participant = step.context.config.self
  return requests
    .allWanted(step, MAX_WANTED)
    .map(change => ({ kind: 'members', participant, ...change }) as const)
}

/** A newcomer is ready: if it was the last one, all hear of the change. */
export function announceChanges(step: Step): void {
  if (ownChanges(step).length > 0) step.hasCommand = true
}

// ---------------------------------------------------------------- what is said again

/** There is something new to make known: repeats begin again with the shortest interval. */
export function restartCalls(step: Step): void {
  step.state.soft.calls = 0
  setTimer(step, 'members', step.context.config.timing.repeatMs)
}

/**
 * Those that are ready are called as well. They may be members by now, while everybody else that this
 * participant knows of is gone: then nobody but them can tell it (rule M10).
 */
export function repeatInvitations(step: Step): void {
  const { machine } = step.state.durable
  const ready = requests.allWanted(step, step.context.config.limits.waiters)
  const newcomers = new Set(ready.flatMap(change => newcomersOf(step.context.config, machine, change)))
  for (const newcomer of newcomers) send(step, newcomer, { type: 'invite', decided: machine.applied })
  requests.repeatInvitations(step)
}

// ---------------------------------------------------------------- the coordinator

export function noteAsked(step: Step, command: MembersCommand): void {
  const { soft } = step.state
  const { timing } = step.context.config
  const isSame = ({ command: other }: AskedChange) =>
    other.participant === command.participant && other.id === command.id && other.base === command.base
  const known = soft.asked.find(isSame)
  const asked: AskedChange = {
    command,
    until: step.now + 2 * timing.repeatMaxMs,
    drainUntil: known?.drainUntil ?? step.now + timing.timeoutMaxMs,
    heard: known?.heard ?? [],
  }
  const ofOther = ({ command: { participant } }: AskedChange) => participant !== command.participant
  const ofSame = soft.asked.filter(other => !ofOther(other) && other !== known)
  soft.asked = [...soft.asked.filter(ofOther), ...ofSame.slice(1 - MAX_WANTED), asked]
  if (known === undefined && isCoordinator(step)) askWhoIsThere(step, asked)
}

/** Those that stay must be there, or the new members could not decide anything (rule M4). */
export function askWhoIsThere(step: Step, { command, heard }: AskedChange): void {
  for (const peer of peersOf(step))
    if (command.members[peer] !== undefined && !heard.includes(peer)) sendPing(step, peer)
}

/** This participant has answered a ping. */
export function noteHeard(step: Step, from: ParticipantId): void {
  const { soft } = step.state
  if (soft.asked.length === 0) return
  soft.asked = soft.asked.map(asked =>
    asked.heard.includes(from) ? asked : { ...asked, heard: [...asked.heard, from] },
  )
}

/** Called at the end of each step, before anything is proposed. */
export function followChanges(step: Step): void {
  const { durable, soft } = step.state
  for (const own of ownChanges(step)) noteAsked(step, own)
  if (soft.asked.length === 0) return
  const isOpen = ({ command, until }: AskedChange) =>
    step.now < until && !isOver(durable.machine, command) && isMember(step, command.participant)
  if (!soft.asked.every(isOpen)) soft.asked = soft.asked.filter(isOpen)
}

/** The change that can be proposed now. */
export const changeToPropose = (step: Step): MembersCommand | null =>
  step.state.soft.asked.find(asked => isPossible(step, asked))?.command ?? null

/**
 * A set that was decided cannot be taken back, so a majority of it must be there: those that stay and have
 * answered, and newcomers that have been brought up to date (rule M4). A holder that has to go may finish,
 * within limits (rule M9).
 */
function isPossible(step: Step, { command, heard, drainUntil }: AskedChange): boolean {
  const { config } = step.context
  const { machine } = step.state.durable
  const { members } = command
  if (!isCurrent(config, machine, command) || !isSet(config, machine, command)) return false
  if (absentOf(config, machine, command).length > 0) return false
  const here = Object.keys(members)
    .map(Number)
    .filter(member => member === config.self || !isMember(step, member) || heard.includes(member))
  if (here.length < majority(Object.keys(members).length)) return false
  const { holder } = machine
  return holder === null || members[holder.participant] !== undefined || step.now >= drainUntil
}

// ---------------------------------------------------------------- the decision

/** The command was applied, or jumped over: a part of that transaction. */
export function enterSet(step: Step): void {
  const { durable, soft } = step.state
  const { config } = step.context
  const { machine, membership } = durable
  makeRoom(step)
  soft.installed = []
  soft.asked = []
  soft.requested = soft.requested.filter(command => !isOver(machine, command))
  step.hasNewSet = true
  const isNamed = isMember(step, config.self)
  if (membership.status === 'member' && !isNamed) becomeRemoved(step)
  if (membership.status === 'joining' && isNamed && isThisLife(step, membership.incarnation)) {
    durable.membership = { status: 'member' }
    save(step, 'membership', durable.membership)
  }
  restartCalls(step)
  concludeHandover(step)
  sendHandover(step)
}

/**
 * A decision names a newcomer in one life. Another one has forgotten what this one has accepted (rule M3).
 */
function isThisLife({ state, context }: Step, incarnation: number): boolean {
  return state.durable.machine.set?.incarnations[context.config.self] === incarnation
}

/** Members that come later have higher numbers. */
function makeRoom({ state: { soft, durable }, context: { config } }: Step): void {
  const size = slots(config, durable.machine)
  const { acknowledged, sent } = soft
  while (acknowledged.through.length < size) acknowledged.through.push(0)
  while (acknowledged.claims.length < size) acknowledged.claims.push(null)
  // What a newcomer has is not known: it is sent what is not decided, and says what it misses.
  while (sent.length < size) sent.push(durable.machine.applied)
  growDetector(soft.detector, size - 1)
}

/** Whether this participant has dropped what it had. */
export const isEmptied = ({ state }: Step): boolean => {
  const { membership } = state.durable
  return membership.status === 'removed' && !membership.hasData
}
