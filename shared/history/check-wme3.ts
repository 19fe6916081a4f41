/**
 * H5, WME3 (section 3): what users see is what was executed. The paper asks for a one-to-one relation between
 * the operations that users issued successfully and those invoked on the replicas. With n replicas that can
 * only hold for each replica, so it is read here as a relation with C:
 *   - every operation in C was issued, in its instance, and no more often than it was issued; the order of
 *     issue inside an instance is the order in C;
 *   - every outcome is that of an operation in C, with the replicas' result, and the user's own replica has
 *     come that far;
 *   - an operation that was reported as not applied is not in C under that fence.
 * The same `opId` may have been applied under an earlier fence. Then the outcome may tell that place and that
 * result. Under a later fence, too, in one case alone: a stub that missed the end of its grant learns from
 * the table of results that its pending operation was issued again under that fence, and applied. What it
 * tells is true, and the last that it tells under the old grant, which is over.
 */
import { type ImportedResult, importOf, joined } from '../resource/import.ts'
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
  const matchings = checkIssued(check)
  checkOutcomes(check)
  checkFailed(check, matchings)
  return check.findings.safety('WME3')
}

/** What is known, while walking along C, about the operations issued under one fence with one `opId`. */
interface Matching {
  readonly issues: readonly number[]
  /** The first of `issues` that no entry has taken yet. */
  next: number
  entry: SerialEntry
}

/** Walks along C and gives each entry its `issue`. Returns the entries by fence and `opId`. */
function checkIssued({ findings, events, order, instances }: Check): Map<string, Matching> {
  const matchings = new Map<string, Matching>()
  const latestIssue = new Map<number, number>()
  for (const entry of order.entries) {
    const key = issueKey(entry.fence, entry.opId)
    const matching = matchings.get(key) ?? { issues: instances.issues.get(key) ?? [], next: 0, entry }
    matchings.set(key, matching)
    const latest = latestIssue.get(entry.fence) ?? -1
    const issue = takeIssue(events, matching, entry, latest)
    if (issue === null) {
      // WME1 reports operations under a fence that nobody was given.
      if (!instances.byFence.has(entry.fence) && matching.issues.length === 0) continue
      findings.violation(...whyNotIssued(events, matching, entry, latest))
    } else {
      latestIssue.set(entry.fence, issue)
      if (events[entry.invoke]!.at < events[issue]!.at) {
        findings.violation(() => `${describe(entry)} was applied before it was issued`, entry.invoke, issue)
      }
    }
    matching.entry = entry
  }
  return matchings
}

/**
 * The earliest `issue` of this very operation that is still free and follows the one of the entry before.
 * Those that are passed over were answered without an entry of their own, because the result was known.
 */
function takeIssue(
  events: readonly HistoryEvent[],
  matching: Matching,
  entry: SerialEntry,
  latest: number,
): number | null {
  while (matching.next < matching.issues.length) {
    const issue = matching.issues[matching.next]!
    matching.next++
    if (issue > latest && isIssueOf(events[issue], entry)) return issue
  }
  return null
}

function isIssueOf(event: HistoryEvent | undefined, entry: SerialEntry): boolean {
  return event?.type === 'issue' && equalJson(event.operation, entry.operation)
}

function whyNotIssued(
  events: readonly HistoryEvent[],
  { issues, entry: earlier }: Matching,
  entry: SerialEntry,
  latest: number,
): [message: () => string, ...indices: (number | undefined)[]] {
  const first = issues[0]
  if (first === undefined) return [() => `${describe(entry)} was applied but never issued`, entry.invoke]
  const { operation } = events[first] as EventOf<'issue'>
  if (earlier !== entry) {
    const message = () => `${describe(entry)} is in the serial order more often than it was issued`
    return [message, first, earlier.invoke, entry.invoke]
  }
  if (!equalJson(operation, entry.operation)) {
    const message = () =>
      `${describe(entry)} was applied as ${show(entry.operation)}, issued as ${show(operation)}`
    return [message, first, entry.invoke]
  }
  const message = () =>
    `${describe(entry)} comes after an operation that was issued later in the same instance`
  return [message, first, latest, entry.invoke]
}

function checkOutcomes(check: Check): void {
  visitWithProgress(check.events, (index, event, reached) => {
    if (event.type === 'outcome') checkOutcome(check, index, event, reached)
  })
}

/** It was applied before the lock was made from an export, and is answered as it was then. */
function isImported({ entries }: SerialOrder, { opId, sequence, result }: EventOf<'outcome'>): boolean {
  const parts = entries.flatMap(({ operation }) => {
    const special = importOf(operation)
    return special?.restore === 'part' ? [special.part] : []
  })
  const isIt = (one: ImportedResult) =>
    one.opId === opId && one.sequence === sequence && equalJson(one.result, result)
  for (const { results } of joined(parts)) if (results.some(isIt)) return true
  return false
}

function checkOutcome(check: Check, index: number, event: EventOf<'outcome'>, reached: number): void {
  const { findings, events, order, instances } = check
  const entry = order.bySequence.get(event.sequence)
  const isThere = entry !== undefined && entry.opId === event.opId
  if (!isThere && isImported(order, event)) return
  if (!isThere || (entry.fence > event.fence && !mayTellLater(check, index, event, entry))) {
    const message = () =>
      `the outcome of ${show(event.opId)} (fence ${event.fence}) names sequence ${event.sequence}, ` +
      `where the serial order has ${entry === undefined ? 'nothing' : describe(entry)}`
    findings.violation(message, entry?.invoke, index)
    return
  }
  // The entry may belong to another instance. It must be the operation that this user issued all the same.
  const issue = lastBefore(instances.issues.get(issueKey(event.fence, event.opId)) ?? [], index)
  if (issue !== undefined) {
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
 * Whether the operation had been issued under the later fence by then, and the user is told that its own
 * grant is over, or leaves with this very answer.
 */
function mayTellLater(
  { events, instances }: Check,
  index: number,
  told: EventOf<'outcome'>,
  entry: SerialEntry,
): boolean {
  const issues = instances.issues.get(issueKey(entry.fence, entry.opId)) ?? []
  const wasIssued = issues.some(issue => issue < index && isIssueOf(events[issue], entry))
  const next = events.slice(index + 1).find(event => 'user' in event && event.user === told.user)
  const isEnd = next?.type === 'ejected' || next?.type === 'exit'
  const isOver = isEnd && next.fence === told.fence && next.at === told.at
  return wasIssued && isOver
}

/** The last of these ascending places that is before `index`. */
function lastBefore(places: readonly number[], index: number): number | undefined {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (places[middle]! < index) low = middle + 1
    else high = middle
  }
  return places[low - 1]
}

/**
 * An ejection says what became of the pending operation. If it says nothing though one is pending, then the
 * `issue` did not reach the stub before the end, and the operation has failed as in the paper.
 */
function checkFailed({ findings, events }: Check, matchings: ReadonlyMap<string, Matching>): void {
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
      const entry = matchings.get(issueKey(event.fence, opId))?.entry
      if (entry === undefined) continue
      const message = () => `${describe(entry)} was reported as not applied, but it was applied`
      findings.violation(message, operation?.issue, entry.invoke, index)
    }
  }
}
