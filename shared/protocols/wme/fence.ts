/**
 * The fence of a grant (L5): one safe integer that orders grants by (epoch, sequence) and is never used
 * twice.
 *
 * A grant that was rolled back has a sequence that the next epoch uses again. But an owner never appends more
 * than `FENCE_GAP` entries above what it knows to be committed, and everything committed is decided. So the
 * sequence of a rolled-back grant of epoch e is at most FENCE_GAP above the first of epoch e+1, whose fences
 * begin FENCE_GAP later.
 */
export const FENCE_GAP = 1_024

export const fenceOf = (epoch: number, sequence: number): number => epoch * FENCE_GAP + sequence
