/**
 * WME3 (section 3): what users see is what was executed. The paper asks for a one-to-one relation between the operations
 * that users issued successfully and those invoked on the replicas; with n replicas that can only be meant for each
 * replica, so it is read here as a relation with C:
 *   - every operation in C was issued, in its instance, and no more often than it was issued; the order of issue inside
 *     an instance is the order in C;
 *   - every outcome is that of an operation in C, with the replicas' result, and the user's own replica has come so far;
 *   - an operation that was reported as not applied is not in C under that fence.
 * The same `opId` may have been applied under an earlier fence. Then the outcome may tell that place and that result.
 */
import { equalJson, show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import { type Instances, issueKey } from './instances.ts'
import { visitWithProgress } from './replica-progress.ts'
import { describe, type EventOf, type SerialEntry, type SerialOrder } from './serial-order.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

interface Check {
  readonly findings: Findings
  readonly events: readonly HistoryEvent[]
  readonly order: SerialOrder
  readonly instances: Instances
}

export function checkWme3(
  events: readonly HistoryEvent[],
  order: SerialOrder,
  instances: Instances,
): PropertyVerdict {
  const check: Check = { findings: new Findings(events), events, order, instances }
  const inC = checkIssued(check)
  checkOutcomes(check)
  checkFailed(check, inC)
  return check.findings.safety('WME3')
}

/** Walks along C and gives each entry its `issue`. Returns the entries by fence and `opId`. */
function checkIssued({ findings, events, order, instances }: Check): Map<string, SerialEntry> {
  const matched = new Map<string, number>()
  const latestIssue = new Map<number, number>()
  const inC = new Map<string, SerialEntry>()
  for (const entry of order.entries) {
    const key = issueKey(entry.fence, entry.opId)
    const issues = instances.issues.get(key)
    const times = matched.get(key) ?? 0
    const earlier = inC.get(key)
    matched.set(key, times + 1)
    inC.set(key, entry)
    if (issues === undefined) {
      // Operations under a fence that nobody was given are WME1's to report.
      if (!instances.byFence.has(entry.fence)) continue
      findings.violation(() => `${describe(entry)} was applied but never issued`, entry.invoke)
      continue
    }
    const index = issues[times]
    if (index === undefined) {
      const message = () => `${describe(entry)} is in the serial order more often than it was issued`
      findings.violation(message, issues.at(-1), earlier?.invoke, entry.invoke)
      continue
    }
    const issue = events[index] as EventOf<'issue'>
    if (!equalJson(issue.operation, entry.operation)) {
      const message = () =>
        `${describe(entry)} was applied as ${show(entry.operation)}, issued as ${show(issue.operation)}`
      findings.violation(message, index, entry.invoke)
    }
    if (events[entry.invoke]!.at < issue.at) {
      findings.violation(() => `${describe(entry)} was applied before it was issued`, entry.invoke, index)
    }
    const latest = latestIssue.get(entry.fence)
    if (latest !== undefined && latest > index) {
      const message = () =>
        `${describe(entry)} comes after an operation that was issued later in the same instance`
      findings.violation(message, index, latest, entry.invoke)
    }
    latestIssue.set(entry.fence, Math.max(index, latest ?? index))
  }
  return inC
}

function checkOutcomes(check: Check): void {
  visitWithProgress(check.events, (index, event, reached) => {
    if (event.type === 'outcome') checkOutcome(check, index, event, reached)
  })
}

function checkOutcome(check: Check, index: number, event: EventOf<'outcome'>, reached: number): void {
  const { findings, events, order, instances } = check
  const entry = order.bySequence.get(event.sequence)
  if (entry === undefined || entry.opId !== event.opId || entry.fence > event.fence) {
    const message = () =>
      `the outcome of ${show(event.opId)} (fence ${event.fence}) names sequence ${event.sequence}, ` +
      `where the serial order has ${entry === undefined ? 'nothing' : describe(entry)}`
    findings.violation(message, entry?.invoke, index)
    return
  }
  // Under an earlier fence the operation was another instance's; it must be the one that this user issued all the same.
  const issue = instances.issues.get(issueKey(event.fence, event.opId))?.[0]
  if (issue !== undefined && entry.fence !== event.fence) {
    const { operation } = events[issue] as EventOf<'issue'>
    if (!equalJson(operation, entry.operation)) {
      const message = () => `the outcome of ${show(operation)} is that of ${show(entry.operation)}`
      findings.violation(message, entry.invoke, issue, index)
    }
  }
  const response = entry.response === null ? null : (events[entry.response] as EventOf<'response'>)
  if (response !== null && !equalJson(response.result, event.result)) {
    const message = () =>
      `the outcome of ${describe(entry)} is ${show(event.result)}, the replicas answered ${show(response.result)}`
    findings.violation(message, entry.response, index)
  }
  if (reached < event.sequence) {
    const message = () =>
      `the outcome of ${describe(entry)} came before replica ${event.participant} had applied it`
    findings.violation(message, entry.invoke, index)
  }
}

/**
 * An ejection says what became of the pending operation. If it says nothing though one is pending, then the `issue` did
 * not reach the stub before the end, and the operation has failed as in the paper.
 */
function checkFailed({ findings, events }: Check, inC: ReadonlyMap<string, SerialEntry>): void {
  const pending = new Map<string, { readonly fence: number; readonly opId: string; readonly issue: number }>()
  for (const [index, event] of events.entries()) {
    if (event.type === 'issue') {
      pending.set(event.user, { fence: event.fence, opId: event.opId, issue: index })
    } else if (event.type === 'outcome' || event.type === 'crash') {
      pending.delete(event.user)
    } else if (event.type === 'ejected') {
      const operation = pending.get(event.user)
      pending.delete(event.user)
      const opId = event.pending?.opId ?? operation?.opId
      if (opId === undefined || event.pending?.outcome === 'unknown') continue
      const entry = inC.get(issueKey(event.fence, opId))
      if (entry === undefined) continue
      const message = () => `${describe(entry)} was reported as not applied, but it was applied`
      findings.violation(message, operation?.issue, entry.invoke, index)
    }
  }
}
