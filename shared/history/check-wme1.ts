/**
 * H3, WME1 (section 3): the critical section instances can be put one after the other. The order is that of
 * C, so along C the operations of an instance stand together, and fences, which name the instances, are
 * unique and increase. An instance without an operation in C fits anywhere: only its fence is checked.
 */
import { show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import { type Instances, issueKey } from './instances.ts'
import type { EventOf, SerialEntry, SerialOrder } from './serial-order.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

export function checkWme1(
  events: readonly HistoryEvent[],
  order: SerialOrder,
  instances: Instances,
): PropertyVerdict {
  const findings = new Findings(events)
  for (const index of instances.repeated) {
    const { fence } = events[index] as EventOf<'crit'>
    findings.violation(() => `fence ${fence} is granted twice`, instances.byFence.get(fence)?.crit, index)
  }
  checkRuns(findings, order, instances)
  checkUsers(findings, events, order, instances)
  return findings.safety('WME1')
}

function checkRuns(findings: Findings, order: SerialOrder, instances: Instances): void {
  const lastOfFence = new Map<number, SerialEntry>()
  let previous: SerialEntry | null = null
  let highest: SerialEntry | null = null
  for (const entry of order.entries) {
    if (entry.fence !== previous?.fence) {
      const interrupted = lastOfFence.get(entry.fence)
      const between = previous
      if (interrupted !== undefined) {
        const message = () =>
          `the instance with fence ${entry.fence} is interrupted by fence ${between?.fence}`
        findings.violation(message, interrupted.invoke, between?.invoke, entry.invoke)
      } else if (highest !== null && entry.fence < highest.fence) {
        const above = highest
        const message = () => `fence ${entry.fence} comes after fence ${above.fence} in the serial order`
        findings.violation(message, above.invoke, entry.invoke)
      }
      if (!instances.byFence.has(entry.fence)) {
        findings.violation(
          () => `fence ${entry.fence} has operations but was granted to nobody`,
          entry.invoke,
        )
      }
    }
    lastOfFence.set(entry.fence, entry)
    if (highest === null || entry.fence > highest.fence) highest = entry
    previous = entry
  }
}

/** Only the user that was let in with a fence has operations there. */
function checkUsers(
  findings: Findings,
  events: readonly HistoryEvent[],
  order: SerialOrder,
  instances: Instances,
): void {
  const checked = new Set<string>()
  for (const entry of order.entries) {
    const key = issueKey(entry.fence, entry.opId)
    const instance = instances.byFence.get(entry.fence)
    const issues = instances.issues.get(key)
    if (instance === undefined || issues === undefined || checked.has(key)) continue
    checked.add(key)
    const byHolder = issues.some(issue => (events[issue] as EventOf<'issue'>).user === instance.user)
    if (byHolder) continue
    const { user } = events[issues[0]!] as EventOf<'issue'>
    const message = () =>
      `user ${show(user)} has an operation in fence ${entry.fence} of user ${show(instance.user)}`
    findings.violation(message, instance.crit, issues[0], entry.invoke)
  }
}
