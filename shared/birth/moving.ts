/**
 * What the birth knows of the members of its lock (rules M5, M10). The core decides who they are; but whoever
 * looks for the lock asks the registrars first, which may have no part in it any more. So each member tells
 * those of them that are no members, until they have answered. What a registrar says is a hint: the members
 * themselves know better.
 */
import type { LockConfiguration, ParticipantPlace } from '../api/configuration.ts'
import { placeAt } from '../api/member-address.ts'
import type { ParticipantId, PresentMembers, View } from '../protocols/protocol.ts'
import { startFence } from '../protocols/start-fence.ts'
import {
  cancelTimer,
  change,
  isRegistrar,
  MOVED_TIMER,
  placedUntold,
  type RunningCore,
  type Step,
  send,
  setTimer,
} from './lock-state.ts'
import { isMember, type LockValue } from './value.ts'

/** A registrar that does not answer is told again, in intervals that double up to an hour. */
const TELL_MS = 500
const TELL_MAX_MS = 3_600_000
const MAX_DOUBLINGS = 13
const MAX_FORMER = 32

/** The core of this participant has entered an epoch with other members. */
export function noteMembers(step: Step, { configuration, members }: PresentMembers): void {
  const { members: before, former = {} } = step.state.birth
  if (configuration <= (before?.configuration ?? 0)) return
  const isOne = members[step.context.self] !== undefined
  const unmoved = isOne ? registrarsBut(step, members) : []
  // Those that go may still have to be spoken to. A lock that was deleted may have had higher numbers.
  const earlier = Object.entries(former).slice(-MAX_FORMER)
  const known = [...earlier, ...Object.entries(before?.members ?? {})]
  const places = Object.fromEntries(known.filter(([, address]) => address !== ''))
  const untold = step.state.birth.untold && { untold: placedUntold(step) }
  change(step, { members: { configuration, members }, unmoved, former: places, ...untold })
  step.state.soft.movedTellings = 0
  tellMoved(step)
}

function registrarsBut({ context }: Step, members: PresentMembers['members']): ParticipantId[] {
  const numbers = context.registrars.map(({ id }) => id)
  return numbers.filter(id => id !== context.self && members[id] === undefined)
}

/** Also at the start of an instance: the one before may have told nobody. */
export function tellMoved(step: Step): void {
  const { members, unmoved = [] } = step.state.birth
  if (members === undefined || unmoved.length === 0) return cancelTimer(step, MOVED_TIMER)
  for (const registrar of unmoved) send(step, registrar, { type: 'moved', ...members })
  const { soft } = step.state
  const afterMs = Math.min(TELL_MS * 2 ** Math.min(soft.movedTellings, MAX_DOUBLINGS), TELL_MAX_MS)
  setTimer(step, MOVED_TIMER, afterMs)
  soft.movedTellings++
}

export function onMoved(step: Step, from: ParticipantId, { configuration, members }: PresentMembers): void {
  if (configuration > (step.state.birth.members?.configuration ?? 0))
    change(step, { members: { configuration, members }, unmoved: [] })
  send(step, from, { type: 'moved-heard', configuration })
  wakeNeighbour(step)
}

export function onMovedHeard(step: Step, from: ParticipantId, configuration: number): void {
  const { members, unmoved } = step.state.birth
  if (members?.configuration !== configuration || !unmoved?.includes(from)) return
  change(step, { unmoved: unmoved.filter(id => id !== from) })
  if (step.state.birth.unmoved!.length === 0) cancelTimer(step, MOVED_TIMER)
}

/** Whoever asks what the lock is also wants to know where it is. */
export function sayMoved(step: Step, to: ParticipantId): void {
  const { members } = step.state.birth
  if (members !== undefined && isRegistrar(step.context, to)) send(step, to, { type: 'moved', ...members })
}

/**
 * A process that has lost its storage hears of its locks from its ledger, which knows the registrar in it and
 * not the member that came later. That one has lost its storage, too: it hears what the lock is, asks to be
 * taken back, and says when it is (`back`).
 */
export function wakeNeighbour(step: Step): void {
  const { chosen } = step.state.birth
  const neighbour = neighbourOf(step)
  if (chosen !== null && neighbour !== null)
    send(step, neighbour, { type: 'chosen', value: chosen, isForMember: true })
}

/** The member that came later and is in the process of this registrar. */
function neighbourOf({ context, state }: Step): ParticipantId | null {
  const { members } = state.birth
  if (members === undefined || !context.hasLedger) return null
  const isHere = (address: string) => address.endsWith(`@${context.self}`)
  const number = Object.keys(members.members).find(id => isHere(members.members[id]!))
  return number === undefined ? null : Number(number)
}

/**
 * Whether a member of the lock that was lost with this process is still to be taken back, as far as is known
 * here.
 */
export function isMemberAwaited(step: Step, value: LockValue): boolean {
  const { context, state } = step
  const { core, soft, birth } = state
  if (core !== null && membershipOf(core) === 'member') return false
  if (birth.members === undefined) return isMember(value, context.self)
  const neighbour = neighbourOf(step)
  if (neighbour !== null) return !soft.back.has(neighbour)
  return birth.members.members[context.self] !== undefined
}

const OUTSIDE: ReadonlySet<View['membership']> = new Set(['blank', 'joining'])

/** Whoever waits for this participant to be taken back is told, once. */
export function sayBack(step: Step): void {
  const { core, soft } = step.state
  if (soft.awaitedBy === null || core === null || OUTSIDE.has(membershipOf(core))) return
  send(step, soft.awaitedBy, { type: 'back' })
  soft.awaitedBy = null
}

const membershipOf = ({ protocol, context, state }: RunningCore) => protocol.view(context, state).membership

/** What a lock with this value is made of at present, as far as this participant knows. */
export const presentHere = ({ context, state: { birth } }: Step, value: LockValue): LockConfiguration =>
  presentConfiguration(value, birth.generation, birth.members ?? null, context.registrars)

/** What a lock was born with, and what it is made of at present. */
export const configured = (step: Step, value: LockValue) => ({
  born: value.configuration,
  configuration: presentHere(step, value),
})

/** What a lock is made of at present. */
export function presentConfiguration(
  value: LockValue,
  generation: number,
  present: PresentMembers | null,
  registrars: readonly ParticipantPlace[],
): LockConfiguration {
  const { configuration } = value
  const number = 1 + placeInOrder(value, present?.configuration ?? 0)
  const atBirth = { ...configuration, number, ...(generation > 1 && { generation }) }
  if (present === null) return atBirth
  const born = (id: number) => configuration.participants.find(place => place.id === id)
  const participants = Object.entries(present.members).map(([number, address]) => {
    const id = Number(number)
    return born(id) ?? placeAt(id, address, registrars)
  })
  return { ...atBirth, participants }
}

/**
 * Where a set of members stands among all sets of all locks of its name, so that what an operator asks for
 * one of them is never done to another: the fence that it begins with, since a lock begins above all fences
 * of those before it (G9). Each protocol names its sets in its own way, and 0 is the one that the lock was
 * born with.
 */
function placeInOrder({ configuration: { protocol }, startEpoch }: LockValue, set: number): number {
  switch (protocol) {
    // The place in the log, which begins anew with each lock.
    case 'wme-consensus':
      return startFence({ startEpoch }) + set
    // A fence.
    case 'ricart-agrawala':
      return Math.max(startFence({ startEpoch }), set)
    // An epoch.
    default:
      return startFence({ startEpoch: Math.max(startEpoch, set) })
  }
}
