/** What must have happened in a batch of runs of the whole service, for it to have proved anything. */
import { COUNT_NAMES, type CountName, type Counts } from './counts.ts'

/** Fewer runs than this prove nothing either way. */
export const RUNS_THAT_COUNT = 300

/** All of what is counted; what is rare is in one run of a hundred. */
export function missing(counts: Counts, runs: number): CountName[] {
  if (runs < RUNS_THAT_COUNT) return []
  return COUNT_NAMES.filter(name => counts[name] === 0)
}
