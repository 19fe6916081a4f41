/**
 * The grant of a stub's user, as far as it is this protocol's own: how it begins, how it is confirmed, and
 * where its end is remembered. The rest is in ../guarded/grants.ts.
 */
import { createGrants, isGrantOf } from '../guarded/grants.ts'
import type { Ending } from '../protocol.ts'
import { endingOf } from '../refusals.ts'
import { takeFirst } from '../waiting-users.ts'
import { fenceOf } from './fence.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { entryAt } from './log.ts'
import type { EndingRecord, Grant, GrantEntry, PendingOperation, StubRecord } from './state.ts'
import {
  assert,
  cancelTimer,
  changeStub,
  changeStubLater,
  emit,
  type Step,
  save,
  saveLater,
  setTimer,
} from './step.ts'

export { isGrantOf }

export const {
  answerIssue,
  deliverOutcome,
  eject,
  ejectOnceSettled,
  onKeepAlive,
  onTtlTimer,
  refuseOver,
  release,
  resumeGrant,
  settlePendingFromResults,
} = createGrants<Grant, PendingOperation, Step>({
  changeGrant: (step, grant) => changeStub(step, { grant }),
  // As long as the record of the stub says that the operation is pending, its application brings the outcome,
  // and the exit if its user wanted that. So all of this may be written later.
  settle: step => changeStubLater(step, { phase: 'cs-idle', pendingOperation: null }),
  afterOutcome(step, grant, { thenExit }) {
    if (thenExit) releaseLater(step, grant)
  },
  end(step, ending) {
    noteEnd(step, ending)
    step.mayWait = false
  },
  isInside: step => inCriticalSection(step.state.durable.stub.phase),
  mayBeForgotten(step, { sequence }) {
    return sequence !== null && sequence <= step.state.durable.replica.droppedThrough
  },
  endingOf(step, event) {
    const ending = endingOf(step.state.durable.endings, event)
    return ending === null ? null : { ending, sequence: ending.sequence }
  },
})

// ---------------------------------------------------------------- entering

/** L10: the token has come for the first waiting user. */
export function enter(step: Step, entry: GrantEntry): void {
  const { durable, soft } = step.state
  const waiter = durable.waiters[0]!
  const grant: Grant = {
    user: waiter.user,
    fence: fenceOf(entry.epoch, entry.sequence),
    epoch: entry.epoch,
    sequence: entry.sequence,
    ttlMs: waiter.ttlMs,
    expiresAt: step.now + waiter.ttlMs,
    ending: null,
  }
  // The user of an unconfirmed grant stays at the head of the queue: if the grant is rolled back, it simply
  // goes on waiting.
  if (waiter.confirm && entry.sequence > soft.committed) changeStub(step, { phase: 'entering', grant })
  else admit(step, grant)
}

/** Emits `crit`. Everything that precedes the grant has been applied here (trap A10). */
export function admit(step: Step, grant: Grant): void {
  const { soft } = step.state
  const waiter = takeFirst(step)
  assert(waiter.user === grant.user, 'the grant is for the first waiting user')
  changeStub(step, { phase: 'cs-idle', grant: { ...grant, expiresAt: step.now + grant.ttlMs } })
  setTimer(step, 'ttl', grant.ttlMs)
  emitCrit(step, grant.sequence <= soft.committed)
}

export function emitCrit(step: Step, confirmed: boolean): void {
  const { user, fence, epoch, sequence, expiresAt } = step.state.durable.stub.grant!
  emit(step, { type: 'crit', user, fence, epoch, sequence, expiresAt, confirmed })
}

/** A majority now holds everything up to `committed`; before, it held everything up to `before`. */
export function confirmGrant(step: Step, before: number): void {
  const { grant, phase } = step.state.durable.stub
  const { committed } = step.state.soft
  if (grant === null || grant.sequence > committed || grant.sequence <= before) return
  // Another entry may be at its place by now, from the decision of an epoch that this stub missed.
  if (entryAt(step.state.durable, grant.sequence)?.epoch !== grant.epoch) return
  if (phase === 'entering') admit(step, grant)
  else emit(step, { type: 'confirmed', user: grant.user, fence: grant.fence })
}

// ---------------------------------------------------------------- endings

/** The user wanted to leave with its operation. That is in the record of the stub, so the exit may wait. */
function releaseLater(step: Step, { user, fence }: Grant): void {
  noteEnd(step, { user, fence, reason: 'released' })
  cancelTimer(step, 'ttl')
  emit(step, { type: 'rem', user, fence })
}

function noteEnd(step: Step, ending: Ending): void {
  const { sequence } = step.state.durable.stub.grant!
  changeStubLater(step, { phase: 'idle', grant: null, pendingOperation: null })
  rememberEnding(step, { ...ending, sequence })
}

/** Each ending is a record of its own: the stub's record is written often, and stays small. */
function rememberEnding(step: Step, ending: EndingRecord): void {
  const { endings } = step.state.durable
  endings.push(ending)
  saveLater(step, endingKey(ending), ending)
  while (endings.length > step.context.config.limits.endingsKept)
    saveLater(step, endingKey(endings.shift()!), null)
}

const endingKey = ({ fence }: EndingRecord): string => `ending/${fence}`

/** Storage from before endings were records of their own has them in the record of the stub. */
export function separateEndings(step: Step): void {
  const { durable } = step.state
  const { endings, ...stub } = durable.stub as StubRecord & { endings?: unknown }
  if (endings === undefined) return
  durable.stub = stub
  save(step, 'stub', stub)
  for (const ending of durable.endings) save(step, endingKey(ending), ending)
}
