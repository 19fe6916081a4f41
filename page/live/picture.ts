/** What a status says, as the page draws it. */
import type { Status } from '../../client/types.ts'
import type { HolderPicture, ParticipantPicture, TokenPicture, WaitingPicture } from '../view/lock-picture.ts'

export function participantsOf({ participants }: Status): ParticipantPicture[] {
  return participants.map(({ id, location, reachable, phase, epoch, sequence, queue, suspects }) => ({
    id,
    location,
    condition: reachable ? 'up' : 'silent',
    phase: phase ?? 'unknown',
    epoch: epoch ?? 0,
    sequence: sequence ?? 0,
    queue: queue ?? 0,
    suspects: suspects ?? [],
  }))
}

/** Those that have come furthest know best where the token is, unless the watch has told of a later grant. */
export function tokenOf(
  { participants }: Status,
  holder: HolderPicture | null,
  holderSequence: number,
): TokenPicture | null {
  const known = participants.filter(({ owner }) => owner !== null)
  const best = known.sort(
    (left, right) => (right.epoch ?? 0) - (left.epoch ?? 0) || (right.sequence ?? 0) - (left.sequence ?? 0),
  )[0]
  if (holder !== null && (best === undefined || holderSequence > (best.sequence ?? 0)))
    return { at: holder.participant, from: null }
  return best === undefined ? null : { at: best.owner!, from: null }
}

export function waitingOf({ participants, waiting }: Status): WaitingPicture[] {
  const since = waiting.since === null ? null : Date.parse(waiting.since)
  return participants
    .filter(({ queue }) => (queue ?? 0) > 0)
    .map(({ id, queue }) => ({ participant: id, number: queue!, since }))
}
