/**
 * What must have happened at least once in a batch for it to prove anything; by protocol, fault and number of
 * participants.
 */
import { CHANGING_PROTOCOLS } from '../../shared/protocols/members/which.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import type { CountName, Counts } from './counts.ts'
import type { Fault } from './faults.ts'
import type { RunOptions } from './scenario.ts'

interface Expectation {
  readonly count: CountName
  /** One of these faults must be on for it to happen. If there are none, it happens without. */
  readonly faults: readonly Fault[]
  /**
   * With fewer participants it cannot happen. One participant has no network. Two are both needed for a
   * majority: nobody can be suspected by enough, no epoch ends, nobody can lose its storage or fall behind,
   * and all must be healed.
   */
  readonly participants: number
  readonly protocols: readonly ProtocolName[]
  /** It happens only if operators change the members. */
  readonly isOfChanges?: true
}

/** The faults that make a participant suspect the owner. */
const SUSPICIOUS: readonly Fault[] = [
  'crashes',
  'pauses',
  'partitions',
  'one-way',
  'suspicions',
  'delays',
  'wipes',
]

const WME: readonly ProtocolName[] = ['wme-1', 'wme-2']
/** The protocols that guard a replicated state. */
const REPLICATED: readonly ProtocolName[] = [...WME, 'wme-consensus']
const LOCK_ONLY: readonly ProtocolName[] = ['ricart-agrawala', 'maekawa']
const ALL: readonly ProtocolName[] = [...REPLICATED, ...LOCK_ONLY]

const expectOf =
  (protocols: readonly ProtocolName[]) =>
  (count: CountName, participants: number, ...faults: Fault[]): Expectation => ({
    count,
    faults,
    participants,
    protocols,
  })

const ofAll = expectOf(ALL)
const ofReplicated = expectOf(REPLICATED)
const ofWme = expectOf(WME)
const ofWme2 = expectOf(['wme-2'])

const ofChanges = (protocols: readonly ProtocolName[], ...counts: CountName[]): Expectation[] =>
  counts.map(count => ({ ...expectOf(protocols)(count, 3), isOfChanges: true }))

export const EXPECTATIONS: readonly Expectation[] = [
  ofAll('grants', 1),
  ofReplicated('operations', 1),
  ofReplicated('reads', 1),
  ofAll('confirmedAcquires', 1),
  ofAll('keepAlives', 1),
  ofWme('truncations', 1),
  ofWme('savesThatWait', 1),
  ofWme('waitingSavesLost', 1, 'crashes'),
  ofWme('resultsDropped', 1),
  ofAll('quiescences', 1),
  ofAll('calmStretches', 1),
  // Where every entry is decided, no user follows another without a decision.
  expectOf([...WME, ...LOCK_ONLY])('localHandoffs', 2),
  expectOf(['ricart-agrawala'])('readersTogether', 1),
  ofWme('epochs', 3, ...SUSPICIOUS),
  ofWme('falseSuspicions', 3, 'suspicions', 'pauses', 'delays', 'one-way', 'partitions'),
  ofWme('wrongTimeouts', 2, 'delays', 'loss', 'pauses'),
  ofWme('deafOwners', 3, 'one-way'),
  ofReplicated('suspectedEjections', 3, ...SUSPICIOUS),
  ofWme('tokensCoexisting', 3, 'pauses', 'partitions', 'one-way', 'delays'),
  ofWme('decidedOutcomes', 3, ...SUSPICIOUS),
  ofWme2('majoritiesFirst', 3),
  ofWme2('lateAnswers', 3, 'crashes', 'pauses', 'partitions', 'one-way', 'delays', 'loss'),
  ofWme('rejectedBallots', 3, ...SUSPICIOUS),
  ofWme('preVotesRefused', 2, ...SUSPICIOUS),
  ofReplicated('brokenAfterHealing', 3),
  ofAll('ejections', 1, 'client-crashes', 'expiries', 'operator'),
  ofAll('expiries', 1, 'client-crashes', 'expiries'),
  ofAll('operatorEjections', 1, 'operator'),
  ofAll('withdrawals', 1, 'withdrawals'),
  ofReplicated('pendingAtEjection', 3, ...SUSPICIOUS),
  ofWme('catchUps', 2, 'loss', 'reordering', 'partitions', 'one-way', 'crashes', 'wipes'),
  ofReplicated('snapshots', 3, 'crashes', 'pauses', 'partitions', 'one-way', 'wipes'),
  ofAll('losses', 2, 'loss'),
  ofAll('duplicates', 2, 'duplication'),
  ofAll('reorderings', 2, 'reordering'),
  ofAll('delaySpikes', 1, 'delays'),
  ofAll('partitions', 2, 'partitions'),
  ofAll('oneWayPartitions', 2, 'one-way'),
  ofAll('pauses', 1, 'pauses'),
  ofAll('crashes', 1, 'crashes'),
  ofAll('crashesAfterSave', 1, 'crashes'),
  ofWme('wipes', 3, 'wipes'),
  ofWme('readmissions', 3, 'wipes'),
  ofAll('unreachableHints', 2, 'crashes', 'partitions', 'one-way'),
  ofAll('clientCrashes', 1, 'client-crashes'),
  ofAll('clientRetries', 1),
  ofReplicated('operationsAskedAgain', 1, 'client-crashes', 'operator', 'expiries'),
  expectOf(['ricart-agrawala'])('groupChanges', 2, 'leavers'),
  // The seeds of wme-1 and wme-2 do not include it (variant.ts).
  expectOf(['wme-consensus', ...LOCK_ONLY])('mischief', 1, 'mischief'),
  ...ofChanges(
    CHANGING_PROTOCOLS,
    'memberChanges',
    'setsEntered',
    'wholeSetsReplaced',
    'changesLost',
    'changesAskedElsewhere',
    'newcomersNotReached',
    'removals',
    'machinesSwitchedOff',
  ),
  ...ofChanges(REPLICATED, 'tombstones'),
  ...ofChanges(WME, 'newcomersPrimed', 'lateRemovals', 'holdersKept', 'holdersRemoved', 'ownersDrained'),
  ...ofChanges(['ricart-agrawala'], 'changesCancelled'),
  ...ofChanges(REPLICATED, 'newcomersWiped').map(expectation => ({
    ...expectation,
    faults: ['wipes'] as const,
  })),
]

/** Fewer runs than this prove nothing either way. */
export const RUNS_THAT_COUNT = 200

/** What should have happened and did not. */
export function missing(
  counts: Counts,
  runs: number,
  {
    protocol,
    participants,
    faults,
    members,
  }: Pick<RunOptions, 'protocol' | 'participants' | 'faults' | 'members'>,
): CountName[] {
  if (runs < RUNS_THAT_COUNT) return []
  return EXPECTATIONS.filter(expectation => {
    if (participants < expectation.participants || counts[expectation.count] > 0) return false
    if (!expectation.protocols.includes(protocol)) return false
    if (expectation.isOfChanges && !members) return false
    // While members come and go, who goes first is not counted (calm.ts).
    if (expectation.count === 'calmStretches' && members) return false
    return expectation.faults.length === 0 || expectation.faults.some(fault => faults.includes(fault))
  }).map(expectation => expectation.count)
}
