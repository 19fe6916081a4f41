/**
 * The grant of a local user, in the protocols that guard state: at most one user is inside, and has at most
 * one operation pending. This is what the user sees of it: the answers to what it issues, the outcome, time
 * running out, and the end. When a grant begins, and what else its end brings about, is the protocol's own.
 */
import type { EjectionReason } from '../../history/events.ts'
import type { Json } from '../../json.ts'
import { digest, weight } from '../../resource/canonical.ts'
import { type Replica, resultOf } from '../../resource/replica.ts'
import type { Ending, HoldingUser, PendingOutcome, UserInput } from '../protocol.ts'
import { refuseBecauseOver, refuseOperation } from '../refusals.ts'
import { assert, type Collecting, cancelTimer, emit, type StepOf, setTimer } from '../step.ts'

type Event<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

export interface Grant {
  readonly user: string
  readonly fence: number
  readonly epoch: number
  readonly ttlMs: number
  readonly expiresAt: number
  /** Its time is over, but an operation is pending and must be settled first (trap A4). */
  readonly ending: EjectionReason | null
}

export interface PendingOperation {
  readonly opId: string
  readonly operation: Json
}

/** What the record of a stub says about its grant. */
interface StubOf<Held extends Grant, Pending extends PendingOperation> {
  readonly phase: string
  readonly grant: Held | null
  readonly pendingOperation: Pending | null
}

export interface GrantStep<Held extends Grant, Pending extends PendingOperation>
  extends Pick<StepOf<unknown, 'ttl'>, 'context' | 'now' | 'timers'>,
    Collecting {
  readonly state: {
    readonly durable: { readonly stub: StubOf<Held, Pending>; readonly replica: Replica }
  }
}

/** What the protocols do differently. */
export interface GrantRules<Step, Held extends Grant, Pending extends PendingOperation> {
  changeGrant(step: Step, grant: Held): void
  /** The operation is answered: the user is inside, and nothing is pending. */
  settle(step: Step): void
  /** The user has its outcome and may stay, but may have wanted to leave with its operation. */
  afterOutcome?(step: Step, grant: Held, pending: Pending): void
  /** Nobody is inside, nothing is pending, and the ending is remembered. */
  end(step: Step, ending: Ending): void
  /** Whether the user is inside: neither on its way in nor on its way out. */
  isInside(step: Step): boolean
  /** Whether a result as new as this operation may have been dropped from the table. */
  mayBeForgotten(step: Step, pending: Pending): boolean
  /** How this grant ended, and its place in the log, as long as that is remembered. */
  endingOf(step: Step, event: Event<'issue' | 'exit' | 'keep-alive'>): EndedGrant | null
}

export interface EndedGrant {
  readonly ending: Ending
  /** Everything issued under the grant comes later. */
  readonly sequence: number
}

export const isGrantOf = <Held extends Grant>(
  grant: Held | null,
  event: { readonly user: string; readonly fence: number },
): grant is Held => grant !== null && grant.fence === event.fence && grant.user === event.user

/** The users that are inside: one or none. */
export function holdersOf({
  phase,
  grant,
  pendingOperation,
}: StubOf<Grant, PendingOperation>): HoldingUser[] {
  if (grant === null) return []
  const { user, fence, ttlMs, expiresAt } = grant
  const { opId } = pendingOperation ?? {}
  const isIssuing = phase === 'cs-issuing'
  return [{ user, fence, ttlMs, expiresAt, isIssuing, ...(opId !== undefined && { opId }) }]
}

export function createGrants<
  Held extends Grant,
  Pending extends PendingOperation,
  Step extends GrantStep<Held, Pending>,
