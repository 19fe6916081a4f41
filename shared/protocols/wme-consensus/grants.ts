/**
 * The grant of a local user, as far as it is this protocol's own: how it begins, and how it is given up, once
 * that is decided (P3). The rest is in ../guarded/grants.ts.
 */
import type { EjectionReason } from '../../history/events.ts'
import { roundOf } from '../ballots.ts'
import { createGrants, isGrantOf } from '../guarded/grants.ts'
import type { Ending } from '../protocol.ts'
import { endingOf } from '../refusals.ts'
import { startFence } from '../start-fence.ts'
import { takeFirst } from '../waiting-users.ts'
import type { Grant, PendingOperation } from './state.ts'
import { assert, changeStub, emit, type Step, setTimer } from './step.ts'

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
  settle: step => changeStub(step, { phase: 'cs-idle', pendingOperation: null }),
  end(step, ending) {
    const { endingsKept } = step.context.config.limits
    const endings = [...step.state.durable.stub.endings, ending].slice(-endingsKept)
    changeStub(step, { phase: 'outside', grant: null, pendingOperation: null, endings })
  },
  isInside({ state }) {
    const { phase } = state.durable.stub
    return phase === 'cs-idle' || phase === 'cs-issuing'
  },
  mayBeForgotten: (step, { after }) => step.state.durable.replica.droppedThrough > after,
  endingOf(step, event) {
    const { user, fence } = event
    const { endings, grant, phase } = step.state.durable.stub
    // A user that is leaving has left as far as it is concerned, though that is not decided yet.
    const isLeaving = phase === 'leaving' && isGrantOf(grant, event)
    const ending: Ending | null = isLeaving ? { user, fence, reason: 'released' } : endingOf(endings, event)
    return ending === null ? null : { ending, sequence: sequenceOf(step, fence) }
  },
})

/** The place in the log of the grant that has this fence. */
const sequenceOf = (step: Step, fence: number): number => fence - startFence(step.context.config)

/**
 * Emits `crit` for the first waiting user. Everything that precedes the grant in the log has been applied
 * here (trap A10).
 */
export function admit(step: Step, fence: number): void {
  const { durable } = step.state
  assert(fence > durable.stub.usedFence, 'a grant is used once')
  const { user, ttlMs } = takeFirst(step)
  const epoch = roundOf(durable.acceptor.promised)
  const grant = { user, fence, epoch, ttlMs, expiresAt: step.now + ttlMs, ending: null }
  changeStub(step, { phase: 'cs-idle', usedFence: fence, grant })
  setTimer(step, 'ttl', ttlMs)
  emitCrit(step)
}

/** The grant is decided, so a majority holds it. */
export function emitCrit(step: Step): void {
  const { user, fence, epoch, expiresAt } = step.state.durable.stub.grant!
  const sequence = sequenceOf(step, fence)
  emit(step, { type: 'crit', user, fence, epoch, sequence, expiresAt, confirmed: true })
}

/** The log says that the grant is over, though its user did not ask for it, unless it had asked to leave. */
export function loseGrant(step: Step, reason: EjectionReason): void {
  if (step.state.durable.stub.phase === 'leaving') release(step)
  else eject(step, reason)
}
