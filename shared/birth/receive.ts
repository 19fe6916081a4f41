/**
 * What a participant does with the messages of its peers: those of the birth, and those that are for its
 * core.
 */
import { LARGEST_NUMBER } from '../protocols/ballots.ts'
import { isKnownFormat, type ParticipantId } from '../protocols/protocol.ts'
import { noteTold } from './ending.ts'
import { hold, isStandingKnown } from './entitlement.ts'
import { adoptGeneration, forgetLife } from './generation.ts'
import { incarnationIn } from './incarnations.ts'
import { beginCore, giveMessage } from './lock-core.ts'
import { emit, isEntitled, isRegistrar, learnIncarnations, type Step, send, type Vote } from './lock-state.ts'
import type { BirthMessage, CoreMessage, LockEnvelope } from './messages.ts'
import { onMoved, onMovedHeard, presentHere, sayMoved } from './moving.ts'
import * as register from './register.ts'
import { digestOf, isNewcomer, type LockValue, mayTakePart } from './value.ts'

/** `address`: where the sender is, if it came later. */
export function onEnvelope(step: Step, from: ParticipantId, envelope: LockEnvelope, address?: string): void {
  const { context, state } = step
  const isPeer = Number.isInteger(from) && from >= 1 && from <= LARGEST_NUMBER && from !== context.self
  if (!isKnownFormat(envelope.format) || !isPeer || step.restart) return
  if (envelope.generation < state.birth.generation) return sayOutdated(step, from, envelope)
  if (envelope.generation > state.birth.generation)
    adoptGeneration(step, envelope.generation, envelope.startEpoch ?? 0)
  noteTold(step, from, address)
  if (envelope.body.type === 'ended') return send(step, from, { type: 'heard' })
  if (envelope.body.type === 'heard') return
  if (!isStandingKnown(step)) return onMessageTooEarly(step, from, envelope)
  const incarnation = envelope.incarnation ?? 1
  if (incarnation < incarnationIn(state.birth.known, from)) return sayOutdated(step, from, envelope)
  if (envelope.known !== undefined || incarnation > 1) meetIncarnations(step, from, envelope)
  if (step.restart) return
  const vote: Vote = { incarnation, known: envelope.known ?? {} }
  if (envelope.body.type === 'core') onCoreMessage(step, from, envelope.body, vote)
  else onBirthMessage(step, from, envelope.body, vote)
}

function sayOutdated(step: Step, from: ParticipantId, { body }: LockEnvelope): void {
  if (body.type !== 'outdated') send(step, from, { type: 'outdated' })
}

/** The message waits for the ledger, unless that has said that it is not ready. */
function onMessageTooEarly(step: Step, from: ParticipantId, envelope: LockEnvelope): void {
  // A participant that only hears that something is over does not ask its ledger for a vote because of that.
  if (envelope.body.type === 'outdated') return
  if (step.state.soft.notReady === null) return hold(step, from, envelope)
  const { type } = envelope.body
  if (type === 'prepare' || type === 'accept') send(step, from, { type: 'unable', reason: 'not-ready' })
}

/** G8. If the core has counted anything of a life that is over, its memory is worth nothing. */
function meetIncarnations(step: Step, from: ParticipantId, { known, incarnation }: LockEnvelope): void {
  const { context, state } = step
  learnIncarnations(step, known ?? {})
  learnIncarnations(step, { [from]: incarnation ?? 1 })
  const own = incarnationIn(state.birth.known, context.self)
  if (context.hasLedger && own > state.birth.incarnation) return forgetLife(step, own)
  for (const [peer, counted] of state.soft.counted)
    if (counted < incarnationIn(state.birth.known, peer)) step.restart = true
}

// ---------------------------------------------------------------- messages of the birth

function onBirthMessage(step: Step, from: ParticipantId, message: BirthMessage, vote: Vote): void {
  const { context, state } = step
  const { chosen } = state.birth
  switch (message.type) {
    case 'outdated':
    case 'ended':
    case 'heard':
      return
    case 'chosen':
      if (isRegistrar(context, from) || mayTakePart(message.value, from))
        register.learnChosen(step, message.value)
      if (!message.isForMember) return
      beInvited(step, message.value)
      state.soft.awaitedBy = from
      return
    case 'back':
      state.soft.back.add(from)
      return
    case 'moved':
      return onMoved(step, from, message)
    case 'moved-heard':
      return onMovedHeard(step, from, message.configuration)
    case 'begun':
      onBallotZero(step, from, message.value, vote)
      return
    case 'what':
      return onWhat(step, from, message.digest)
  }
  // G5: a participant that knows the choice says it, whatever was asked.
  if (chosen !== null) {
    // First where the lock is: whoever hears of the choice may conclude from it that nothing is left to do.
    sayMoved(step, from)
    return send(step, from, { type: 'chosen', value: chosen })
  }
  if (message.type === 'wake') {
    // Nothing begins because somebody looks.
    if (!message.isLook || state.birth.accepted !== null) state.soft.askers.add(from)
    return
  }
  if (!isRegistrar(context, from)) return
  switch (message.type) {
    case 'prepare':
      if (hasVote(step, from)) register.onPrepare(step, from, message)
      return
    case 'accept':
      if (hasVote(step, from)) register.onAccept(step, from, message)
      return
    case 'promise':
      return register.onPromise(step, from, vote, message)
    case 'accepted':
      return register.onAccepted(step, from, vote, message)
    case 'promised':
      return register.onPromised(step, message.promised)
    case 'unable':
      return register.onUnable(step, from, message.reason)
    default:
      return message satisfies never
  }
}

