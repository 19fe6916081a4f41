/**
 * Increasing fences, for locks that guard no state: no fence is given twice, and who comes in later has a higher one, so
 * that whoever is asked to do something for a user can tell that another has come in since. Who came in later is certain of
 *   - a user that tried after the other had heard that it is in;
 *   - a user that was certainly inside after the other (stays.ts).
 * Readers without a writer between them may have their fences in any order.
 */
import { show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import type { Instances } from './instances.ts'
import type { EventOf } from './serial-order.ts'
import type { Stay } from './stays.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkIncreasingFences(
  events: readonly HistoryEvent[],
  stays: readonly Stay[],
  instances: Instances,
): PropertyVerdict {
  const findings = new Findings(events)
  for (const index of instances.repeated) {
    const { fence } = events[index] as EventOf<'crit'>
    findings.violation(() => `fence ${fence} is granted twice`, instances.byFence.get(fence)?.crit, index)
  }
  const writers = stays.filter(({ mode }) => mode === 'exclusive')
  const certain = stays.filter(({ exitAt }) => exitAt !== null)
  const entered = new Highest(stays, ({ critAt }) => critAt)
  const writersEntered = new Highest(writers, ({ critAt }) => critAt)
  const certainlyIn = new Highest(certain, ({ critAt }) => critAt)
  const writersCertainlyIn = new Highest(
    certain.filter(({ mode }) => mode === 'exclusive'),
    ({ critAt }) => critAt,
  )
  for (const stay of stays) {
    const { mode, tryAt, exitAt, critAt } = stay
    const isWriter = mode === 'exclusive'
    const before = [
      tryAt === null ? null : (isWriter ? entered : writersEntered).before(tryAt),
      exitAt === null ? null : (isWriter ? certainlyIn : writersCertainlyIn).before(critAt),
    ]
    const higher = before.find(other => other !== null && other.fence > stay.fence)
    if (higher === undefined || higher === null) continue
    const message = () =>
      `user ${show(stay.user)} came in with fence ${stay.fence}, after ${show(higher.user)} with ${higher.fence}`
    findings.violation(message, higher.crit, stay.init, stay.crit)
  }
  return findings.safety('increasing fences')
}

/** Who has the highest fence of those to whom something happened before a time. */
class Highest {
  readonly #times: number[] = []
  /** By place: of this one and those before it. */
  readonly #highest: Stay[] = []

  constructor(stays: readonly Stay[], timeOf: (stay: Stay) => number | null) {
    const timed = stays.flatMap(stay => {
      const at = timeOf(stay)
      return at === null ? [] : [{ at, stay }]
    })
    timed.sort((one, other) => one.at - other.at)
    for (const { at, stay } of timed) {
      const last = this.#highest.at(-1)
      this.#times.push(at)
      this.#highest.push(last !== undefined && last.fence > stay.fence ? last : stay)
    }
  }

  before(at: number): Stay | null {
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
