/**
 * What an operator wants of the members, and which changes count (rules M6, M7): the same in every protocol
 * that can change its members. A change names the set that it was made for, its `base`: a late or doubled one
 * is of no effect once there is another set.
 */
import {
  MAX_ADDRESS_LENGTH,
  MAX_MEMBERS,
  MAX_PARTICIPANT_NUMBER,
  type Members,
  type ParticipantId,
} from '../protocol.ts'
import { addressesIn, areSame, type Born, configIn, highestIn, isIn, type OfSet } from './sets.ts'

export interface MemberChange {
  readonly id: string
  /** The set that is to be replaced (`configIn`). */
  readonly base: number
  readonly members: Members
}

/** By participant, the incarnation that is meant. */
export type Incarnations = { readonly [participant: string]: number }

/** A change whose newcomers have all been heard, each in this incarnation (rule M3). */
export interface ReadyChange extends MemberChange {
  readonly primed: Incarnations
}

/** A change that an operator has asked this participant for. It is soft state. */
export interface RequestedChange extends MemberChange {
  readonly request: string
  readonly primed: { [participant: string]: number }
  /** How often the newcomers were invited. */
  invitations: number
}

/** Numbers are used once: a machine that comes back gets a new one (rule M6). */
export function isSet(born: Born, ofSet: OfSet, { id, members }: MemberChange): boolean {
  const present = addressesIn(born, ofSet)
  const highest = highestIn(born, ofSet)
  const isNew = (number: number) =>
    Number.isInteger(number) && number > highest && number <= MAX_PARTICIPANT_NUMBER
  // A number is written in one way, or it would be two members.
  const isWritten = (number: string) => String(Number(number)) === number
  const isPlace = ([number, address]: [string, string]) =>
    present[number] === undefined ? isWritten(number) && isNew(Number(number)) : address === present[number]
  const places = Object.entries(members)
  const isShort = (text: string) => text.length <= MAX_ADDRESS_LENGTH
  return (
    places.length > 0 &&
    places.length <= MAX_MEMBERS &&
    [id, ...Object.values(members)].every(isShort) &&
    places.every(isPlace)
  )
}

/** It was made for the present set, and that set is another one than it wants. */
export const isCurrent = (born: Born, ofSet: OfSet, change: MemberChange): boolean =>
  change.base === configIn(ofSet) && !isInForce(born, ofSet, change)

/**
 * By its name, or by what it asks for: what is done need not be done again. If it was made for a set that is
 * not known here, the same members may have been replaced since.
 */
export const isInForce = (born: Born, ofSet: OfSet, { id, base, members }: MemberChange): boolean =>
  ofSet.set?.change === id || (base <= configIn(ofSet) && areSame(members, addressesIn(born, ofSet)))

export const newcomersOf = (born: Born, ofSet: OfSet, { members }: MemberChange): ParticipantId[] =>
  Object.keys(members)
    .map(Number)
    .filter(participant => !isIn(born, ofSet, participant))

/** The newcomers that have not been heard. */
export const absentOf = (born: Born, ofSet: OfSet, change: ReadyChange): ParticipantId[] =>
  newcomersOf(born, ofSet, change).filter(newcomer => change.primed[newcomer] === undefined)

/** The highest number that was ever used, if this is the next set. */
export const highestAfter = (born: Born, ofSet: OfSet, { members }: MemberChange): number =>
  Math.max(highestIn(born, ofSet), ...Object.keys(members).map(Number))
