/**
 * Figure 1: the normal phase. A stub that wants the token asks all for it (REQUEST). The owner passes it on
 * by appending a grant to the log (GRANTED). The stub that has it appends operations (INVOKE), which are
 * applied once a majority holds them (ACK).
 *
 * WME-1 and WME-2 differ only in who receives an acknowledgement: figure-1-acknowledgement.ts,
 * figure-4-acknowledgement.ts.
 */
import type { ParticipantId, UserInput } from '../protocol.ts'
import { refuse, refuseUnsupported } from '../refusals.ts'
import { joinQueue } from '../waiting-users.ts'
import { membersToBe } from './change-of-members.ts'
import { advanceCommitted, concludeCommitted } from './commit.ts'
import { inCriticalSection } from './figure-3-states.ts'
import { answerIssue, emitCrit, enter, isGrantOf, refuseOver, release } from './grants.ts'
import { append, assertSameLog, entryAt, grantedTo, hasRoom, lengthOf, push } from './log.ts'
import { isMember } from './members.ts'
import type { DoInvokeMessage, InvokeAckMessage, InvokeMessage, RequestMessage } from './messages.ts'
import { noteNeedElsewhere } from './needs-owner.ts'
import { restartRepeats } from './repeat.ts'
import { noteAcknowledged } from './round-trips.ts'
import type { Entry, GrantEntry, Request } from './state.ts'
import { askForCatchUp, assert, broadcast, changeStub, type Step, saveLater } from './step.ts'

type UserEvent<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

// ---------------------------------------------------------------- upon try

/** L7: the user joins the local queue; `proceed` then asks for the token, or uses it if it is here. */
export function onTry(step: Step, event: UserEvent<'try'>): void {
  const { stub } = step.state.durable
  if (event.mode === 'shared') return refuseUnsupported(step, event)
  // A user that leaves with its operation tries anew. It may have left before, if the stub has forgotten
  // that.
  const isLeaving = stub.pendingOperation?.thenExit === true
  if (stub.grant?.user === event.user && inCriticalSection(stub.phase) && !isLeaving) {
    return emitCrit(step, stub.grant.sequence <= step.state.soft.committed)
  }
  joinQueue(step, event, { confirm: event.confirm ?? false }, saveLater)
}

/**
 * What follows from the state after every transition (trap B4). If somebody waits here, the stub is
 * requesting. If the token is here and nobody uses it, the next user gets it. If it is elsewhere, all are
 * asked for it.
 */
export function proceed(step: Step): void {
  const { durable } = step.state
  const { self } = step.context.config
  const { stub } = durable
  if (stub.phase === 'idle' && durable.waiters.length > 0) {
    changeStub(step, { phase: 'requesting', requestId: stub.requestId + 1 })
  }
  // A request that counts as granted will never be granted again, so it needs a new number (trap B3).
  const granted = grantedTo(step.state, self)
  if (durable.stub.phase === 'requesting' && durable.stub.requestId <= granted) {
    changeStub(step, { requestId: granted + 1 })
  }
  passToken(step)
  announceRequest(step)
}

/** Sends REQUEST to all, once for each request and epoch; the repeat timer does the rest. */
function announceRequest(step: Step): void {
  const { durable, derived, soft } = step.state
  const { epoch, sealed } = durable.epoch
  const { phase, requestId } = durable.stub
  if (phase !== 'requesting' || derived.owner === step.context.config.self || sealed) return
  if (soft.announced?.epoch === epoch && soft.announced.requestId === requestId) return
  soft.announced = { epoch, requestId }
  sendRequest(step)
  restartRepeats(step)
}

export function sendRequest(step: Step): void {
  const { durable } = step.state
  const { self } = step.context.config
  broadcast(step, {
    type: 'request',
    epoch: durable.epoch.epoch,
    participant: self,
    requestId: durable.stub.requestId,
  })
}

// ---------------------------------------------------------------- upon REQUEST

/** L8: a queue holds at most one request of each participant, and none that was granted (trap A8). */
export function onRequest(step: Step, message: RequestMessage): void {
  const { soft } = step.state
  const { participant, requestId } = message
  if (participant === step.context.config.self || !isMember(step, participant)) return
  if (requestId <= grantedTo(step.state, participant)) return
  // A participant that waits asks again and again. One that is not heard any more keeps nobody repeating.
  soft.idleRepeats = 0
  noteNeedElsewhere(step)
  const request: Request = { participant, requestId }
  const place = soft.requests.findIndex(queued => queued.participant === participant)
  if (place === -1) soft.requests.push(request)
  else if (soft.requests[place]!.requestId < requestId) soft.requests[place] = request
}

