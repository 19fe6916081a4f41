/**
 * The judge: whether a recorded history keeps the promises of weak mutual exclusion (section 3 of the paper)
 * or, if its protocol guards no state, those of mutual exclusion. Every property has a file of its own,
 * `check-*.ts`. The time each takes is linear in the length of the history, or little more.
 *
 * A violation is reported under the property that it breaks, not under those that follow from it. The top of
 * each file says what it reports.
 *
 * @example
 *   const { verdict, properties } = judge(history, keyValue)
 */
import type { LockOnlyName } from '../protocols/protocol.ts'
import type { Resource } from '../resource/resource.ts'
import { checkIncreasingFences } from './check-increasing-fences.ts'
import { checkMembers } from './check-members.ts'
import { checkMutualExclusion } from './check-mutual-exclusion.ts'
import { checkOneCopy, hashPositions } from './check-one-copy.ts'
import { checkOperationProgress } from './check-operation-progress.ts'
import { checkReleaseProgress } from './check-release-progress.ts'
import { checkCalmStretches, checkStarvationFreedom } from './check-starvation-freedom.ts'
import { checkUpToDate } from './check-up-to-date.ts'
import { checkWellFormedness } from './check-well-formedness.ts'
import { checkWme1 } from './check-wme1.ts'
import { checkWme2 } from './check-wme2.ts'
import { checkWme3 } from './check-wme3.ts'
import { findCriticalSections } from './critical-sections.ts'
import type { History, HistoryEvent, HistoryHeader } from './events.ts'
import { findInstances, type Instances } from './instances.ts'
import { activeAtEnd, livenessScope } from './liveness.ts'
import { type Replay, replay } from './replay.ts'
import { type SerialOrder, serialOrder } from './serial-order.ts'
import {
  type HistoryCounts,
  type Judgement,
  type LivenessProperty,
  notJudged,
  type PropertyVerdict,
  worst,
} from './verdict.ts'

export const LIVENESS_PROPERTIES: readonly LivenessProperty[] = [
  'CS-release progress',
  'operation progress',
  'starvation-freedom',
]

const LOCK_ONLY: { readonly [name in LockOnlyName]: true } = { 'ricart-agrawala': true, maekawa: true }

/** Whether the lock of this history has a replicated state and users that change it. */
const guardsState = ({ protocol }: HistoryHeader): boolean => !Object.hasOwn(LOCK_ONLY, protocol)

/** `resource` is the one that the header names: the operations are replayed on it. */
export function judge(history: History, resource: Resource): Judgement {
  const { header, events } = history
  if (header.resource !== resource.name) {
    throw new Error(`the history is about the resource '${header.resource}', not '${resource.name}'`)
  }
  const order = serialOrder(events)
  const instances = findInstances(events)
  const replayed = replay(order, resource, header.resultsKept, hashPositions(events, order))
  const safety = [
    ...(guardsState(header)
      ? judgeReplicatedLock(events, order, instances, replayed)
      : judgeLockOnly(events, instances)),
    ...(events.some(({ type }) => type === 'members') ? [checkMembers(events)] : []),
  ]
  const liveness = judgeLiveness(history)
  const safetyVerdict = worst(safety.map(property => property.verdict))
  const livenessVerdict = worst(liveness.map(property => property.verdict))
  return {
    verdict: worst([safetyVerdict, livenessVerdict]),
    safety: safetyVerdict,
    liveness: livenessVerdict,
    properties: [...safety, ...liveness],
    counts: count(events, order, replayed),
  }
}

function judgeReplicatedLock(
  events: readonly HistoryEvent[],
  order: SerialOrder,
  instances: Instances,
  replayed: Replay,
): PropertyVerdict[] {
  return [
    checkWellFormedness(events),
    checkOneCopy(events, order, replayed),
    checkWme1(events, order, instances),
    checkWme2(events, order, instances),
    checkWme3(events, order, instances),
    checkUpToDate(events, order),
  ]
}

function judgeLockOnly(events: readonly HistoryEvent[], instances: Instances): PropertyVerdict[] {
  const sections = findCriticalSections(events, instances)
  return [
    checkWellFormedness(events, false),
    checkMutualExclusion(events, sections),
    checkIncreasingFences(events, sections, instances),
  ]
}

function judgeLiveness(history: History): PropertyVerdict[] {
  const { header, events } = history
  const scope = livenessScope(history)
  if (typeof scope === 'string') {
    return LIVENESS_PROPERTIES.map(name =>
      name === 'starvation-freedom'
        ? checkCalmStretches(events, header, scope)
        : notJudged(name, 'liveness', scope),
    )
  }
  const atEnd = activeAtEnd(events, scope)
  return [
    checkReleaseProgress(events, scope, atEnd),
    checkOperationProgress(events, scope, atEnd),
    checkStarvationFreedom(events, header, scope, atEnd),
  ]
}

function count(events: readonly HistoryEvent[], order: SerialOrder, replayed: Replay): HistoryCounts {
  const users = new Set<string>()
  const ofType = new Map<HistoryEvent['type'], number>()
  let hashes = 0
  for (const event of events) {
    if ('user' in event) users.add(event.user)
    if ('hash' in event && event.hash !== undefined) hashes++
    ofType.set(event.type, (ofType.get(event.type) ?? 0) + 1)
  }
  const counted = (type: HistoryEvent['type']) => ofType.get(type) ?? 0
  return {
    events: events.length,
    users: users.size,
    tries: counted('try'),
    grants: counted('crit'),
    operations: order.entries.length,
    repeated: replayed.repeated,
    outcomes: counted('outcome'),
    ejections: counted('ejected'),
    crashes: counted('crash'),
    restores: counted('restore'),
    wipes: counted('wipe'),
    hashes,
  }
}
