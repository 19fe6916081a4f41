/**
 * H4, WME2 (section 3): the serial order respects real time. An instance that ended before another was asked
 * for (its `try`, not its `crit`) comes before it in C. Going from the right, only the earliest end so far
 * must be remembered.
 */
import type { HistoryEvent } from './events.ts'
import type { Instance, Instances } from './instances.ts'
import type { SerialEntry, SerialOrder } from './serial-order.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

interface Placed {
  readonly instance: Instance
  /** Its first operation in C. */
  readonly entry: SerialEntry
}

export function checkWme2(
  events: readonly HistoryEvent[],
  order: SerialOrder,
  instances: Instances,
): PropertyVerdict {
  const findings = new Findings(events)
  let earliestEnd: { readonly at: number; readonly placed: Placed } | null = null
  for (const placed of placedInstances(order, instances).reverse()) {
    const { instance, entry } = placed
    // An instance whose `try` is missing began at the latest with its `crit`.
    const init = instance.init ?? instance.crit
    if (earliestEnd !== null && earliestEnd.at < events[init]!.at) {
      const later = earliestEnd.placed
      const message = () =>
        `fence ${instance.fence} precedes fence ${later.instance.fence} in the serial order, ` +
        'but was asked for only after that one had ended'
      findings.violation(message, later.instance.final, init, entry.invoke, later.entry.invoke)
    }
    if (instance.final === null) continue
    const at = events[instance.final]!.at
    if (earliestEnd === null || at < earliestEnd.at) earliestEnd = { at, placed }
  }
  return findings.safety('WME2')
}

/** The instances that have operations, in the order of C. */
function placedInstances(order: SerialOrder, instances: Instances): Placed[] {
  const seen = new Set<number>()
  const placed: Placed[] = []
  for (const entry of order.entries) {
    if (seen.has(entry.fence)) continue
    seen.add(entry.fence)
    const instance = instances.byFence.get(entry.fence)
    if (instance !== undefined) placed.push({ instance, entry })
  }
  return placed
}
