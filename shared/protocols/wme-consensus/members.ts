/** The members, as the decided commands say: nobody else is counted (rule M10). Sets are in ../members/. */
import { proposerOf } from '../ballots.ts'
import { membersIn } from '../members/sets.ts'
import type { ParticipantId } from '../protocol.ts'
import { majority } from '../quorum.ts'
import type { Step } from './step.ts'

export const membersOf = ({ state, context }: Step): readonly ParticipantId[] =>
  membersIn(context.config, state.durable.machine)

export const isMember = (step: Step, participant: ParticipantId): boolean =>
  membersOf(step).includes(participant)

export const peersOf = (step: Step): ParticipantId[] =>
  membersOf(step).filter(member => member !== step.context.config.self)

export const majorityOf = (step: Step): number => majority(membersOf(step).length)

/** Whether there is nobody to ask. */
export const isAlone = (step: Step): boolean => peersOf(step).length === 0

/**
 * Who is expected to propose: the coordinator of the highest ballot. If that one is no member any more, the
 * first member is (rule M8).
 */
export function coordinatorOf(step: Step): ParticipantId {
  const proposer = proposerOf(step.state.durable.acceptor.promised)
  return isMember(step, proposer) ? proposer : Math.min(...membersOf(step))
}
