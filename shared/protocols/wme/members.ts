/**
 * The members of the present epoch. The decision of an epoch names the members of the next one
 * (change-of-members.ts), so each epoch has one set, and everything in the epoch is counted by it: votes,
 * acknowledgements, requests. Sets themselves are in ../members/.
 */
import type { ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import type { Step } from './step.ts'

/** Whether this participant is a member of the present epoch: nobody else is counted (rule M10). */
export const isMember = (step: Step, participant: ParticipantId): boolean =>
  step.state.derived.members.includes(participant)

export const peersOf = ({ state, context }: Step): ParticipantId[] =>
  state.derived.members.filter(member => member !== context.config.self)

export const majorityOf = ({ state }: Step): number => majority(state.derived.members.length)

/** Whether there is nobody to ask. */
export const isAlone = ({ state }: Step): boolean => state.derived.members.length === 1
