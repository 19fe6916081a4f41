/**
 * A set of members with a name, and what records and messages say of one. A lock whose members never changed
 * has no set in its records: its members are the participants 1..N that it was born with.
 */
import type { KnownMembers, Members, ParticipantConfig, ParticipantId, PresentMembers } from '../protocol.ts'
import { type Collecting, emit } from '../step.ts'

export interface MemberSet {
  readonly members: Members
  /** Names the set: a number that grows from each set to the next, such as the epoch that it began with. */
  readonly config: number
  /** The highest number that a member ever had: no number is used twice (rule M6). */
  readonly highest: number
  /** The change that made this set. */
  readonly change: string
}

/** What records and messages say about the members. Absent: those that the lock was born with. */
export interface OfSet<Set extends MemberSet = MemberSet> {
  readonly set?: Set
}

/** A record or a message contains the set only if there is one. */
export const withSet = <Set extends MemberSet>(set: Set | undefined): OfSet<Set> =>
  set === undefined ? {} : { set }

export type Born = Pick<ParticipantConfig, 'participants'>

export function membersIn({ participants }: Born, { set }: OfSet): readonly ParticipantId[] {
  return set === undefined
    ? Array.from({ length: participants }, (_, index) => index + 1)
    : Object.keys(set.members).map(Number)
}

/** Where each member is. Those that the lock was born with are where the configuration says. */
export const addressesIn = ({ participants }: Born, { set }: OfSet): Members =>
  set?.members ?? membersAtBirth(participants)

/** By their number. Asked for after every step, and always the same. */
const KNOWN_AT_BIRTH: Members[] = []

function membersAtBirth(participants: number): Members {
  KNOWN_AT_BIRTH[participants] ??= Object.freeze(
    Object.fromEntries(membersIn({ participants }, {}).map(member => [member, ''])),
  )
  return KNOWN_AT_BIRTH[participants]
}

export const isIn = ({ participants }: Born, { set }: OfSet, participant: ParticipantId): boolean =>
  set === undefined ? participant >= 1 && participant <= participants : set.members[participant] !== undefined

/** Whether it is this participant that is meant, and not one of the same number in another place. */
export const isSelfIn = (config: ParticipantConfig, ofSet: OfSet): boolean =>
  addressesIn(config, ofSet)[config.self] === (config.address ?? '')

export const highestIn = ({ participants }: Born, { set }: OfSet): number => set?.highest ?? participants

/** Names the set; 0 is the one that the lock was born with. */
export const configIn = ({ set }: OfSet): number => set?.config ?? 0

/** What users and operators are told of it. */
export const presentIn = (born: Born, ofSet: OfSet): PresentMembers => ({
  configuration: configIn(ofSet),
  members: addressesIn(born, ofSet),
})

/** What the interpreter may know of it. */
export const knownIn = (born: Born, ofSet: OfSet, isHandedOver: boolean): KnownMembers => ({
  ...presentIn(born, ofSet),
  isHandedOver,
  highest: highestIn(born, ofSet),
  change: ofSet.set?.change ?? null,
})

/** The interpreter must be able to find them. A hint is what somebody else said. */
export function sayMembers(
  step: Collecting & { readonly context: { readonly config: Born } },
  ofSet: OfSet,
  isHint?: true,
): void {
  const present = presentIn(step.context.config, ofSet)
  emit(step, { type: 'members', ...present, ...(isHint && { isHint }) })
}

/** The same participants in the same places. */
export function areSame(one: Members, other: Members): boolean {
  const numbers = Object.keys(one)
  return (
    numbers.length === Object.keys(other).length && numbers.every(number => one[number] === other[number])
  )
}

/** A list that is indexed by participant has this length. */
export const slots = ({ self, participants }: ParticipantConfig, ofSet: OfSet): number =>
  Math.max(self, participants, highestIn({ participants }, ofSet)) + 1
