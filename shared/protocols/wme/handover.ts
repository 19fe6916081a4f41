/**
 * From one set of members to the next (rule M5). The decision of an epoch names the members of the next one.
 * Whoever learns of it, old or new, asks the new members whether they have entered that epoch, until a
 * majority of them is known to have: only then nobody else is needed any more, and the operator is told.
 *
 * A participant that is not among the new members applies the decision like all others, ends what its users
 * have begun, and is removed for good. It helps those that are behind as long as it has to, and then keeps
 * only a tombstone: which epoch it saw last, and who was a member then.
 */

import { dropReplica } from '../guarded/replica-records.ts'
import { createHandover, refuseAll } from '../members/handover.ts'
import { configIn, presentIn } from '../members/sets.ts'
import type { ParticipantId, Refusal } from '../protocol.ts'
import { refuse } from '../refusals.ts'
import { dismissWaiters } from '../waiting-users.ts'
import { derive, digestThrough, grantedAfter, logKey, ownerAfter, saveProgress } from './log.ts'
import type { HandoverMessage, WmeMessage } from './messages.ts'
import type { EpochRecord, TimerName } from './state.ts'
import { askForCatchUp, cancelTimer, changeStub, forget, type Step, save, send } from './step.ts'

/**
 * Whether a majority of the members is known to have everything up to the epoch that their set began with.
 */
export const isHandedOver = ({ state }: Step): boolean => isHandedOverIn(state.durable.epoch)

export const isHandedOverIn = ({ epoch, set, isHandedOver }: EpochRecord): boolean =>
  set === undefined || epoch > set.config || isHandedOver === true

export const { owesHandover, sendHandover, concludeHandover, isRemoved, ...handover } = createHandover<Step>({
  members: ({ state }) => state.derived.members,
  isHandedOver: step => isHandedOver(step),
  tell(step, member) {
    send(step, member, { type: 'handover', epoch: step.state.durable.epoch.epoch })
  },
  conclude(step) {
    const { durable } = step.state
    durable.epoch = { ...durable.epoch, isHandedOver: true }
    save(step, 'epoch', durable.epoch)
    if (isRemoved(step)) dropData(step)
  },
})

export function onHandover(step: Step, from: ParticipantId, message: HandoverMessage): void {
  const { epoch } = step.state.durable.epoch
  if (message.epoch > epoch) askForCatchUp(step, from)
  else send(step, from, { type: 'installed', epoch })
}

/** A member speaks in an epoch only once it durably has everything before it (rule M2). So this is proof. */
export function noteInstalled(step: Step, from: ParticipantId, message: WmeMessage): void {
  if (isHandedOver(step) || !('epoch' in message)) return
  if (message.epoch >= configIn(step.state.durable.epoch)) handover.noteInstalled(step, from)
}

// ---------------------------------------------------------------- the end of a membership

const TIMERS: readonly TimerName[] = ['heartbeat', 'suspect', 'propose', 'flush', 'confirm', 'spread', 'ttl']

/** A part of the transaction that enters the epoch. Whoever waits here is sent on. */
export function becomeRemoved(step: Step): void {
  const { durable, soft } = step.state
  durable.membership = { status: 'removed', hasData: true }
  save(step, 'membership', durable.membership)
  if (durable.stub.phase === 'requesting') changeStub(step, { phase: 'idle' })
  for (const { user } of dismissWaiters(step)) refuse(step, user, 'try', elsewhere(step))
  refuseAll(step, soft.reads, 'read', elsewhere(step))
  refuseAll(step, soft.ejects, 'eject', elsewhere(step))
  soft.requests = []
  for (const timer of TIMERS) cancelTimer(step, timer)
}

/** What users of a participant that was removed are told. */
export function elsewhere(step: Step): Refusal {
  const { epoch } = step.state.durable
  return { code: 'elsewhere', epoch: epoch.epoch, ...presentIn(step.context.config, epoch) }
}

/** What remains is the tombstone: the records of the membership and of the epoch, and how grants ended. */
function dropData(step: Step): void {
  const { durable, soft } = step.state
  const { committed } = soft
  durable.base = {
    sequence: committed,
    owner: ownerAfter(durable, committed),
    granted: grantedAfter(durable, committed),
    digest: digestThrough(durable, committed),
  }
  save(step, 'base', durable.base)
  for (const { sequence } of durable.log) forget(step, logKey(sequence))
  durable.log = []
  derive(step.context.config, step.state)
  dropReplica(step, committed)
  saveProgress(step)
  durable.membership = { status: 'removed', hasData: false }
  save(step, 'membership', durable.membership)
  soft.outgoing = null
  cancelTimer(step, 'snapshot')
}