function hasVote(step: Step, from: ParticipantId): boolean {
  if (!isRegistrar(step.context, step.context.self)) return false
  if (!isEntitled(step)) send(step, from, { type: 'unable', reason: 'lost' })
  return isEntitled(step)
}

function onWhat(step: Step, from: ParticipantId, digest: string): void {
  const { chosen, accepted, promised } = step.state.birth
  if (chosen !== null) return send(step, from, { type: 'chosen', value: chosen })
  if (accepted?.ballot === 0 && digestOf(accepted.value) === digest)
    return send(step, from, { type: 'begun', value: accepted.value })
  if (promised > 0) send(step, from, { type: 'promised', promised })
}

// ---------------------------------------------------------------- messages of the core

function onCoreMessage(step: Step, from: ParticipantId, body: CoreMessage, vote: Vote): void {
  const { birth } = step.state
  if (birth.chosen !== null) return onMessageOfChosen(step, from, body, vote)
  const value = findValue(step, body)
  if (value === null) return send(step, from, { type: 'what', digest: body.digest })
  if (body.chosen) {
    if (!mayTakePart(value, from)) return
    register.learnChosen(step, value)
    return onMessageOfChosen(step, from, body, vote)
  }
  if (body.tentative) return onTentative(step, from, body, vote)
  if (onBallotZero(step, from, value, vote)) giveMessage(step, from, body.message, vote.incarnation)
}

/** G5: a foreign identity is answered with the choice, and so is a sender that does not know it yet. */
function onMessageOfChosen(step: Step, from: ParticipantId, body: CoreMessage, vote: Vote): void {
  const { birth, soft } = step.state
  const value = birth.chosen!
  const isForeign = body.digest !== digestOf(value)
  if (isForeign || !body.chosen) send(step, from, { type: 'chosen', value })
  if (isForeign) return
  soft.informed.add(from)
  beInvited(step, value)
  giveMessage(step, from, body.message, vote.incarnation)
}

/**
 * One that comes later takes part because members speak to it (rule M3), and not by being asked for the lock:
 * then it says where that is.
 */
function beInvited(step: Step, value: LockValue): void {
  const { context, state } = step
  const isFree = state.birth.core === null && !step.restart && isNewcomer(context, value)
  if (isFree) beginCore(step, value, false)
}

/** The sender guesses what this first owner has begun, or begins now. The message is no vote. */
function onTentative(step: Step, from: ParticipantId, body: CoreMessage, vote: Vote): void {
  const { birth, soft } = step.state
  if (register.mayBeginAlone(step)) register.beginAlone(step)
  const { accepted, chosen } = step.state.birth
  if (chosen !== null) return onMessageOfChosen(step, from, body, vote)
  if (accepted?.ballot !== 0) {
    soft.askers.add(from)
    if (birth.promised > 0) send(step, from, { type: 'promised', promised: birth.promised })
  } else if (digestOf(accepted.value) === body.digest) giveMessage(step, from, body.message, vote.incarnation)
  else send(step, from, { type: 'begun', value: accepted.value })
}

/** G2. Returns whether this participant acts under the same value in ballot 0, possibly from now on. */
function onBallotZero(step: Step, from: ParticipantId, value: LockValue, vote: Vote): boolean {
  const { context, state } = step
  const { chosen, accepted } = state.birth
  if (chosen !== null) {
    if (digestOf(chosen) !== digestOf(value)) send(step, from, { type: 'chosen', value: chosen })
    return false
  }
  if (!isRegistrar(context, from) || !register.isOfBallotZero(step, value)) return false
  if (!isRegistrar(context, context.self)) {
    if (state.soft.wish !== 'none') emit(step, { type: 'elsewhere', configuration: presentHere(step, value) })
    state.soft.wish = 'none'
    state.soft.isLookedAt = false
    return false
  }
  if (!isEntitled(step)) {
    state.soft.isStuck = true
    return false
  }
  if (accepted === null && register.isOpenForBallotZero(step)) register.acceptBallotZero(step, value)
  if (!isActingUnder(step, value)) {
    send(step, from, { type: 'promised', promised: state.birth.promised })
    return false
  }
  state.soft.informed.add(from)
  state.soft.acting.set(from, vote)
  register.concludeBallotZero(step)
  return true
}

function isActingUnder({ state: { birth } }: Step, value: LockValue): boolean {
  const { accepted, chosen } = birth
  const own = chosen ?? (accepted?.ballot === 0 ? accepted.value : null)
  return own !== null && digestOf(own) === digestOf(value)
}

function findValue({ state: { birth } }: Step, { digest, value }: CoreMessage): LockValue | null {
  const known = [value, birth.chosen, birth.accepted?.value, birth.core]
  return known.find(one => one != null && digestOf(one) === digest) ?? null
}