>(rules: GrantRules<Step, Held, Pending>) {
  const stubOf = (step: Step): StubOf<Held, Pending> => step.state.durable.stub

  // -------------------------------------------------------------- operations

  /**
   * Answers an operation that needs no place in the log: one that is too large, that has been applied, that
   * is pending, or that is issued under no grant. Returns the weight of one that does, or `null`.
   */
  function answerIssue(step: Step, event: Event<'issue'>): number | null {
    const { grant, pendingOperation } = stubOf(step)
    const { user, fence, opId, operation } = event
    const refuse = (code: 'too-large' | 'conflict' | 'busy'): null => {
      refuseOperation(step, event, { code })
      return null
    }
    const { operationWeight } = step.context.config.limits
    const weighed = weight(operation, operationWeight)
    if (weighed > operationWeight) return refuse('too-large')
    const stored = resultOf(step.state.durable.replica, opId)
    if (stored !== undefined) {
      if (stored.digest !== digest(operation)) return refuse('conflict')
      // Only its application answers the pending operation, so that it is answered once (trap A6).
      if (pendingOperation?.opId === opId && grant?.fence === fence) return null
      const { sequence, result } = stored
      emit(step, { type: 'outcome', user, fence, opId, sequence, result })
      return null
    }
    if (!isGrantOf(grant, event) || !rules.isInside(step)) {
      refuseOver(step, event)
      return null
    }
    if (pendingOperation === null) return weighed
    if (pendingOperation.opId !== opId) return refuse('busy')
    return digest(pendingOperation.operation) === digest(operation) ? null : refuse('conflict')
  }

  /** The pending operation is applied, here and therefore everywhere. It is answered once (trap A6). */
  function deliverOutcome(step: Step, sequence: number, result: Json): void {
    const { grant, pendingOperation } = stubOf(step)
    assert(grant !== null && pendingOperation !== null, 'an outcome belongs to a pending operation')
    const { user, fence, ending } = grant
    const { opId } = pendingOperation
    rules.settle(step)
    emit(step, { type: 'outcome', user, fence, opId, sequence, result })
    if (ending !== null) eject(step, ending)
    else rules.afterOutcome?.(step, grant, pendingOperation)
  }

  /** What this participant missed may have contained its pending operation: the table of results knows. */
  function settlePendingFromResults(step: Step): void {
    const { pendingOperation } = stubOf(step)
    if (pendingOperation === null) return
    const stored = resultOf(step.state.durable.replica, pendingOperation.opId)
    if (stored !== undefined && stored.digest === digest(pendingOperation.operation))
      deliverOutcome(step, stored.sequence, stored.result)
  }

  // -------------------------------------------------------------- time

  function onKeepAlive(step: Step, event: Event<'keep-alive'>): void {
    const { grant } = stubOf(step)
    const isOver = !rules.isInside(step) || grant?.ending !== null
    if (!isGrantOf(grant, event) || isOver) return refuseOver(step, event)
    const { user, fence, ttlMs } = event
    const expiresAt = step.now + ttlMs
    rules.changeGrant(step, { ...grant, ttlMs, expiresAt })
    setTimer(step, 'ttl', ttlMs)
    emit(step, { type: 'kept', user, fence, expiresAt })
  }

  /**
   * Called after a restart. A grant that seems to last longer than it may is from before the clock was set
   * back: it lasts as long as one that begins now.
   */
  function resumeGrant(step: Step): void {
    const { grant } = stubOf(step)
    if (grant === null || !rules.isInside(step)) return
    const expiresAt = Math.min(grant.expiresAt, step.now + grant.ttlMs)
    if (expiresAt < grant.expiresAt) rules.changeGrant(step, { ...grant, expiresAt })
    setTimer(step, 'ttl', Math.max(0, expiresAt - step.now))
  }

  /**
   * L12: a user that neither leaves nor keeps its grant alive is assumed gone, whatever state its stub is in
   * (trap B11).
   */
  function onTtlTimer(step: Step): void {
    const { grant } = stubOf(step)
    if (grant === null || !rules.isInside(step)) return
    if (step.now >= grant.expiresAt) ejectOnceSettled(step, 'expired')
    else setTimer(step, 'ttl', grant.expiresAt - step.now)
  }

  // -------------------------------------------------------------- the end

  /**
   * The user is forced out. An operation that is still pending then was not applied, and nobody will apply it
   * (trap A4).
   */
  function eject(step: Step, reason: EjectionReason): void {
    const { grant, pendingOperation } = stubOf(step)
    assert(grant !== null, 'only a holder is ejected')
    const { user, fence } = grant
    const pending = pendingOperation === null ? {} : { pending: pendingOutcome(step, pendingOperation) }
    endGrant(step, { user, fence, reason, ...pending })
    emit(step, { type: 'ejected', user, fence, reason, ...pending })
  }

  /** If results as new as the operation have been dropped from the table, absence there proves nothing. */
  function pendingOutcome(step: Step, pending: Pending): PendingOutcome {
    const outcome = rules.mayBeForgotten(step, pending) ? 'unknown' : 'not-applied'
    return { opId: pending.opId, outcome }
  }

  /** An ejection for a timeout or by an operator waits until the pending operation is settled. */
  function ejectOnceSettled(step: Step, reason: EjectionReason): void {
    const { grant, pendingOperation } = stubOf(step)
    if (grant === null || !rules.isInside(step)) return
    if (pendingOperation === null) eject(step, reason)
    else if (grant.ending === null) rules.changeGrant(step, { ...grant, ending: reason })
  }

  function release(step: Step): void {
    const { grant } = stubOf(step)
    assert(grant !== null, 'only a holder leaves')
    const { user, fence } = grant
    endGrant(step, { user, fence, reason: 'released' })
    emit(step, { type: 'rem', user, fence })
  }

  function endGrant(step: Step, ending: Ending): void {
    rules.end(step, ending)
    cancelTimer(step, 'ttl')
  }

  /** An event for a grant that is over is answered but not run (trap A7). */
  function refuseOver(step: Step, event: Event<'issue' | 'exit' | 'keep-alive'>): void {
    const ended = rules.endingOf(step, event)
    const outcome = event.type === 'issue' ? outcomeOf(step, ended, event.opId) : 'unknown'
    refuseBecauseOver(step, event, ended?.ending ?? null, outcome)
  }

  /**
   * What became of an operation that is not in the table of results, under a grant that is over. When a grant
   * of this participant ended, all its operations had been settled here. So this one was not applied, unless
   * results that are newer than the grant have been dropped from the table.
   */
  function outcomeOf(step: Step, ended: EndedGrant | null, opId: string): PendingOutcome['outcome'] {
    if (ended === null) return 'unknown'
    const { ending, sequence } = ended
    if (ending.pending?.opId === opId) return ending.pending.outcome
    return step.state.durable.replica.droppedThrough > sequence ? 'unknown' : 'not-applied'
  }

  return {
    answerIssue,
    deliverOutcome,
    settlePendingFromResults,
    onKeepAlive,
    resumeGrant,
    onTtlTimer,
    eject,
    ejectOnceSettled,
    release,
    refuseOver,
  }
}
