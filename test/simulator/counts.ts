/** What happened in a run. If something never happened in a batch, the batch has proved nothing about it. */
import { addTo, zeroOf } from './counters.ts'

export const COUNT_NAMES = [
  // the protocol at work
  'grants',
  'operations',
  'epochs',
  'reads',
  'confirmedAcquires',
  'localHandoffs',
  'ejections',
  'suspectedEjections',
  'expiries',
  'operatorEjections',
  'withdrawals',
  'pendingAtEjection',
  'preVotesRefused',
  'rejectedBallots',
  'catchUps',
  'snapshots',
  'truncations',
  'resultsDropped',
  'readmissions',
  'tokensCoexisting',
  'decidedOutcomes',
  'majoritiesFirst',
  'lateAnswers',
  'readersTogether',
  // faults
  'losses',
  'duplicates',
  'reorderings',
  'delaySpikes',
  'partitions',
  'oneWayPartitions',
  'pauses',
  'crashes',
  'crashesAfterSave',
  'savesThatWait',
  'waitingSavesLost',
  'wipes',
  'falseSuspicions',
  'wrongTimeouts',
  'deafOwners',
  'unreachableHints',
  // clients
  'clientCrashes',
  'clientRetries',
  'operationsAskedAgain',
  'keepAlives',
  'refusals',
  'mischief',
  'groupChanges',
  // changes of the members
  'memberChanges',
  'setsEntered',
  'wholeSetsReplaced',
  'changesLost',
  'changesCancelled',
  'changesAskedElsewhere',
  'newcomersNotReached',
  'newcomersPrimed',
  'newcomersWiped',
  'removals',
  'lateRemovals',
  'tombstones',
  'machinesSwitchedOff',
  'holdersKept',
  'holdersRemoved',
  'ownersDrained',
  // fairness is judged
  'calmStretches',
  // healing
  'brokenAfterHealing',
  'quiescences',
] as const

export type CountName = (typeof COUNT_NAMES)[number]
export type Counts = { [name in CountName]: number }

export const zeroCounts = (): Counts => zeroOf(COUNT_NAMES)
export const addCounts: (total: Counts, counts: Counts) => void = addTo
