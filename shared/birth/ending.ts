/**
 * How a generation ends (G9, G12), and how everybody hears of it.
 *
 * A lock is ended by its holder, so nobody else is inside. In a protocol with a log, the end is the last
 * operation: once a majority has stored it, it is committed, every participant that applies it is in the next
 * generation from then on, and no log without it can be decided any more. In a protocol without a log the
 * holder never lets go: nobody else is let in without its permission, so nobody ever is in this generation.
 * But until a majority has heard of it, storage that is lost would undo that: nobody is told that it is done.
 *
 * What is left is the tombstone: the number of the next generation and the epoch that it begins in. Whoever
 * speaks of the old one is answered with it. A participant that was away is told until it has answered.
 */
import { GUARDING_PROTOCOLS } from '../protocols/all.ts'
import { MESSAGE_FORMAT, type Members, type ParticipantId } from '../protocols/protocol.ts'
import { majority } from '../protocols/quorum.ts'
import { FENCE_GAP } from '../protocols/wme/fence.ts'
import { adoptGeneration } from './generation.ts'
import {
  cancelTimer,
  change,
  emit,
  placedUntold,
  type Step,
  send,
  setTimer,
  TELL_TIMER,
} from './lock-state.ts'
import type { Untold } from './lock-types.ts'
import { learnChosen } from './register.ts'

/** A participant that does not answer is told again, in intervals that double up to an hour. */
const TELL_MS = 500
const TELL_MAX_MS = 3_600_000
const MAX_DOUBLINGS = 13

/**
 * The core of this participant knows that its generation is over. All fences that an owner that was cut off
 * can still hand out are below those of the next generation.
 */
export function endGeneration(step: Step): void {
  const { core, chosen } = step.state.birth
  if (step.end === null || core === null) return
  const { epoch, length } = step.end
  // Whatever a majority has decided under a value has chosen the value (G4).
  if (chosen === null) learnChosen(step, core)
  const { generation, members, former } = step.state.birth
  const present = everybodyElse(step, core.configuration.participants.length, members?.members ?? {})
  const isNew = (peer: Untold) => !present.some(other => isSame(other, peer))
  const peers = [...present, ...placedUntold(step).filter(isNew)]
  const isLogged = GUARDING_PROTOCOLS.includes(core.configuration.protocol)
  const mustHear = isLogged ? 0 : majority(peers.length + 1) - 1
  adoptGeneration(step, generation + 1, nextEpoch(epoch, length))
  change(step, { untold: peers, mustHear, ...(members && { former: { ...former, ...members.members } }) })
  step.state.soft.tellings = 0
  tellAll(step)
  reportIfAllTold(step)
}

/** The epoch whose fences are above all of a lock that has come to this epoch and this length. */
export const nextEpoch = (epoch: number, length: number): number => epoch + 2 + Math.floor(length / FENCE_GAP)

function everybodyElse({ context, state }: Step, participants: number, members: Members): Untold[] {
  const { former } = state.birth
  const count = Math.max(context.registrars.length, participants)
  const atBirth = Array.from({ length: count }, (_, index) => index + 1)
  const later = Object.entries(members).flatMap(([id, address]) =>
    address === '' || Number(id) === context.self ? [] : [{ id: Number(id), address }],
  )
  const others = atBirth.filter(id => id !== context.self)
  return [...others.map(id => (former?.[id] ? { id, address: '' } : id)), ...later]
}

function isSame(one: Untold, other: Untold): boolean {
  const [left, right] = [one, other].map(peer =>
    typeof peer === 'number' ? { id: peer, address: '' } : peer,
  )
  return left!.id === right!.id && left!.address === right!.address
}

/** Also at the start of an instance: the one before may have told nobody. */
export function tellAll(step: Step): void {
  const { untold = [] } = step.state.birth
  if (untold.length === 0) return cancelTimer(step, TELL_TIMER)
  for (const peer of placedUntold(step))
    if (typeof peer === 'number') send(step, peer, { type: 'ended' })
    else send(step, peer.id, { type: 'ended' }, MESSAGE_FORMAT, peer.address)
  const { soft } = step.state
  setTimer(step, TELL_TIMER, Math.min(TELL_MS * 2 ** Math.min(soft.tellings, MAX_DOUBLINGS), TELL_MAX_MS))
  soft.tellings++
}

/** A participant that speaks of the present generation need not be told of it. */
export function noteTold(step: Step, peer: ParticipantId, address: string | undefined): void {
  const isIt = (one: Untold) =>
    typeof one === 'number' ? one === peer : one.id === peer && one.address === (address ?? '')
  const { untold = [], mustHear = 0 } = step.state.birth
  const placed = placedUntold(step)
  if (!placed.some(isIt)) return
  const left = untold.filter((_, index) => !isIt(placed[index]!))
  change(step, { untold: left, mustHear: Math.max(0, mustHear - 1) })
  reportIfAllTold(step)
}

function reportIfAllTold(step: Step): void {
  if (step.state.birth.untold?.length !== 0) return
  cancelTimer(step, TELL_TIMER)
  emit(step, { type: 'told' })
}
