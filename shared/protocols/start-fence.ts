/**
 * Where the fences of a lock begin, for protocols whose fences do not count epochs: above the fences of all
 * earlier epochs.
 */
import type { ParticipantConfig } from './protocol.ts'

/** As many fences as an epoch can give away without a majority, in the protocols that have epochs. */
const FENCES_PER_EPOCH = 1_024

export const startFence = ({ startEpoch }: Pick<ParticipantConfig, 'startEpoch'>): number =>
  (startEpoch ?? 0) * FENCES_PER_EPOCH
