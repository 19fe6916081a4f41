/** Invariants of each state of one participant. */
import type { Context } from '../../shared/protocols/protocol.ts'
import { fenceOf } from '../../shared/protocols/wme/fence.ts'
import { inCriticalSection } from '../../shared/protocols/wme/figure-3-states.ts'
import { entryAt } from '../../shared/protocols/wme/log.ts'
import { emptyReplica, invoke, resultOf } from '../../shared/resource/replica.ts'
import type { Findings } from './findings.ts'
import type { Seat } from './seat.ts'
import { textOf } from './values.ts'
import type { WmeProtocol } from './wme-model.ts'

export function checkSeat(findings: Findings, context: Context, protocol: WmeProtocol, seat: Seat): void {
  if (seat.isUp) checkStorage(findings, context, protocol, seat)
  checkToken(findings, context, seat)
  checkRequests(findings, context, seat)
  checkReplica(findings, context, seat)
  checkUser(findings, seat)
}

/** I20, and more: what storage gives back is exactly what the participant counts as durable. */
function checkStorage(findings: Findings, context: Context, protocol: WmeProtocol, seat: Seat): void {
  const recovered = protocol.recover(context, seat.storage.records)
  for (const part of Object.keys(recovered.durable) as (keyof typeof recovered.durable)[]) {
    const stored = textOf(recovered.durable[part])
    const held = textOf(seat.state.durable[part])
    if (stored !== held)
      findings.violate('what counts as durable is stored (I20)', `${part}: ${stored} for ${held}`)
  }
  const derived = textOf(recovered.derived)
  if (derived !== textOf(seat.state.derived)) {
    findings.violate('what counts as derived follows from what is durable', `${textOf(seat.state.derived)}`)
  }
}

function checkToken(findings: Findings, context: Context, { state }: Seat): void {
  const { durable, derived } = state
  const { phase, grant, pendingOperation } = durable.stub
  const isInside = inCriticalSection(phase)
  if (isInside && !durable.epoch.sealed && derived.owner !== context.config.self) {
    findings.violate('unsealed and in the critical section only as owner (I12)', `owner ${derived.owner}`)
  }
  if ((grant !== null) !== (isInside || phase === 'entering')) {
    findings.violate('a grant is held in the critical section and only there', phase)
  }
  if ((pendingOperation !== null) !== (phase === 'cs-issuing')) {
    findings.violate('an operation is pending while it is issued and only then', phase)
  }
  if (grant === null) return
  if (grant.fence !== fenceOf(grant.epoch, grant.sequence))
    findings.violate('a fence is that of its grant', `${grant.fence}`)
  const entry = entryAt(durable, grant.sequence)
  if (
    entry !== undefined &&
    (entry.kind !== 'grant' || entry.to !== context.config.self || entry.epoch !== grant.epoch)
  ) {
    findings.violate('a grant is an entry of the log', textOf(entry))
  }
}

function checkRequests(findings: Findings, context: Context, { isUp, state }: Seat): void {
  const { durable, derived, soft } = state
  const seen = new Set<number>()
  for (const { participant, requestId } of soft.requests) {
    if (seen.has(participant) || requestId <= (derived.granted[participant] ?? 0)) {
      findings.violate('at most one queued request each, newer than granted (I13)', textOf(soft.requests))
    }
    seen.add(participant)
  }
  const mustAsk = durable.stub.phase === 'requesting' && derived.owner !== context.config.self
  if (isUp && (mustAsk || durable.epoch.sealed) && !soft.timers.repeat) {
    findings.violate('a stub that waits for an answer has a repeat timer (I14)', durable.stub.phase)
  }
}

/**
 * I6, I7, I8: the replica and its results are those of a serial replay of the committed log, in which nothing
 * occurs twice.
 */
function checkReplica(findings: Findings, context: Context, { isUp, state }: Seat): void {
  const { durable, soft } = state
  if (durable.base.sequence > 0) return
  const replay = emptyReplica(context.resource)
  const committed = isUp ? soft.committed : durable.progress.applied
  for (let sequence = 1; sequence <= committed; sequence++) {
    const entry = entryAt(durable, sequence)
    if (entry === undefined) return findings.violate('what is committed is in the log', `${sequence}`)
    if (entry.kind !== 'operation') continue
    if (resultOf(replay, entry.opId) !== undefined) {
      return findings.violate('an operation is committed once (A3)', entry.opId)
    }
    invoke(context.resource, replay, context.config.limits.resultsKept, entry)
  }
  if (textOf(replay) !== textOf(durable.replica)) {
    findings.violate('a replica is a serial replay of the committed log (I6, I7)', textOf(durable.replica))
  }
}

/** What the user was told about its operations is what its participant has done. */
function checkUser(findings: Findings, { state, user }: Seat): void {
  const { membership } = state.durable
  // A participant that was removed has dropped its results, once others have them.
  const hasDropped = membership.status === 'removed' && !membership.hasData
  if (user === null || hasDropped) return
  for (const { opId, outcome, sequence } of user.operations) {
    const stored = resultOf(state.durable.replica, opId)
    // A crash may come before the application is written: then the log has it, and it is applied again.
    const entry = stored === undefined ? entryAt(state.durable, sequence) : undefined
    const isInLog = entry?.kind === 'operation' && entry.opId === opId
    if (outcome === 'applied' && stored?.sequence !== sequence && !isInLog) {
      findings.violate('an outcome is of an applied operation (I8)', opId)
    }
    if (outcome === 'not-applied' && stored !== undefined) {
      findings.violate('an operation reported not-applied is never applied (I9)', opId)
    }
  }
}
