/** What happened in a run of the whole service. */
export const COUNT_NAMES = [
  // what clients saw
  'requests',
  'acknowledged',
  'notApplied',
  'unknown',
  'conditionsFailed',
  'grants',
  'refusedGrants',
  'releases',
  'keepAlives',
  'tickets',
  'sessions',
  'sessionOutcomes',
  'sessionTransacts',
  'sessionReads',
  'watchEvents',
  'reads',
  'linearizableReads',
  'statuses',
  'histories',
  'ejections',
  'configured',
  'configurationConflicts',
  'configurationsRefused',
  'operationsAskedAgain',
  'clientAborts',
  'clientsVanished',
  'waitersVanished',
  'ghosts',
  'deafSessions',
  // the platform
  'births',
  'instances',
  'commits',
  'alarms',
  'timeouts',
  'peerRequests',
  'crashes',
  'crashesAtACall',
  'evictions',
  'superseded',
  'aborts',
  'resets',
  'writesLost',
  'writesFailed',
  'fullDisks',
  'objectsWiped',
  'sitesWiped',
  'wipesOneAfterTheOther',
  'rejoins',
  'kills',
  'freezes',
  'partitions',
  'oneWayPartitions',
  'slowdowns',
  'requestsLost',
  'responsesLost',
  'requestsRepeated',
  'stragglers',
  'clockJumps',
  'alarmsEarly',
  'alarmsLate',
  'alarmsTwice',
  'alarmsRetried',
  'deployments',
  'routersRestarted',
  'socketsDropped',
  // healing
  'brokenAfterHealing',
  'locksAlive',
  'locksDown',
  'locksUpAllTheSame',
  'quiescences',
] as const

export type CountName = (typeof COUNT_NAMES)[number]
export type Counts = { [name in CountName]: number }

export function zeroCounts(): Counts {
  const counts: Partial<Counts> = {}
  for (const name of COUNT_NAMES) counts[name] = 0
  return counts as Counts
}

export function addCounts(total: Counts, counts: Counts): void {
  for (const name of COUNT_NAMES) total[name] += counts[name]
}
