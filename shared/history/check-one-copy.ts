/**
 * H2: 1CS, one-copy serializability (section 3): all replicas together behave like one copy that applies C.
 *   - Each replica applies C from its beginning, in order, leaving nothing out and repeating nothing. A
 *     snapshot is a jump forward; a wiped replica begins again; one that restarts goes on from what it had
 *     written.
 *   - Each response is that of a serial replay of C, and so is each state hash.
 */
import { equalJson, show } from './compare.ts'
import type { HistoryEvent } from './events.ts'
import type { Replay } from './replay.ts'
import { describe, type EventOf, entriesUpTo, type SerialOrder } from './serial-order.ts'
import { Findings, type PropertyVerdict } from './verdict.ts'

/** Where one replica stands. */
interface ReplicaTrack {
  /** How many entries of C it has applied. */
  next: number
  /** The invocation that it has not answered yet. */
  pending: number | null
  last: number | null
}

interface Check {
  readonly findings: Findings
  readonly events: readonly HistoryEvent[]
  readonly order: SerialOrder
  readonly replay: Replay
}

/** After how many entries of C the history contains a state hash. The replay must know these places. */
export function hashPositions(events: readonly HistoryEvent[], order: SerialOrder): Set<number> {
  const positions = new Set<number>()
  for (const event of events) {
    if (event.type === 'restore') positions.add(entriesUpTo(order, event.sequence))
    if (event.type !== 'response' || event.hash === undefined) continue
    const entry = order.bySequence.get(event.sequence)
    if (entry !== undefined) positions.add(entry.position + 1)
  }
  return positions
}

export function checkOneCopy(
  events: readonly HistoryEvent[],
  order: SerialOrder,
  replay: Replay,
): PropertyVerdict {
  const check: Check = { findings: new Findings(events), events, order, replay }
  const replicas = new Map<number, ReplicaTrack>()
  for (const [index, event] of events.entries()) {
    if (event.type === 'outcome') onOutcome(check, index, event)
    if (!isReplicaEvent(event)) continue
    const track = replicas.get(event.participant) ?? { next: 0, pending: null, last: null }
    replicas.set(event.participant, track)
    if (event.type === 'invoke') onInvoke(check, track, index, event)
    else if (event.type === 'response') onResponse(check, track, index, event)
    else if (event.type === 'restore') onRestore(check, track, index, event)
    else track.next = event.type === 'wipe' ? 0 : Math.min(track.next, entriesUpTo(order, event.sequence))
    track.pending = event.type === 'invoke' ? index : null
    track.last = index
  }
  return check.findings.safety('1CS')
}

const REPLICA_EVENTS = ['invoke', 'response', 'restore', 'restart', 'wipe'] as const

const isReplicaEvent = (event: HistoryEvent): event is EventOf<(typeof REPLICA_EVENTS)[number]> =>
  REPLICA_EVENTS.some(type => type === event.type)

function onInvoke(check: Check, track: ReplicaTrack, index: number, event: EventOf<'invoke'>): void {
  const { findings, order } = check
  const entry = order.bySequence.get(event.sequence)!
  const replica = `replica ${event.participant}`
  if (track.pending !== null) {
    findings.violation(() => `${replica} is invoked before it has answered`, track.pending, index)
  }
  if (order.strangers.has(index)) {
    const there = () => `${replica} applies ${describe(event)}, C has ${describe(entry)}`
    findings.violation(there, entry.invoke, index)
  }
  if (entry.position < track.next) {
    const again = () => `${replica} applies sequence ${event.sequence}, which it has behind it already`
    findings.violation(again, track.last, index)
  } else if (entry.position > track.next) {
    const skipped = order.entries[track.next]!
    findings.violation(() => `${replica} leaves out ${describe(skipped)}`, skipped.invoke, track.last, index)
  }
  track.next = Math.max(track.next, entry.position + 1)
}

function onResponse(check: Check, track: ReplicaTrack, index: number, event: EventOf<'response'>): void {
  const { findings, events, order, replay } = check
  const replica = `replica ${event.participant}`
  const invocation = track.pending === null ? null : (events[track.pending] as EventOf<'invoke'>)
  if (invocation?.sequence !== event.sequence || invocation.opId !== event.opId) {
    findings.violation(
      () => `${replica} answers ${show(event.opId)} without an invocation`,
      track.pending,
      index,
    )
    return
  }
  const entry = order.bySequence.get(event.sequence)!
  // A replica's answer to something that is not in C has been reported with its invocation.
  if (track.pending !== null && order.strangers.has(track.pending)) return
  const expected = replay.results[entry.position]!
  if (!equalJson(event.result, expected)) {
    const differs = () =>
      `${replica} answers ${describe(entry)} with ${show(event.result)}, not ${show(expected)}`
    findings.violation(differs, track.pending, index)
  }
  const hash = replay.hashes.get(entry.position + 1)
  if (event.hash !== undefined && event.hash !== hash) {
    const differs = () =>
      `${replica} has the state ${show(event.hash)} after ${describe(entry)}, not ${show(hash)}`
    findings.violation(differs, track.pending, index)
  }
}

function onRestore(check: Check, track: ReplicaTrack, index: number, event: EventOf<'restore'>): void {
  const { findings, order, replay } = check
  const replica = `replica ${event.participant}`
  const passed = entriesUpTo(order, event.sequence)
  if (passed < track.next) {
    findings.violation(() => `${replica} jumps back to sequence ${event.sequence}`, track.last, index)
  }
  const hash = replay.hashes.get(passed)
  if (event.hash !== hash) {
    const latest = order.entries[passed - 1]?.invoke
    const differs = () =>
      `${replica} restores the state ${show(event.hash)} of sequence ${event.sequence}, which is ${show(hash)}`
    findings.violation(differs, latest, index)
  }
  track.next = passed
}

/** WME3 compares outcomes with the recorded responses. Where none is recorded, only the replay remains. */
function onOutcome(check: Check, index: number, event: EventOf<'outcome'>): void {
  const entry = check.order.bySequence.get(event.sequence)
  if (entry === undefined || entry.response !== null || entry.opId !== event.opId) return
  const expected = check.replay.results[entry.position]!
  if (equalJson(event.result, expected)) return
  const differs = () => `the outcome of ${describe(entry)} is ${show(event.result)}, not ${show(expected)}`
  check.findings.violation(differs, entry.invoke, index)
}
