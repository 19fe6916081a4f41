/** Where the fences of a lock begin, for protocols whose fences do not count epochs: above those of all earlier epochs. */
import type { ParticipantConfig } from './protocol.ts'

/** As many as an epoch of the protocols that have epochs can give away without a majority. */
const FENCES_PER_EPOCH = 1_024

export const startFence = ({ startEpoch }: ParticipantConfig): number => (startEpoch ?? 0) * FENCES_PER_EPOCH
