/**
 * What follows from the state, whatever the input was: the lock is born if somebody wants it, and whoever
 * waits is answered.
 */
import { askLedger, isStandingKnown } from './entitlement.ts'
import { beginCore, dropCore } from './lock-core.ts'
import {
  cancelTimer,
  emit,
  firstOwner,
  isEntitled,
  isLost,
  isRegistrar,
  modeOf,
  PROPOSE_TIMER,
  type Step,
  send,
  setTimer,
  tellRegistrars,
} from './lock-state.ts'
import type { Unavailable } from './lock-types.ts'
import { isMemberAwaited, presentHere, sayBack } from './moving.ts'
import * as register from './register.ts'
import { isBornWith, isNewcomer, type LockValue } from './value.ts'

/**
 * A deployment that begins, or a process that heals, takes a moment: callers that wait are told after this
 * many questions.
 */
const LEDGER_ATTEMPTS = 8

export function proceed(step: Step): void {
  const { birth, soft } = step.state
  stopFinishing(step)
  if (!step.restart) {
    if (birth.chosen === null) drive(step)
    register.startChosen(step)
    awaitCore(step)
    if (isWithoutResource(step)) giveUp(step, 'no-resource')
    if (soft.notReady !== null && soft.ledgerAttempts >= LEDGER_ATTEMPTS) giveUp(step, 'not-ready')
    reportFinished(step)
    sayBack(step)
  }
  settleWish(step)
}

export const hasWish = ({ state: { soft } }: Step): boolean =>
  soft.wish !== 'none' || soft.configures.length > 0

/** Whether the choice is needed here: somebody wants it, or a core waits for it. */
export function hasReason(step: Step): boolean {
  const { birth, soft } = step.state
  const mode = modeOf(birth)
  const isCoreWaiting = mode === 'parked' || mode === 'tentative' || (soft.isStuck && birth.core !== null)
  const isLostAndAwaited = soft.isStuck && isLost(step)
  return hasWish(step) || soft.askers.size > 0 || soft.finishing || isCoreWaiting || isLostAndAwaited
}

/** A core that acts in ballot 0 needs no choice until another participant refuses to accept it. */
function isChoiceAwaited(step: Step): boolean {
  const { birth, soft } = step.state
  const isActive = modeOf(birth) === 'active'
  return isActive ? soft.configures.length > 0 || soft.finishing || soft.isStuck : hasReason(step)
}

function drive(step: Step): void {
  const { context, state } = step
  const { soft } = state
  if (!hasReason(step)) return
  if (!isStandingKnown(step)) return askLedger(step)
  const isLook = isOnlyLook(step)
  if (!isLook && soft.configures.length === 0 && register.mayBeginAlone(step)) register.beginAlone(step)
  answerAskers(step)
  if (state.birth.chosen !== null || !isChoiceAwaited(step)) return
  if (soft.proposal !== null || soft.isWaitingForFirst) return failIfUnreachable(step)
  if (isLook && soft.attempts === 0) return lookAround(step)
  if (!isRegistrar(context, context.self)) return askRegistrars(step)
  if (soft.attempts === 0 && mayAskFirst(step)) askFirst(step)
  else register.propose(step)
}

function answerAskers(step: Step): void {
  const { birth, soft } = step.state
  const value = birth.accepted?.ballot === 0 ? birth.accepted.value : null
  if (value === null) return
  for (const asker of soft.askers) send(step, asker, { type: 'begun', value })
  soft.askers.clear()
}

/** The lock is born elsewhere, so whoever begins it anew, were it the first owner, begins another one. */
function isOnlyLook({ state: { soft } }: Step): boolean {
  return soft.wish === 'look' && soft.configures.length === 0 && soft.askers.size === 0 && !soft.finishing
}

/** Whoever knows what the lock is says so. If nobody does, a ballot finds out. */
function lookAround(step: Step): void {
  step.state.soft.isWaitingForFirst = true
  setTimer(step, PROPOSE_TIMER, step.context.birth.silentMs)
  tellRegistrars(step, { type: 'wake', isLook: true })
}

function mayAskFirst(step: Step): boolean {
  const { context, state } = step
  const { soft } = state
  if (context.self === firstOwner(context) || isLost(step)) return false
  if (soft.configures.length > 0 || soft.isStuck) return false
  return register.mayBeginWithDefaults(step) && register.isOpenForBallotZero(step)
}

/** The core may ask for the token at once, under the value that the first owner is likely to begin with. */
function askFirst(step: Step): void {
  const { context, state } = step
  const first = firstOwner(context)
  state.soft.isWaitingForFirst = true
  setTimer(step, PROPOSE_TIMER, context.birth.silentMs)
  send(step, first, { type: 'wake' })
  if (state.soft.wish !== 'to-try' || state.birth.core !== null || !isEntitled(step)) return
  const configuration = { ...context.defaults, firstOwner: first }
  beginCore(step, { configuration, startEpoch: state.birth.startEpoch }, true)
}

