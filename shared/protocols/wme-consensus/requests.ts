/**
 * The preliminary broadcast: a participant that wants a command decided tells everybody, again and again until it is decided.
 * The coordinator proposes it; the others remember it, in case that one of them is the next coordinator, or the only one
 * that both the requester and the coordinator can reach.
 */
import type { ParticipantId } from '../protocol.ts'
import { sendCatchUp } from './catch-up.ts'
import { type Command, isOver, isSameCommand, laneOf } from './commands.ts'
import { ownCommands } from './instances.ts'
import { isCoordinator } from './log.ts'
import type { RequestMessage } from './messages.ts'
import { broadcast, restartRepeats, type Step, send } from './step.ts'

/** The coordinator's own commands go into its proposals. */
export function sendRequest(step: Step): void {
  const commands = ownCommands(step)
  if (commands.length === 0 || isCoordinator(step)) return
  broadcast(step, { type: 'request', commands, decided: step.state.durable.machine.applied })
}

/** At the end of each step, once for each new command; the repeat timer sees to the rest. */
export function announceCommands(step: Step): void {
  if (!step.hasCommand) return
  sendRequest(step)
  if (step.context.config.participants > 1) restartRepeats(step)
}

export function onRequest(step: Step, from: ParticipantId, message: RequestMessage): void {
  const { machine } = step.state.durable
  const open = message.commands.filter(command => !isOver(machine, command))
  for (const command of open) remember(step, command)
  // Who asks for what is decided long since missed the decision, and may not reach the coordinator to hear of it.
  if (open.length < message.commands.length) sendCatchUp(step, from, message.decided)
}

/** At most one for each lane of each participant, and one ejection: the holder's. */
function remember(step: Step, command: Command): void {
  const { soft } = step.state
  if (soft.requested.some(known => isSameCommand(known, command))) return
  soft.requested = soft.requested.filter(known => !replaces(command, known))
  soft.requested.push(command)
}

function replaces(command: Command, known: Command): boolean {
  if (command.kind === 'eject' || known.kind === 'eject') return command.kind === known.kind
  return command.participant === known.participant && laneOf(command) === laneOf(known)
}

/** At the end of each step. */
export function forgetDecided(step: Step): void {
  const { durable, soft } = step.state
  if (soft.requested.some(command => isOver(durable.machine, command)))
    soft.requested = soft.requested.filter(command => !isOver(durable.machine, command))
  if (soft.ejection !== null && isOver(durable.machine, soft.ejection)) soft.ejection = null
}

/** A participant that cannot reach the coordinator itself is helped by whoever can. */
export function passOn(step: Step, requester: ParticipantId, coordinator: ParticipantId): void {
  const commands = step.state.soft.requested.filter(
    command => command.kind === 'eject' || command.participant === requester,
  )
  const { applied: decided } = step.state.durable.machine
  if (commands.length > 0) send(step, coordinator, { type: 'request', commands, decided })
}
