/**
 * Section 6.1: no reply within the round-trip time is a reply, and a node that defers says so. Between 1(N-1)
 * and 3(N-1) messages.
 *
 * This is only as safe as its assumption: nothing is lost, nothing takes longer than the bound, no node
 * stands still. A REQUEST or DEFERRED that is lost lets two in, and no repeating can help, since the silence
 * that it leaves behind already is an answer. What can be known is not assumed away: a node that the
 * transport says it did not reach must answer, and so must all nodes after the requester was restarted,
 * because it does not know whether its REQUESTs were sent. They are asked with ARE_YOU_THERE (7.4), which is
 * always answered.
 */
import type { ParticipantId } from '../protocol.ts'
import type { DeferredMessage, RequestName } from './messages.ts'
import { awaited, isOwn } from './section-2-rule.ts'
import { cancelTimer, type Step, send, setTimer } from './step.ts'

export function awaitSilence(step: Step): void {
  const { implicitReply } = step.options
  if (implicitReply === undefined) return
  step.state.soft.isSilenceCounted = true
  setTimer(step, 'silence', implicitReply.roundTripMs)
}

export function sendDeferred(step: Step, to: ParticipantId, { request, incarnation }: RequestName): void {
  if (step.options.implicitReply !== undefined) send(step, to, { type: 'deferred', request, incarnation })
}

/** The REPLY follows when the sender leaves. */
export function onDeferred(step: Step, from: ParticipantId, message: DeferredMessage): void {
  if (isOwn(step, message)) step.state.soft.explicit[from] = true
}

export function onUnreachable(step: Step, peer: ParticipantId): void {
  if (step.state.soft.isSilenceCounted) step.state.soft.explicit[peer] = true
}

/** The round-trip time is over. */
export function onSilenceTimer(step: Step): void {
  const { soft } = step.state
  if (!soft.isSilenceCounted) return
  for (const peer of awaited(step)) if (!soft.explicit[peer]) soft.replies[peer] = true
  soft.isSilenceCounted = false
}

/** The nodes that will answer or must be asked again: all, or those whose silence says nothing. */
export function awaitedToSpeak(step: Step): ParticipantId[] {
  const { soft } = step.state
  return awaited(step).filter(peer => !soft.isSilenceCounted || soft.explicit[peer])
}

/** Called at the end of each step: a node that does not wait for a REPLY does not wait for silence. */
export function endSilence(step: Step): void {
  if (awaited(step).length > 0) return
  step.state.soft.isSilenceCounted = false
  cancelTimer(step, 'silence')
}
