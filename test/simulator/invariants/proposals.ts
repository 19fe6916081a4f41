/**
 * What a proposer of its own value must have seen to: the longest log of those who sent a NEWEP, and an owner that can take the
 * token up (trap B8), the incumbent if it is there (trap B9). A value that was accepted before is somebody else's.
 */
import { isSuspected } from '../../../shared/detector.ts'
import type { AcceptMessage, NewEpochMessage } from '../../../shared/protocols/wme/messages.ts'
import { violate } from '../violation.ts'
import type { WmeParticipant } from './wme-participant.ts'

export function checkProposal({ id, state }: WmeParticipant, { epoch, value }: AcceptMessage): void {
  const { newEpochs, proposal, detector } = state.soft
  if (proposal === null || proposal.promises.some(accepted => accepted != null)) return
  const collected = newEpochs.filter((message): message is NewEpochMessage => message != null)
  const longest = Math.max(...collected.map(({ committed, entries }) => committed + entries.length))
  if (value.base + value.entries.length !== longest) {
    violate('I5', `p${id} proposes a log that ends at ${value.base + value.entries.length}, but has seen ${longest}`)
  }
  const isHere = (participant: number) =>
    participant === id ||
    (newEpochs[participant] != null &&
      !isSuspected(detector, participant) &&
      value.incarnations[participant] === state.durable.epoch.incarnations[participant])
  if (!isHere(value.owner)) violate('B8', `p${id} proposes p${value.owner} as the owner, who is not there`)
  const incumbents = collected
    .filter(({ committed, entries }) => committed + entries.length === longest)
    .map(({ owner }) => owner)
  if (value.owner !== incumbents[0] && incumbents.every(isHere)) {
    violate('B9', `p${id} proposes p${value.owner} as the owner of what follows epoch ${epoch}, but p${incumbents[0]} is there`)
  }
}
