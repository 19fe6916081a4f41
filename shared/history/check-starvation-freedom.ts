/**
 * Starvation-freedom (section 3): a user that volunteers gets in, if no other user stays inside for ever. We promise more:
 * it gets in after at most N² grants to others, counted from when the participants were healed. The paper has one user for
 * each of N processes. Where a participant has several, each of them waits like a process of its own: N is then the
 * largest number of users that were active at once.
 */
import { show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import { type ActiveUser, ActiveUsers, type LivenessScope } from './liveness.ts'
import { Findings, notJudged, type PropertyVerdict } from './verdict.ts'

/** One stay in the waiting room: until `crit`, or until the end. */
interface Wait {
  readonly user: string
  readonly from: number
  readonly crit: number | null
  readonly othersGranted: number
}

export function checkStarvationFreedom(
  events: readonly HistoryEvent[],
  participants: number,
  scope: LivenessScope,
  atEnd: ActiveUsers,
): PropertyVerdict {
  const findings = new Findings(events)
  const { waits, peak } = collectWaits(events, scope)
  const bound = Math.max(participants, peak) ** 2
  const holder = [...atEnd].find(([, { phase, participant }]) => {
    return phase !== 'trying' && scope.healedParticipants.has(participant)
  })
  let excused = 0
  for (const { user, from, crit, othersGranted } of waits) {
    if (othersGranted > bound) {
      const message = () =>
        `user ${show(user)} waited while others were let in ${othersGranted} times, not ${bound}`
      findings.violation(message, from, scope.healed, crit ?? scope.end)
    } else if (crit === null && holder === undefined) {
      findings.violation(() => `user ${show(user)} was never let in`, from, scope.end)
    } else if (crit === null) {
      excused++
    }
  }
  const verdict = findings.liveness('starvation-freedom')
  if (holder === undefined || excused === 0 || verdict.verdict === 'invalid') return verdict
  const [user, { since }] = holder
  const why = `users wait at the end (${excused}), but user ${show(user)} stays inside: nothing is promised then`
  return notJudged('starvation-freedom', 'liveness', why, [{ index: since, event: events[since]! }])
}

/** The waits of users at healed participants, and how many users were active at once after the healing. */
function collectWaits(
  events: readonly HistoryEvent[],
  scope: LivenessScope,
): { waits: Wait[]; peak: number } {
  const active = new ActiveUsers()
  /** How many grants there were when a user began to wait. */
  const grantsAtTry = new Map<string, number>()
  const waits: Wait[] = []
  let grants = 0
  let grantsAtHealing = 0
  let peak = 0
  const add = (user: string, { since, participant }: ActiveUser, crit: number | null) => {
    if (!scope.healedParticipants.has(participant)) return
    const start = Math.max(grantsAtTry.get(user) ?? 0, grantsAtHealing)
    waits.push({ user, from: since, crit, othersGranted: grants - start })
  }
  for (let index = 0; index < scope.end; index++) {
    const event = events[index]!
    if (index === scope.healed) grantsAtHealing = grants
    if (event.type === 'try') grantsAtTry.set(event.user, grants)
    if (event.type === 'crit') {
      const waiting = active.get(event.user)
      if (index > scope.healed && waiting?.phase === 'trying') add(event.user, waiting, index)
      grants++
    }
    active.follow(index, event)
    if (index >= scope.healed) peak = Math.max(peak, active.size)
  }
  for (const [user, waiting] of active) if (waiting.phase === 'trying') add(user, waiting, null)
  return { waits, peak }
}
