/**
 * From acknowledgements to the replica: what a majority holds is committed, and what is committed is applied,
 * in the order of the log and without gaps (L16; traps A2, A5, A6). The application, the applied index and
 * the result are one transaction. It may wait for the next one (W9): should it get lost, the log still has
 * the operation, here and on a majority, and it is applied again from there.
 */
import { invoke } from '../../resource/replica.ts'
import { saveResponse } from '../guarded/replica-records.ts'
import { reachedByMajorityOf } from '../quorum.ts'
import { fenceOf } from './fence.ts'
import { confirmGrant, deliverOutcome } from './grants.ts'
import { assertSameLog, entryAt, lengthOf, saveProgress, truncate } from './log.ts'
import type { OperationEntry } from './state.ts'
import { emit, type Step, saveLater } from './step.ts'

/**
 * Concludes from the acknowledgements what is committed. This participant itself counts once its log is
 * durable, which is before any send.
 */
export function concludeCommitted(step: Step): void {
  const { durable, derived, soft } = step.state
  if (durable.epoch.sealed || !step.variant.concludes(step)) return
  compareClaims(step)
  soft.acknowledged[step.context.config.self] = lengthOf(durable)
  advanceCommitted(step, reachedByMajorityOf(derived.members, soft.acknowledged))
}

/** An acknowledgement of something other than what is here must not count: one of the two logs is wrong. */
function compareClaims(step: Step): void {
  const { durable, soft } = step.state
  const length = lengthOf(durable)
  for (let peer = 1; peer < soft.claims.length; peer++) {
    const claim = soft.claims[peer]!
    if (claim === null || claim.length > length) continue
    assertSameLog(durable, claim.length, claim.digest)
    soft.claims[peer] = null
  }
}

/** Everything up to `sequence` is on a majority or decided: applies what is not applied yet. */
export function advanceCommitted(step: Step, sequence: number): void {
  const { durable, soft } = step.state
  const target = Math.min(sequence, lengthOf(durable))
  const before = soft.committed
  if (target <= before) return
  let applied = false
  for (let at = before + 1; at <= target; at++) {
    soft.committed = at
    const entry = entryAt(durable, at)!
    if (entry.kind === 'operation') {
      applyOperation(step, entry)
      applied = true
    } else {
      emit(step, { type: 'granted', sequence: at, fence: fenceOf(entry.epoch, at), to: entry.to })
    }
  }
  // A grant alone changes nothing in the replica: its number is made durable with the next operation.
  if (applied) saveProgress(step)
  confirmGrant(step, before)
  truncate(step)
}

/** Emits `invoke` and `response`, and the outcome if this is the stub's own pending operation. */
function applyOperation(step: Step, entry: OperationEntry): void {
  const { replica, stub } = step.state.durable
  const { sequence, fence, opId, operation, epoch } = entry
  const response = invoke(step.context.resource, replica, step.context.config.limits.resultsKept, entry)
  saveResponse(step, opId, response, saveLater)
  const { result, changes } = response
  emit(step, { type: 'applied', sequence, fence, opId, operation, result, changes, epoch })
  if (stub.grant?.fence === fence && stub.pendingOperation?.opId === opId) {
    deliverOutcome(step, response.sequence, response.result)
  }
}
