/**
 * From one set of members to the next (rule M5). The decision of an epoch names the members of the next one.
 * Whoever learns of it, old or new, asks the new members whether they have entered that epoch, until a
 * majority of them is known to have: only then nobody else is needed any more, and the operator is told.
 *
 * A participant that is not among the new members applies the decision like all others, ends what its users
 * have begun, and is removed for good. It helps those that are behind as long as it has to, and then keeps
 * only a tombstone: which epoch it saw last, and who was a member then.
 */

import { addressesIn, configIn } from '../members/sets.ts'
import type { ParticipantId, Refusal } from '../protocol.ts'
import { majority } from '../quorum.ts'
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

const isRemoved = ({ state: { durable } }: Step): boolean => durable.membership.status === 'removed'

/** Whether this participant still has to find out that the new members are there. */
export function owesHandover(step: Step): boolean {
  const { status } = step.state.durable.membership
  return (status === 'member' || status === 'removed') && !isHandedOver(step)
}

/** Those that have not entered the epoch hear of it, and ask for what they need. */
export function sendHandover(step: Step): void {
  const { durable, derived, soft } = step.state
  if (!owesHandover(step)) return
  for (const member of derived.members) {
    if (member === step.context.config.self || soft.installed.includes(member)) continue
    send(step, member, { type: 'handover', epoch: durable.epoch.epoch })
  }
}

export function onHandover(step: Step, from: ParticipantId, message: HandoverMessage): void {
  const { epoch } = step.state.durable.epoch
  if (message.epoch > epoch) askForCatchUp(step, from)
  else send(step, from, { type: 'installed', epoch })
}

/** A member speaks in an epoch only once it durably has everything before it (rule M2). So this is proof. */
export function noteInstalled(step: Step, from: ParticipantId, message: WmeMessage): void {
  const { durable, derived, soft } = step.state
  if (isHandedOver(step) || !derived.members.includes(from) || soft.installed.includes(from)) return
  if (!('epoch' in message) || message.epoch < configIn(durable.epoch)) return
  soft.installed.push(from)
  concludeHandover(step)
}

export function concludeHandover(step: Step): void {
  const { durable, derived, soft } = step.state
  if (isHandedOver(step)) return
  const others = soft.installed.length
  const installed = isRemoved(step) ? others : others + 1
  if (installed < majority(derived.members.length)) return
  durable.epoch = { ...durable.epoch, isHandedOver: true }
  save(step, 'epoch', durable.epoch)
  if (isRemoved(step)) dropData(step)
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
  for (const { request } of soft.reads.splice(0)) refuse(step, request, 'read', elsewhere(step))
  for (const { request } of soft.ejects.splice(0)) refuse(step, request, 'eject', elsewhere(step))
  soft.requests = []
  for (const timer of TIMERS) cancelTimer(step, timer)
}

/** What users of a participant that was removed are told. */
export function elsewhere(step: Step): Refusal {
  const { epoch } = step.state.durable
  const members = addressesIn(step.context.config, epoch)
  return { code: 'elsewhere', epoch: epoch.epoch, configuration: configIn(epoch), members }
}

/** What remains is the tombstone: the records of the membership and of the epoch, and how grants ended. */
function dropData(step: Step): void {
  const { durable, soft } = step.state
  const { replica } = durable
  const { committed } = soft
  durable.base = {
    sequence: committed,
    owner: ownerAfter(durable, committed),
    granted: grantedAfter(durable, committed),
    digest: digestThrough(durable, committed),
  }
  save(step, 'base', durable.base)
  for (const { sequence } of durable.log) forget(step, logKey(sequence))
  for (const cell of Object.keys(replica.cells)) save(step, `cell/${cell}`, null)
  for (const opId of replica.order) save(step, `result/${opId}`, null)
  durable.log = []
  derive(step.context.config, step.state)
  durable.replica = { ...replica, cells: {}, results: {}, order: [], droppedThrough: committed }
  saveProgress(step)
  durable.membership = { status: 'removed', hasData: false }
  save(step, 'membership', durable.membership)
  soft.outgoing = null
  cancelTimer(step, 'snapshot')
}
