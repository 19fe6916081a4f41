/** What must have happened at least once in a batch, for it to have proved anything; by fault and number of participants. */
import type { CountName, Counts } from './counts.ts'
import type { Fault } from './faults.ts'

interface Expectation {
  readonly count: CountName
  /** One of these faults must be on for it to happen. None: it happens without. */
  readonly faults: readonly Fault[]
  /**
   * With fewer participants it cannot happen. One has no network. Two are both needed for a majority: nobody can be
   * suspected by enough, no epoch ends, nobody can lose its storage, nobody falls behind, all must be healed.
   */
  readonly participants: number
}

/** What makes somebody suspect the owner. */
const SUSPICIOUS: readonly Fault[] = [
  'crashes',
  'pauses',
  'partitions',
  'one-way',
  'suspicions',
  'delays',
  'wipes',
]

const expect = (count: CountName, participants: number, ...faults: Fault[]): Expectation => ({
  count,
  faults,
  participants,
})

export const EXPECTATIONS: readonly Expectation[] = [
  expect('grants', 1),
  expect('operations', 1),
  expect('reads', 1),
  expect('confirmedAcquires', 1),
  expect('keepAlives', 1),
  expect('truncations', 1),
  expect('resultsDropped', 1),
  expect('quiescences', 1),
  expect('localHandoffs', 2),
  expect('epochs', 3, ...SUSPICIOUS),
  expect('falseSuspicions', 3, 'suspicions', 'pauses', 'delays', 'one-way', 'partitions'),
  expect('suspectedEjections', 3, ...SUSPICIOUS),
  expect('tokensCoexisting', 3, 'pauses', 'partitions', 'one-way', 'delays'),
  expect('decidedOutcomes', 3, ...SUSPICIOUS),
  expect('rejectedBallots', 3, ...SUSPICIOUS),
  expect('preVotesRefused', 2, ...SUSPICIOUS),
  expect('brokenAfterHealing', 3),
  expect('ejections', 1, 'client-crashes', 'expiries', 'operator'),
  expect('expiries', 1, 'client-crashes', 'expiries'),
  expect('operatorEjections', 1, 'operator'),
  expect('withdrawals', 1, 'withdrawals'),
  expect('pendingAtEjection', 3, ...SUSPICIOUS),
  expect('catchUps', 2, 'loss', 'reordering', 'partitions', 'one-way', 'crashes', 'wipes'),
  expect('snapshots', 3, 'crashes', 'pauses', 'partitions', 'one-way', 'wipes'),
  expect('losses', 2, 'loss'),
  expect('duplicates', 2, 'duplication'),
  expect('reorderings', 2, 'reordering'),
  expect('delaySpikes', 1, 'delays'),
  expect('partitions', 2, 'partitions'),
  expect('oneWayPartitions', 2, 'one-way'),
  expect('pauses', 1, 'pauses'),
  expect('crashes', 1, 'crashes'),
  expect('crashesAfterSave', 1, 'crashes'),
  expect('wipes', 3, 'wipes'),
  expect('readmissions', 3, 'wipes'),
  expect('unreachableHints', 2, 'crashes', 'partitions', 'one-way'),
  expect('clientCrashes', 1, 'client-crashes'),
  expect('clientRetries', 1),
  expect('operationsAskedAgain', 1, 'client-crashes', 'operator', 'expiries'),
]

/** Fewer runs than this prove nothing either way. */
export const RUNS_THAT_COUNT = 200

/** What should have happened and did not. */
export function missing(
  counts: Counts,
  runs: number,
  participants: number,
  faults: readonly Fault[],
): CountName[] {
  if (runs < RUNS_THAT_COUNT) return []
  return EXPECTATIONS.filter(expectation => {
    if (participants < expectation.participants || counts[expectation.count] > 0) return false
    return expectation.faults.length === 0 || expectation.faults.some(fault => faults.includes(fault))
  }).map(expectation => expectation.count)
}
