/**
 * Starvation-freedom (section 3): a user that volunteers gets in, if no other user stays inside for ever. We promise more:
 * it gets in after at most N² grants to others, counted from when the participants were healed. The paper has one user for
 * each of N processes. Where a participant has several, each of them waits like a process of its own: N is then the
 * largest number of users that were active at once.
 *
 * Readers share: while one of them stays long, somebody may wait for it, and other readers come and go. So grants count only
 * from when the readers have left that were inside when the waiting began.
 */
import type { Mode } from '../protocols/protocol.ts'
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
  const readers = new Readers()
  const waits: Wait[] = []
  let grants = 0
  let grantsAtHealing = 0
  let peak = 0
  const add = (user: string, { since, participant }: ActiveUser, crit: number | null) => {
    if (!scope.healedParticipants.has(participant)) return
    const start = Math.max(grantsAtTry.get(user) ?? 0, grantsAtHealing)
    waits.push({ user, from: since, crit, othersGranted: readers.areAwaitedBy(user) ? 0 : grants - start })
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
    for (const user of readers.follow(event)) grantsAtTry.set(user, grants)
    if (index >= scope.healed) peak = Math.max(peak, active.size)
  }
  for (const [user, waiting] of active) if (waiting.phase === 'trying') add(user, waiting, null)
  return { waits, peak }
}

/** Which readers somebody waits for that were inside when it began to wait. */
class Readers {
  readonly #modes = new Map<string, Mode | undefined>()
  readonly #inside = new Set<string>()
  readonly #awaited = new Map<string, Set<string>>()

  areAwaitedBy(user: string): boolean {
    return this.#awaited.has(user)
  }

  /** Who need not wait for readers any more. */
  follow(event: HistoryEvent): string[] {
    if (!('user' in event)) return []
    const { user } = event
    switch (event.type) {
      case 'try':
        this.#modes.set(user, event.mode)
        if (this.#inside.size > 0) this.#awaited.set(user, new Set(this.#inside))
        return []
      case 'crit':
        this.#awaited.delete(user)
        if ((event.mode ?? this.#modes.get(user)) === 'shared') this.#inside.add(user)
        return []
      case 'rem':
      case 'ejected':
      case 'withdrawn':
      case 'crash':
        this.#awaited.delete(user)
        return this.#inside.delete(user) ? this.#left(user) : []
      default:
        return []
    }
  }

  #left(reader: string): string[] {
    const free: string[] = []
    for (const [user, readers] of this.#awaited) {
      if (readers.delete(reader) && readers.size === 0) free.push(user)
    }
    for (const user of free) this.#awaited.delete(user)
    return free
  }
}