/** L9: the owner, not in the critical section, gives the token to whoever is next, here or elsewhere. */
function passToken(step: Step): void {
  const { durable, derived, soft } = step.state
  const { self, localHandoffs } = step.context.config
  const { stub } = durable
  const idle = stub.phase === 'idle' || stub.phase === 'requesting'
  if (derived.owner !== self || durable.epoch.sealed || !idle || !hasRoom(step)) return
  const staying = membersToBe(step)
  const remote = soft.requests.find(
    ({ participant }) => staying === null || staying[participant] !== undefined,
  )
  const isLocal = stub.phase === 'requesting' && staying === null
  if (isLocal && (remote === undefined || stub.handoffs < localHandoffs)) {
    changeStub(step, { handoffs: remote === undefined ? 0 : stub.handoffs + 1 })
    enter(step, append(step, { kind: 'grant', to: self, requestId: stub.requestId }) as GrantEntry)
  } else if (remote !== undefined) {
    if (stub.handoffs !== 0) changeStub(step, { handoffs: 0 })
    append(step, { kind: 'grant', to: remote.participant, requestId: remote.requestId })
  }
}

// ---------------------------------------------------------------- upon exit

/**
 * L11: emits `rem` at once, also in a sealed epoch; `proceed` passes the token on (trap A7: never with a
 * stale grant).
 */
export function onExit(step: Step, event: UserEvent<'exit'>): void {
  const { grant, phase } = step.state.durable.stub
  if (!isGrantOf(grant, event)) return refuseOver(step, event)
  if (phase === 'cs-issuing') return refuse(step, event.user, 'exit', { code: 'busy' })
  if (phase === 'cs-idle') release(step)
}

// ---------------------------------------------------------------- upon issue

/** L13: INVOKE. In a sealed epoch the operation waits for the decision. */
export function onIssue(step: Step, event: UserEvent<'issue'>): void {
  const { opId, operation, thenExit } = event
  const weight = answerIssue(step, event)
  if (weight === null) return
  changeStub(step, {
    phase: 'cs-issuing',
    pendingOperation: { opId, operation, weight, sequence: null, ...(thenExit && { thenExit }) },
  })
  if (!step.state.durable.epoch.sealed) appendPending(step)
}

/**
 * The one place that writes the pending operation into the log. It is called again in a new epoch that did
 * not have it (trap A3).
 */
export function appendPending(step: Step): void {
  const { grant, pendingOperation } = step.state.durable.stub
  const { opId, operation, weight } = pendingOperation!
  const { sequence } = append(step, { kind: 'operation', fence: grant!.fence, opId, operation, weight })
  changeStub(step, { pendingOperation: { ...pendingOperation!, sequence } })
}

// ---------------------------------------------------------------- upon INVOKE or GRANTED

export function onInvoke(step: Step, from: ParticipantId, message: InvokeMessage): void {
  const { soft } = step.state
  const { previous, digest, entries, committed } = message
  assertSameLog(step.state.durable, previous, digest)
  if (previous > lengthOf(step.state.durable)) return askForCatchUp(step, from)
  soft.acknowledged[from] = Math.max(soft.acknowledged[from]!, previous + entries.length)
  const fresh = acceptEntries(step, entries, committed)
  step.variant.acknowledge(step, from, fresh)
  concludeCommitted(step)
}

/**
 * Takes the entries of this epoch that are new here. They may come from any participant: what counts is who
 * wrote them.
 */
export function acceptEntries(step: Step, entries: readonly Entry[], committed: number): Entry[] {
  const { durable, derived, soft } = step.state
  const fresh: Entry[] = []
  for (const entry of entries) {
    if (entry.sequence <= lengthOf(durable)) {
      assertSameLog(durable, entry.sequence, entry.digest)
      continue
    }
    assert(entry.by === derived.owner, 'only the owner by the preceding prefix writes an entry (A9)')
    push(step, entry)
    fresh.push(entry)
  }
  if (fresh.length > 0) soft.sent.fill(lengthOf(durable))
  advanceCommitted(step, Math.max(committed, lastOperationBelow(step, lengthOf(durable))))
  const last = fresh.findLast(entry => entry.kind === 'grant')
  // The grant may be for an older request; the token is used all the same (trap A8). An idle stub passes it
  // on in `proceed`.
  if (last?.to === step.context.config.self && durable.stub.phase === 'requesting') enter(step, last)
  return fresh
}

/**
 * L4: the owner has one operation at a time. That it appended `sequence` therefore proves that all operations
 * below are committed (A5).
 */
function lastOperationBelow(step: Step, sequence: number): number {
  const { durable, soft } = step.state
  for (let at = sequence - 1; at > soft.committed; at--) {
    if (entryAt(durable, at)!.kind === 'operation') return at
  }
  return 0
}

// ---------------------------------------------------------------- upon ACK and DOINVOKE

export function onInvokeAck(step: Step, from: ParticipantId, message: InvokeAckMessage): void {
  const { soft } = step.state
  const { length, digest } = message
  assertSameLog(step.state.durable, length, digest)
  noteAcknowledged(step, from, length)
  if (length <= soft.acknowledged[from]!) return
  soft.acknowledged[from] = length
  if (length > lengthOf(step.state.durable)) soft.claims[from] = { length, digest }
  concludeCommitted(step)
}

/** Figure 4. */
export function onDoInvoke(step: Step, from: ParticipantId, message: DoInvokeMessage): void {
  assertSameLog(step.state.durable, message.committed, message.digest)
  if (message.committed > lengthOf(step.state.durable)) askForCatchUp(step, from)
  advanceCommitted(step, message.committed)
}
