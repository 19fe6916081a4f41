/**
 * H9, starvation-freedom (section 3): a user that volunteers gets in, if no other user stays inside forever.
 * We promise more: it gets in after a bounded number of grants to others (fairness.ts), wherever nothing goes
 * wrong (waits.ts):
 *   - after the healing, within the paper's bound, and before the end;
 *   - in every calm stretch before it, also within the bound that the order of requests gives.
 * A user that still waits when the calm ends has not waited too long yet, unless too many went first.
 */
import { show } from './compare.ts'
import type { HistoryEvent, HistoryHeader } from './events.ts'
import { orderBound, paperBound } from './fairness.ts'
import type { ActiveUsers, LivenessScope } from './liveness.ts'
import { Findings, notJudged, type PropertyVerdict } from './verdict.ts'
import { collectWaits, type Stretch, type Wait } from './waits.ts'

const NAME = 'starvation-freedom'

/** For a history that was healed and brought to its end on purpose: everything owed must be there. */
export function checkStarvationFreedom(
  events: readonly HistoryEvent[],
  header: HistoryHeader,
  scope: LivenessScope,
  atEnd: ActiveUsers,
): PropertyVerdict {
  const findings = new Findings(events)
  const stretches = collectWaits(events, scope)
  const last = stretches.pop()!
  checkCalm(findings, events, header, stretches)
  const bound = paperBound(header, last.usersAtOnce)
  const holder = [...atEnd].find(([, { phase, participant }]) => {
    return phase !== 'trying' && scope.healedParticipants.has(participant)
  })
  let excused = 0
  for (const wait of last.waits) {
    if (wait.othersGranted > bound) reportOvertaken(findings, wait, last, bound)
    else if (wait.ended === null && holder === undefined) {
      findings.violation(() => `user ${show(wait.user)} was never let in`, wait.from, scope.end)
    } else if (wait.ended === null) {
      excused++
    }
  }
  const verdict = findings.liveness(NAME)
  if (holder === undefined || excused === 0 || verdict.verdict === 'invalid') return verdict
  const [user, { since }] = holder
  const why = `users wait at the end (${excused}), but user ${show(user)} stays inside: nothing is promised then`
  return notJudged(NAME, 'liveness', why, [{ index: since, event: events[since]! }])
}

/** For a history without such an end, for the reason given: only its calm stretches can show a violation. */
export function checkCalmStretches(
  events: readonly HistoryEvent[],
  header: HistoryHeader,
  why: string,
): PropertyVerdict {
  const findings = new Findings(events)
  checkCalm(findings, events, header, collectWaits(events, null))
  const verdict = findings.liveness(NAME)
  return verdict.verdict === 'invalid' ? verdict : notJudged(NAME, 'liveness', why)
}

function checkCalm(
  findings: Findings,
  events: readonly HistoryEvent[],
  header: HistoryHeader,
  stretches: readonly Stretch[],
): void {
  const hasReaders = events.some(event => 'mode' in event && event.mode === 'shared')
  for (const stretch of stretches) {
    const paper = paperBound(header, stretch.usersAtOnce)
    for (const wait of stretch.waits) {
      const order = hasReaders ? null : orderBound(header, wait.participant, stretch.usersAt)
      const bound = Math.min(paper, order ?? paper)
      if (wait.othersGranted > bound) reportOvertaken(findings, wait, stretch, bound)
    }
  }
}

function reportOvertaken(findings: Findings, wait: Wait, stretch: Stretch, bound: number): void {
  const { user, from, ended, othersGranted } = wait
  const message = () =>
    `user ${show(user)} waited while others were let in ${othersGranted} times, not ${bound}`
  findings.violation(message, from, stretch.start, ended ?? stretch.end)
}
