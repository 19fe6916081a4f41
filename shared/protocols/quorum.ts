/** Quorum arithmetic. It stands alone so that it can be tested against a deliberately naive version. */

/** ⌊N/2⌋ + 1 participants: any two majorities have a participant in common. */
export const majority = (participants: number): number => Math.floor(participants / 2) + 1

/** The largest number that a majority has reached. `reached` is indexed by participant; index 0 is unused. */
export function reachedByMajority(reached: readonly number[]): number {
  const participants = reached.length - 1
  let best = 0
  for (let i = 1; i <= participants; i++) {
    const candidate = reached[i]!
    if (candidate <= best) continue
    let holders = 0
    for (let j = 1; j <= participants; j++) if (reached[j]! >= candidate) holders++
    if (holders >= majority(participants)) best = candidate
  }
  return best
}
