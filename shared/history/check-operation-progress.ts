/**
 * H8, operation progress (section 3): an operation that was issued succeeds or fails, and in the end all
 * succeed. It fails only by an ejection, and the only ejections that the paper knows are those for suspicion:
 * once the failure detectors have settled there are none but those that were decided before. (An ejection
 * because a grant expired, or because an operator wanted it, is not a suspicion.)
 */
import { show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import type { ActiveUsers, LivenessScope } from './liveness.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkOperationProgress(
  events: readonly HistoryEvent[],
  scope: LivenessScope,
  atEnd: ActiveUsers,
): PropertyVerdict {
  const findings = new Findings(events)
  for (const [user, { phase, since, participant }] of atEnd) {
    if (phase !== 'issuing' || !scope.healedParticipants.has(participant)) continue
    findings.violation(() => `user ${show(user)} never heard of its operation again`, since, scope.end)
  }
  const latestFence = latestFenceBefore(events, scope.settled)
  for (let index = scope.settled + 1; index < scope.end; index++) {
    const event = events[index]!
    if (event.type !== 'ejected' || event.reason !== 'suspected') continue
    if (!scope.healedParticipants.has(event.participant)) continue
    // Somebody else was inside before that: it was decided then, and only heard of late.
    if (event.fence < latestFence) continue
    const message = () =>
      `user ${show(event.user)} was ejected on suspicion after the failure detectors had settled`
    findings.violation(message, scope.settled, index)
  }
  return findings.liveness('operation progress')
}

function latestFenceBefore(events: readonly HistoryEvent[], end: number): number {
  let latest = 0
  for (const event of events.slice(0, end)) {
    if (event.type === 'crit') latest = Math.max(latest, event.fence)
  }
  return latest
}
