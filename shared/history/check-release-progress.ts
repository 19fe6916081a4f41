/** H7, CS-release progress (section 3): a user that resigns gets out. Every `exit` is answered with `rem`. */
import { show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import type { ActiveUsers, LivenessScope } from './liveness.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkReleaseProgress(
  events: readonly HistoryEvent[],
  scope: LivenessScope,
  atEnd: ActiveUsers,
): PropertyVerdict {
  const findings = new Findings(events)
  for (const [user, { phase, since, participant }] of atEnd) {
    if (phase !== 'leaving' || !scope.healedParticipants.has(participant)) continue
    findings.violation(() => `the \`exit\` of user ${show(user)} was never answered`, since, scope.end)
  }
  return findings.liveness('CS-release progress')
}
