/**
 * Section 2.2: the paper's three processes. The paper's semaphore is a step here: reading the shared
 * variables, deferring, and noting the deferral are one transaction (R1).
 *
 *   the process which invokes mutual exclusion    invoke, isPermitted, leave
 *   the process which receives REQUESTs           onRequest (section-2-rule.ts)
 *   the process which receives REPLYs             onReply
 *
 * Durable before a REQUEST: the number, and that this node requests. Durable before a REPLY: the highest
 * number seen (R2). Durable with a deferral: its note. A REPLY is owed once. If it is lost, the request is
 * said again and answered again (7.4), and the answer means the same: a node that has replied to a number
 * chooses only higher ones.
 */
import type { Mode, ParticipantId } from '../protocol.ts'
import type { ReplyMessage, RequestMessage } from './messages.ts'
import { deferredKey } from './records.ts'
import { awaited, defer, defersTo, isOwn, isValid, ownName, sendReply } from './section-2-rule.ts'
import { awaitSilence, sendDeferred } from './section-6-1-implicit-reply.ts'
import { goOnAround, sendAround } from './section-6-3-ring.ts'
import { nextNumber } from './section-6-4-numbers.ts'
import { changeOwn, forget, noteHighest, others, restartRepeats, type Step, send } from './step.ts'

// ---------------------------------------------------------------- invokes mutual exclusion

/** "Choose a sequence number", and a REQUEST to all others. */
export function invoke(step: Step, mode: Mode): void {
  const request = nextNumber(step)
  const asked = others(step)
  changeOwn(step, { phase: 'requesting', request, mode, asked, grants: 0, handoffs: 0 })
  noteHighest(step, request)
  const { soft } = step.state
  soft.replies = {}
  soft.explicit = {}
  soft.silentSince = {}
  if (step.options.ring !== undefined) sendAround(step)
  else for (const peer of asked) send(step, peer, { type: 'request', ...ownName(step), mode })
  awaitSilence(step)
  restartRepeats(step)
}

/** "WAITFOR (Outstanding_Reply_Count = 0)". */
export const isPermitted = (step: Step): boolean => awaited(step).length === 0

/**
 * "Release the Critical Section", also before it was entered: a request that nobody needs any more is no
 * request, and REPLYs to it that are still to come answer nothing.
 */
export function leave(step: Step): void {
  const { durable } = step.state
  changeOwn(step, { phase: 'idle', asked: [] })
  const { deferred } = durable
  durable.deferred = {}
  for (const [peer, note] of Object.entries(deferred)) {
    forget(step, deferredKey(Number(peer)))
    if (note.passed === null) sendReply(step, Number(peer), note)
    else goOnAround(step, Number(peer), note, note.passed)
  }
}

// ---------------------------------------------------------------- receives REQUESTs

export function onRequest(step: Step, from: ParticipantId, message: RequestMessage): void {
  if (!isValid(step, from, message)) return
  noteHighest(step, message.request)
  if (!defersTo(step, from, message)) {
    if (step.options.implicitReply === undefined) sendReply(step, from, message)
    return
  }
  defer(step, from, { ...message, passed: null })
  sendDeferred(step, from, message)
}

// ---------------------------------------------------------------- receives REPLYs

export function onReply(step: Step, from: ParticipantId, message: ReplyMessage): void {
  if (isOwn(step, message)) step.state.soft.replies[from] = true
}
