/**
 * H11, increasing fences, for locks that guard no state: no fence is given twice, and a user that comes in
 * later has a higher one, so that anybody asked to do something for a user can tell that another one has come
 * in since. It is certain that a user came in later if
 *   - it tried after the other had heard that it is in, or
 *   - it was certainly inside after the other (critical-sections.ts).
 * Readers without a writer between them may have their fences in any order.
 */
import { show } from './compare.ts'
import type { CriticalSection } from './critical-sections.ts'
import type { HistoryEvent } from './events.ts'
import type { Instances } from './instances.ts'
import type { EventOf } from './serial-order.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkIncreasingFences(
  events: readonly HistoryEvent[],
  sections: readonly CriticalSection[],
  instances: Instances,
): PropertyVerdict {
  const findings = new Findings(events)
  for (const index of instances.repeated) {
    const { fence } = events[index] as EventOf<'crit'>
    findings.violation(() => `fence ${fence} is granted twice`, instances.byFence.get(fence)?.crit, index)
  }
  const writers = sections.filter(({ mode }) => mode === 'exclusive')
  const certain = sections.filter(({ exitAt }) => exitAt !== null)
  const entered = new Highest(sections, ({ critAt }) => critAt)
  const writersEntered = new Highest(writers, ({ critAt }) => critAt)
  const certainlyIn = new Highest(certain, ({ critAt }) => critAt)
  const writersCertainlyIn = new Highest(
    certain.filter(({ mode }) => mode === 'exclusive'),
    ({ critAt }) => critAt,
  )
  for (const section of sections) {
    const { mode, tryAt, exitAt, critAt } = section
    const isWriter = mode === 'exclusive'
    const before = [
      tryAt === null ? null : (isWriter ? entered : writersEntered).before(tryAt),
      exitAt === null ? null : (isWriter ? certainlyIn : writersCertainlyIn).before(critAt),
    ]
    const higher = before.find(other => other !== null && other.fence > section.fence)
    if (higher === undefined || higher === null) continue
    const message = () =>
      `user ${show(section.user)} came in with fence ${section.fence}, after ${show(higher.user)} with ${higher.fence}`
    findings.violation(message, higher.crit, section.init, section.crit)
  }
  return findings.safety('increasing fences')
}

/** The user with the highest fence among those to whom something happened before a given time. */
class Highest {
  readonly #times: number[] = []
  /** By place: the highest of this one and those before it. */
  readonly #highest: CriticalSection[] = []

  constructor(sections: readonly CriticalSection[], timeOf: (section: CriticalSection) => number | null) {
    const timed = sections.flatMap(section => {
      const at = timeOf(section)
      return at === null ? [] : [{ at, section }]
    })
    timed.sort((one, other) => one.at - other.at)
    for (const { at, section } of timed) {
      const last = this.#highest.at(-1)
      this.#times.push(at)
      this.#highest.push(last !== undefined && last.fence > section.fence ? last : section)
    }
  }

  before(at: number): CriticalSection | null {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#times[middle]! < at) low = middle + 1
      else high = middle
    }
    return this.#highest[low - 1] ?? null
  }
}
