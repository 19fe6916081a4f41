/**
 * The preliminary broadcast: a participant that wants a command decided tells all others, again and again
 * until it is decided. The coordinator proposes it. The others remember it, in case one of them is the next
 * coordinator, or the only one that both the requester and the coordinator can reach. They repeat it with
 * each request of their own; otherwise a participant whose requests the coordinator rarely hears would be
 * overtaken without end.
 */
import { fittingEntries } from '../log-weight.ts'
import type { ParticipantId } from '../protocol.ts'
import { sendCatchUp } from './catch-up.ts'
import { noteAsked } from './change-of-members.ts'
import { type Command, isNumbered, isOver, isSameCommand, laneOf } from './commands.ts'
import { ownCommands } from './instances.ts'
import { isCoordinator, weightOf } from './log.ts'
import { isAlone } from './members.ts'
import type { RequestMessage } from './messages.ts'
import { broadcast, restartRepeats, type Step, send } from './step.ts'
import { isQueued, noteWaitingElsewhere } from './waiting.ts'

/** The coordinator's own commands go into its proposals. */
export function sendRequest(step: Step): void {
  const own = ownCommands(step)
  if (own.length === 0 || isCoordinator(step)) return
  const commands = [...own, ...othersBeside(step, own)]
  broadcast(step, { type: 'request', commands, decided: step.state.durable.machine.applied })
}

/** Commands of others, oldest first, as many as fit one message together with this participant's own. */
function othersBeside(step: Step, own: readonly Command[]): Command[] {
  const others = step.state.soft.requested.filter(command => !own.some(mine => isSameCommand(mine, command)))
  const weigh = (command: Command) => weightOf({ command })
  return fittingEntries([...own, ...others], weigh, step.context.config.limits).slice(own.length)
}

/** A participant whose request is decided and that waits for its turn tells the others that it still does. */
export function sayStillWaiting(step: Step): void {
  if (!isQueued(step) || ownCommands(step).length > 0) return
  broadcast(step, { type: 'request', commands: [], decided: step.state.durable.machine.applied })
}

/** Called at the end of each step; announces each new command once, and the repeat timer does the rest. */
export function announceCommands(step: Step): void {
  if (!step.hasCommand) return
  sendRequest(step)
  if (!isAlone(step)) restartRepeats(step)
}

export function onRequest(step: Step, from: ParticipantId, message: RequestMessage): void {
  const { machine } = step.state.durable
  const { self } = step.context.config
  for (const command of message.commands) {
    const isOwn = command.kind !== 'eject' && command.participant === self
    if (isOwn || isOver(machine, command)) continue
    if (command.kind === 'members') noteAsked(step, command)
    else remember(step, command)
  }
  noteWaitingElsewhere(step)
  // A participant that asks for what is decided missed the decision, and may not reach the coordinator.
  if (message.commands.some(command => isFor(from, command) && isOver(machine, command)))
    sendCatchUp(step, from, message.decided)
}

const isFor = (participant: ParticipantId, command: Command): boolean =>
  command.kind === 'eject' || command.participant === participant

/** At most one command for each lane of each participant, the newest, and one ejection: the holder's. */
function remember(step: Step, command: Command): void {
  const { soft } = step.state
  if (soft.requested.some(known => isSameCommand(known, command) || isOutdated(command, known))) return
  soft.requested = soft.requested.filter(known => !isOutdated(known, command))
  soft.requested.push(command)
}

/** Its requester has taken it back and wants something else. */
function isOutdated(command: Command, by: Command): boolean {
  if (!isNumbered(command) || !isNumbered(by)) return false
  return (
    command.participant === by.participant && laneOf(command) === laneOf(by) && command.number < by.number
  )
}

/** Called at the end of each step. */
export function forgetDecided(step: Step): void {
  const { durable, soft } = step.state
  if (soft.requested.some(command => isOver(durable.machine, command)))
    soft.requested = soft.requested.filter(command => !isOver(durable.machine, command))
  if (soft.ejection !== null && isOver(durable.machine, soft.ejection)) soft.ejection = null
}

/** A participant that cannot reach the coordinator itself is helped by one that can. */
export function passOn(step: Step, requester: ParticipantId, coordinator: ParticipantId): void {
  const { requested, asked } = step.state.soft
  const all: Command[] = [...requested, ...asked.map(({ command }) => command)]
  const commands = all.filter(command => isFor(requester, command))
  const { applied: decided } = step.state.durable.machine
  if (commands.length > 0) send(step, coordinator, { type: 'request', commands, decided })
}
