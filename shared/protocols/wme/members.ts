/**
 * The members of a lock, as a set with a number. The decision of an epoch names the members of the next one
 * (change-of-members.ts), so each epoch has one set, and everything in the epoch is counted by it: votes,
 * acknowledgements, requests. A lock whose members never changed has no set in its records: its members are
 * the participants 1..N that it was born with.
 */
import type { Members, ParticipantConfig, ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import type { EpochRecord } from './state.ts'
import type { Step } from './step.ts'

export interface MemberSet {
  readonly members: Members
  /** The epoch that this set began with. It names the set. */
  readonly config: number
  /** The highest number that a member ever had: no number is used twice (rule M6). */
  readonly highest: number
  /** The change that made this set. */
  readonly change: string
}

/** What records and messages say about the members of an epoch. Absent: those that the lock was born with. */
export interface OfSet {
  readonly set?: MemberSet
}

/** A record or a message contains the set only if there is one. */
export const withSet = (set: MemberSet | undefined): OfSet => (set === undefined ? {} : { set })

type Born = Pick<ParticipantConfig, 'participants'>

export function membersIn({ participants }: Born, { set }: OfSet): readonly ParticipantId[] {
  return set === undefined
    ? Array.from({ length: participants }, (_, index) => index + 1)
    : Object.keys(set.members).map(Number)
}

/** Where each member is. Those that the lock was born with are where the configuration says. */
export function addressesIn(born: Born, { set }: OfSet): Members {
  return set?.members ?? Object.fromEntries(membersIn(born, {}).map(member => [member, '']))
}

export const isIn = ({ participants }: Born, { set }: OfSet, participant: ParticipantId): boolean =>
  set === undefined ? participant >= 1 && participant <= participants : set.members[participant] !== undefined

/** Whether it is this participant that is meant, and not one of the same number in another place. */
export const isSelfIn = (config: ParticipantConfig, ofSet: OfSet): boolean =>
  addressesIn(config, ofSet)[config.self] === (config.address ?? '')

export const highestIn = ({ participants }: Born, { set }: OfSet): number => set?.highest ?? participants

/** Names the set; 0 is the one that the lock was born with. */
export const configIn = ({ set }: OfSet): number => set?.config ?? 0

/** The same participants in the same places. */
export function areSame(one: Members, other: Members): boolean {
  const numbers = Object.keys(one)
  return (
    numbers.length === Object.keys(other).length && numbers.every(number => one[number] === other[number])
  )
}

// ---------------------------------------------------------------- in a step

/** The interpreter must know where the members are. */
export function sayMembers({ state, context, effects }: Step): void {
  const { epoch } = state.durable
  const present = { configuration: configIn(epoch), members: addressesIn(context.config, epoch) }
  effects.push({ type: 'emit', event: { type: 'members', epoch: epoch.epoch, ...present } })
}

/** Whether this participant is a member of the present epoch: nobody else is counted (rule M10). */
export const isMember = (step: Step, participant: ParticipantId): boolean =>
  step.state.derived.members.includes(participant)

export const peersOf = ({ state, context }: Step): ParticipantId[] =>
  state.derived.members.filter(member => member !== context.config.self)

export const majorityOf = ({ state }: Step): number => majority(state.derived.members.length)

/** Whether there is nobody to ask. */
export const isAlone = ({ state }: Step): boolean => state.derived.members.length === 1

/** A list that is indexed by participant has this length. */
export const slots = ({ self, participants }: ParticipantConfig, epoch: EpochRecord): number =>
  Math.max(self, participants, highestIn({ participants }, epoch)) + 1
