/**
 * Section 7.4: a node that does not answer is asked whether it is there and, only if the lock's options say
 * so, declared dead.
 *
 * As printed, ARE_YOU_THERE(j) is answered with REPLY if Reply_Deferred[j] is FALSE. If the REQUEST was lost
 * and the node that is asked has priority, or is inside, that lets two in. So ARE_YOU_THERE carries the
 * request, and the normal rule answers it (R4): REPLY, or a note and YES_I_AM_HERE. Every request is repeated
 * in this way too: the first timer of 7.4 is the repeat timer, and a REPLY that was lost is sent again.
 *
 * Declaring a node dead is unsafe as soon as silence may have another reason, such as a network that is
 * split: the silent node may be inside (R8). So it is off unless `declareDeadAfterMs` is set. A node that was
 * wrongly declared dead learns it from the sponsor of its removal, or from the first member that it asks
 * (`not-a-member`). Its users inside are ejected, and it comes back as a new node (7.2). Until it learns it,
 * its users may follow one another, but with fences that are out of date. A node that restarts cannot know
 * whether it was declared dead: it ejects its users and asks anew ("it should restart itself").
 */
import { forgetMember } from '../lock-only/operators.ts'
import type { ParticipantId } from '../protocol.ts'
import { addWish, dropWish } from './group.ts'
import type { AreYouThereMessage } from './messages.ts'
import { defer, defersTo, isValid, ownName, sendReply } from './section-2-rule.ts'
import { giveUpAll } from './section-7-2-insertion.ts'
import { cancelTimer, noteHighest, type Step, send, setTimer } from './step.ts'

export function askWhetherThere(step: Step, peers: readonly ParticipantId[]): void {
  const { mode } = step.state.durable.own
  for (const peer of peers) send(step, peer, { type: 'are-you-there', ...ownName(step), mode })
}

export function onAreYouThere(step: Step, from: ParticipantId, message: AreYouThereMessage): void {
  if (!isValid(step, from, message)) return
  noteHighest(step, message.request)
  if (!defersTo(step, from, message)) return sendReply(step, from, message)
  const { request, incarnation } = message
  defer(step, from, { ...message, passed: null })
  send(step, from, { type: 'yes-i-am-here', request, incarnation })
}

/** Anything a peer says shows that it is there; YES_I_AM_HERE says nothing else. */
export function onSignOfLife(step: Step, from: ParticipantId): void {
  const { soft } = step.state
  delete soft.silentSince[from]
  if (!soft.dead[from]) return
  delete soft.dead[from]
  dropWish(step, from)
}

/** Called at a restart. */
export function assumeDeclaredDead(step: Step): void {
  if (step.options.declareDeadAfterMs !== undefined) giveUpAll(step)
}

// ---------------------------------------------------------------- the second timer

/** These peers were asked again and have not answered yet. */
export function noteAsked(step: Step, peers: readonly ParticipantId[]): void {
  const { silentSince } = step.state.soft
  for (const peer of peers) silentSince[peer] ??= step.now
}

/**
 * Called at the end of each step: only a peer that is awaited can be silent, and every peer that is awaited
 * is a member.
 */
export function watchSilent(step: Step, awaited: readonly ParticipantId[]): void {
  const { silentSince } = step.state.soft
  for (const peer of Object.keys(silentSince)) if (!awaited.includes(Number(peer))) delete silentSince[peer]
  const { declareDeadAfterMs } = step.options
  const since = Object.values(silentSince)
  if (declareDeadAfterMs === undefined || since.length === 0) cancelTimer(step, 'dead')
  else setTimer(step, 'dead', Math.max(0, Math.min(...since) + declareDeadAfterMs - step.now))
}

export function onDeadTimer(step: Step): void {
  const { durable, soft } = step.state
  const { declareDeadAfterMs } = step.options
  if (declareDeadAfterMs === undefined) return
  for (const [peer, since] of Object.entries(soft.silentSince)) {
    const member = durable.group.members[peer]
    if (step.now - since < declareDeadAfterMs || member === undefined) continue
    declareDead(step, Number(peer), member.incarnation)
  }
}

/**
 * From now on the peer counts as dead here: "pretend that a REPLY was received". The group learns it when
 * this node is inside.
 */
function declareDead(step: Step, peer: ParticipantId, incarnation: number): void {
  step.state.soft.dead[peer] = true
  forgetMember(step, peer)
  addWish(step, { type: 'remove', participant: peer, incarnation })
}