/** A participant that is no registrar has no vote, so it leaves proposing to those that have one. */
function askRegistrars(step: Step): void {
  step.state.soft.isWaitingForFirst = true
  setTimer(step, PROPOSE_TIMER, register.backOff(step))
  tellRegistrars(step, { type: 'wake', ...(isOnlyLook(step) && { isLook: true as const }) })
}

function failIfUnreachable(step: Step): void {
  const { unreachable } = step.state.soft
  const { registrars } = step.context
  if (unreachable.size * 2 >= registrars.length) giveUp(step, 'no-majority')
  else if (register.missing(step).some(id => unreachable.has(id))) giveUp(step, 'no-first-owner')
}

/** Neither the first owner nor a majority has answered in time. */
export function onProposeTimer(step: Step): void {
  const { birth, soft } = step.state
  const isFirstMissing = register.missing(step).length > 0
  soft.proposal = null
  soft.isWaitingForFirst = false
  if (birth.chosen !== null || !isChoiceAwaited(step)) {
    soft.attempts = 0
    return
  }
  soft.attempts++
  if (soft.attempts >= step.context.birth.attempts)
    giveUp(step, isFirstMissing ? 'no-first-owner' : 'no-majority')
}

// ---------------------------------------------------------------- after the choice

/** A member whose core has not begun, or is older than ledgers: only the ledger can say how it begins. */
function awaitCore(step: Step): void {
  const { context, state } = step
  const { chosen, core } = state.birth
  if (chosen === null || !takesPart(step, chosen)) return
  if (core !== null) return isStandingKnown(step) ? undefined : askLedger(step)
  if (context.resourceNamed(chosen.configuration.resource) === undefined) giveUp(step, 'no-resource')
  else askLedger(step)
}

/** Another version of this Worker had the resource of the core. Whoever configures hears what is chosen. */
function isWithoutResource(step: Step): boolean {
  const { birth, core, soft } = step.state
  return birth.core !== null && core === null && soft.configures.length === 0 && isStandingKnown(step)
}

/** What was lost here is over: the lock was deleted, and nothing of the next one was lost. */
function stopFinishing(step: Step): void {
  const { birth, soft } = step.state
  const isOver = soft.finishing && birth.generation > soft.finishingThrough
  if (isOver) sayFinished(step, soft.finishingIncarnation)
}

function sayFinished({ context, state, effects }: Step, incarnation: number): void {
  const { generation } = state.birth
  state.soft.finishing = false
  effects.push({ type: 'tell-ledger', lock: context.lock, generation, incarnation })
}

/** The ledger wants to know when a participant that was lost has been taken back. */
function reportFinished(step: Step): void {
  const { birth, soft } = step.state
  if (!soft.finishing || birth.chosen === null || !isStandingKnown(step)) return
  if (!isMemberAwaited(step, birth.chosen)) sayFinished(step, birth.incarnation)
}

/** Whether this participant has, or is to have, a core of its own. */
const takesPart = ({ context, state }: Step, value: LockValue): boolean =>
  isBornWith(value, context) || (state.birth.core !== null && isNewcomer(context, value))

// ---------------------------------------------------------------- whoever waits

function settleWish(step: Step): void {
  const { birth, soft, core } = step.state
  if (soft.wish === 'none') return
  const mode = modeOf(birth)
  const { chosen } = birth
  if (chosen !== null && !takesPart(step, chosen))
    emit(step, { type: 'elsewhere', configuration: presentHere(step, chosen) })
  else if (core !== null && mode === 'active') emit(step, { type: 'ready' })
  else if (core !== null && mode === 'tentative' && soft.wish === 'to-try') {
    emit(step, { type: 'ready', isTentative: true })
    soft.wish = soft.isLookedAt ? 'look' : 'none'
    return
  } else return
  soft.wish = 'none'
  soft.isLookedAt = false
}

const DETAILS: { readonly [reason in Unavailable]: string } = {
  'no-majority':
    'A majority of the participants that decide what a lock is does not answer, or has lost its storage.',
  'no-first-owner':
    'A participant that may let somebody in on its own does not answer. Until it does, no lock is made whose protocol promises strict exclusion.',
  'not-ready': 'This participant does not take part yet.',
  'no-resource': 'The state that this lock guards is of a kind that this Worker does not know.',
}

function giveUp(step: Step, reason: Unavailable): void {
  const { birth, soft } = step.state
  // Users that wait in a core that has only asked are told as well.
  if (birth.core !== null && birth.accepted === null && birth.chosen === null) {
    soft.tries.clear()
    dropCore(step, 'not-applied')
  }
  if (!hasWish(step)) return
  if (soft.configures.length > 0 && soft.proposal?.value === null) {
    // One more promise would make a lock of the defaults, and nobody has asked for that.
    soft.proposal = null
    cancelTimer(step, PROPOSE_TIMER)
  }
  soft.wish = 'none'
  soft.isLookedAt = false
  soft.configures = []
  const detail = reason === 'not-ready' && soft.notReady ? soft.notReady : DETAILS[reason]
  emit(step, { type: 'unavailable', reason, detail })
}
