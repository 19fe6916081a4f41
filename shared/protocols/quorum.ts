/** Quorum arithmetic. It stands alone so that it can be tested against a deliberately naive version. */

/** ⌊N/2⌋ + 1 participants: any two majorities have a participant in common. */
export const majority = (participants: number): number => Math.floor(participants / 2) + 1

/** The largest number that a majority has reached. `reached` is indexed by participant; index 0 is unused. */
export function reachedByMajority(reached: readonly number[]): number {
  return reachedByMajorityOf(
    reached.slice(1).map((_, index) => index + 1),
    reached,
  )
}

/** The largest number that a majority of these participants has reached. */
export function reachedByMajorityOf(members: readonly number[], reached: readonly number[]): number {
  let best = 0
  for (const member of members) {
    const candidate = reached[member]!
    if (candidate <= best) continue
    let holders = 0
    for (const other of members) if (reached[other]! >= candidate) holders++
    if (holders >= majority(members.length)) best = candidate
  }
  return best
}
