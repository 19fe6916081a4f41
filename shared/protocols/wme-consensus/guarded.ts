/** The guarded state as this participant has it, and what its log says beyond that. */
import type { Invocation } from '../../resource/replica.ts'
import type { GuardedState } from '../protocol.ts'
import { lengthOf, undecided } from './log.ts'
import type { ConsensusState } from './state.ts'

export function guarded({ durable }: ConsensusState): GuardedState {
  const { machine, replica } = durable
  return {
    replica,
    committed: machine.applied,
    nextSequence: lengthOf(durable) + 1,
    onTheWay: () =>
      undecided(durable).flatMap(({ position, command }): Invocation[] =>
        command.kind === 'operation'
          ? [{ sequence: position, opId: command.opId, operation: command.operation }]
          : [],
      ),
    latestFence: () => machine.latestFence,
    fencesUsed: () => machine.latestFence,
  }
}
