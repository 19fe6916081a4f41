/**
 * From one set of members to the next, and the end of a membership (rule M5): what is this protocol's own of
 * ../members/handover.ts.
 */
import { dropReplica } from '../guarded/replica-records.ts'
import { createHandover, refuseAll } from '../members/handover.ts'
import { configIn, presentIn } from '../members/sets.ts'
import type { ParticipantId, Refusal } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { dismissWaiters } from '../waiting-users.ts'
import { LANES } from './commands.ts'
import { loseGrant } from './grants.ts'
import { dropThrough, lengthOf } from './log.ts'
import { membersOf } from './members.ts'
import type { ConsensusMessage, HandoverMessage } from './messages.ts'
import type { Durable } from './state.ts'
import { askForCatchUp, cancelTimer, clearLane, type Step, save, send } from './step.ts'

/**
 * Whether a majority of the members is known to have everything from before their set. Whatever was decided
 * since was accepted by such a majority.
 */
export const isHandedOver = ({ state }: Step): boolean => isHandedOverIn(state.durable)

export const isHandedOverIn = ({ machine, handover }: Durable): boolean =>
  machine.set === undefined || machine.applied > machine.set.config || handover.config === machine.set.config

export const { owesHandover, sendHandover, concludeHandover, isRemoved, ...handover } = createHandover<Step>({
  members: step => membersOf(step),
  isHandedOver: step => isHandedOver(step),
  tell(step, member) {
    send(step, member, { type: 'handover', decided: step.state.durable.machine.applied })
  },
  conclude(step) {
    const { durable } = step.state
    durable.handover = { config: configIn(durable.machine) }
    save(step, 'handover', durable.handover)
  },
})

export function onHandover(step: Step, from: ParticipantId, message: HandoverMessage): void {
  const { applied: decided } = step.state.durable.machine
  if (message.decided > decided) askForCatchUp(step, from)
  else send(step, from, { type: 'installed', decided })
}

/** One that has lost its storage, or has never been named, may ask and be helped, but has no vote. */
const isOfMember = (message: ConsensusMessage): message is ConsensusMessage & { decided: number } =>
  'decided' in message && message.type !== 'join' && message.type !== 'catch-up-request'

/** Whoever says how far it has applied the log has stored it (rule M2). So this is proof. */
export function noteInstalled(step: Step, from: ParticipantId, message: ConsensusMessage): void {
  if (isHandedOver(step) || !isOfMember(message)) return
  if (message.decided >= configIn(step.state.durable.machine)) handover.noteInstalled(step, from)
}

// ---------------------------------------------------------------- the end of a membership

/** A part of the transaction that applies the change. Whoever waits here is sent on. */
export function becomeRemoved(step: Step): void {
  const { durable, soft } = step.state
  durable.membership = { status: 'removed', hasData: true }
  save(step, 'membership', durable.membership)
  if (durable.stub.grant !== null) loseGrant(step, 'suspected')
  for (const lane of LANES) clearLane(step, lane)
  for (const { user } of dismissWaiters(step)) refuse(step, user, 'try', elsewhere(step))
  refuseAll(step, soft.reads, 'read', elsewhere(step))
  refuseAll(step, soft.ejects, 'eject', elsewhere(step))
  soft.requested = []
  soft.ejection = null
  soft.candidacy = null
  soft.watched = []
  soft.inquiries = {}
  soft.voters = {}
  cancelTimer(step, 'heartbeat')
  cancelTimer(step, 'ttl')
}

/** What users of a participant that was removed are told. */
export function elsewhere({ state, context }: Step): Refusal {
  const { machine } = state.durable
  return { code: 'elsewhere', epoch: machine.applied, ...presentIn(context.config, machine) }
}

/** Whether nobody needs any more what this participant has. */
export function mayDrop(step: Step): boolean {
  const { membership } = step.state.durable
  return membership.status === 'removed' && membership.hasData && isHandedOver(step)
}

/** Called at the end of each step. What a step has applied can be looked at after it. */
export function dropData(step: Step): void {
  const { durable, soft } = step.state
  const { machine } = durable
  if (step.hasNewSet || !mayDrop(step)) return
  // What was accepted and not decided is for members.
  dropThrough(step, lengthOf(durable))
  dropReplica(step, machine.applied)
  durable.machine = { ...machine, droppedThrough: machine.applied }
  save(step, 'machine', durable.machine)
  durable.membership = { status: 'removed', hasData: false }
  save(step, 'membership', durable.membership)
  soft.outgoing = null
  cancelTimer(step, 'snapshot')
}
