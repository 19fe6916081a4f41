/**
 * One participant of one lock: the birth of the lock in front of its core, as one pure state machine.
 *
 * The registrars (the default participants) choose once for each generation what a lock is. The first owner,
 * which follows from the lock's name, begins alone in ballot 0. Every message of the core carries the value
 * and counts as a vote for it, so the birth of a lock that nobody configured costs no round trip. Everything
 * else takes a ballot of two round trips.
 *
 * Where to look: the rules of the register (register.ts), messages (receive.ts), who wants the lock born and
 * is told (drive.ts), the core (lock-core.ts), and how a participant that lost its storage is told from one
 * that is new (entitlement.ts, ledger.ts).
 *
 * Nothing is born by looking: only `use`, `configure` and messages of peers begin anything.
 */
import { API_LIMITS } from '../api/limits.ts'
import type { Json } from '../json.ts'
import { protocolNamed } from '../protocols/all.ts'
import type { GuardedState, ParticipantId, View } from '../protocols/protocol.ts'
import { fenceOf } from '../protocols/wme/fence.ts'
import { hasReason, onProposeTimer, proceed } from './drive.ts'
import { endGeneration, tellAll } from './ending.ts'
import { askLedger, hasStanding, onLedger } from './entitlement.ts'
import { forgetLife } from './generation.ts'
import { contextOf, giveUserEvent, stepCore } from './lock-core.ts'
import {
  BIRTH,
  blankBirth,
  blankSoft,
  CORE_TIMER,
  emit,
  firstOwner,
  isRegistrar,
  LEDGER_TIMER,
  type LockState,
  MOVED_TIMER,
  modeOf,
  PROPOSE_TIMER,
  type Step,
  TELL_TIMER,
  takeEffects,
} from './lock-state.ts'
import type { BirthRecord, BirthView, LockContext, LockEffect, LockInput } from './lock-types.ts'
import { configured, tellMoved, wakeNeighbour } from './moving.ts'
import { onEnvelope } from './receive.ts'
import { startChosen } from './register.ts'
import { refusalOf } from './value.ts'

export const lock = { recover, step, view, guarded, birthView }

function noteWish({ state: { soft } }: Step, { toLook, toTry }: Extract<LockInput, { type: 'use' }>): void {
  if (toLook) soft.isLookedAt = true
  if (toLook && soft.wish !== 'none') return
  // Whoever uses the lock need not wait for what the others say to one that looks.
  if (soft.wish === 'look') soft.isWaitingForFirst = false
  if (toLook) soft.wish = 'look'
  else if (soft.wish !== 'use') soft.wish = toTry ? 'to-try' : 'use'
}

// ---------------------------------------------------------------- the state

/** Computes the state from storage alone. */
function recover(context: LockContext, records: Iterable<readonly [string, Json]>): LockState {
  let birth = blankBirth(1, 0)
  const others: (readonly [string, Json])[] = []
  for (const record of records) {
    if (record[0] === BIRTH) birth = record[1] as unknown as BirthRecord
    else others.push(record)
  }
  const state: LockState = { birth, core: null, soft: blankSoft('', 0) }
  // A core from before there were ledgers does nothing until the ledger has listed it (G1).
  const mayAct = birth.core !== null && hasStanding(context, birth)
  const coreContext = mayAct ? contextOf(context, birth.core!) : null
  if (birth.core !== null && coreContext !== null) {
    const protocol = protocolNamed(birth.core.configuration.protocol)
    state.core = { protocol, context: coreContext, state: protocol.recover(coreContext, others) }
  }
  return state
}

function view(_context: LockContext, { core }: LockState): View {
  return core === null ? UNBORN : core.protocol.view(core.context, core.state)
}

const UNBORN: View = {
  membership: 'blank',
  phase: 'unborn',
  epoch: 0,
  sequence: 0,
  committed: 0,
  owner: null,
  suspects: [],
  waiters: [],
  holders: [],
  endings: [],
  cells: null,
}

function guarded({ core }: LockState): GuardedState | null {
  return core === null ? null : core.protocol.guarded(core.state)
}

function birthView({ birth }: LockState): BirthView {
  return {
    generation: birth.generation,
    standing: birth.standing.status,
    core: modeOf(birth),
    value: birth.chosen ?? birth.accepted?.value ?? birth.core,
    isChosen: birth.chosen !== null,
    members: birth.members ?? null,
  }
}

// ---------------------------------------------------------------- a step

/** Changes `state` in place and returns what the interpreter must do. */
function step(context: LockContext, state: LockState, input: LockInput): LockEffect[] {
  const { now } = input
  const step: Step = {
    context,
    state,
    now,
    records: new Map(),
    mayWait: true,
    effects: [],
    clear: false,
    end: null,
    ended: false,
    restart: false,
  }
  dispatch(step, input)
  endGeneration(step)
  proceed(step)
  return takeEffects(step)
}

function dispatch(step: Step, input: LockInput): void {
  switch (input.type) {
    case 'start':
      return onStart(step, input.random, input.incarnation)
    case 'message':
      return onEnvelope(step, input.from, input.message, input.address)
    case 'timer':
      return onTimer(step, input.timer)
    case 'unreachable':
      return onUnreachable(step, input.peer)
    case 'user':
      return giveUserEvent(step, input.event)
    case 'use':
      return noteWish(step, input)
    case 'configure':
      return onConfigure(step, input)
    case 'ledger':
      startChosenAnd(step, onLedger(step, input.answer))
      return
    case 'finish':
      return onFinish(step, input.incarnation, input.generation)
    case 'end':
      step.end = { epoch: input.epoch, length: input.length, fence: fenceOf(input.epoch, input.length) }
      return
    default:
      return input satisfies never
  }
}

function onStart(step: Step, random: string, incarnation: number): void {
  step.state.soft = blankSoft(random, incarnation)
  tellAll(step)
  tellMoved(step)
  stepCore(step, { type: 'start', now: step.now, genesis: false, incarnation })
}

function onConfigure(step: Step, { request, configuration }: LockInput & { type: 'configure' }): void {
  const { soft, birth } = step.state
  const refusal = refusalOf(configuration, step.context.registrars)
  const refuse = (why: 'impossible' | 'too-many', detail: string) =>
    emit(step, { type: 'configuration-refused', request, why, detail })
  if (birth.chosen !== null)
    emit(step, { type: 'configured', request, ...configured(step, birth.chosen), created: false })
  else if (refusal !== null) refuse('impossible', refusal)
  else if (soft.configures.length < API_LIMITS.configuring) soft.configures.push({ request, configuration })
  else refuse('too-many', 'Too many configure this lock at once.')
}

function startChosenAnd(step: Step, held: ReturnType<typeof onLedger>): void {
  startChosen(step)
  for (const { from, message } of held) onEnvelope(step, from, message)
}

/**
 * Whatever an object kept that voted in an earlier incarnation of its process, or was taken back in one, no
 * longer counts: the object would lose it as soon as another participant tells it of the present one.
 */
function onFinish(step: Step, incarnation: number, generation = Number.POSITIVE_INFINITY): void {
  const { birth, soft } = step.state
  const { status } = birth.standing
  const hasBegun = status === 'entitled' || status === 'lost'
  if (hasBegun && birth.incarnation < incarnation) forgetLife(step, incarnation)
  else {
    soft.finishing = true
    soft.finishingThrough = generation
    soft.finishingIncarnation = incarnation
    wakeNeighbour(step)
  }
}

function onTimer(step: Step, timer: string): void {
  const { soft } = step.state
  if (timer.startsWith(CORE_TIMER)) {
    stepCore(step, { type: 'timer', now: step.now, timer: timer.slice(CORE_TIMER.length) })
  } else if (timer === PROPOSE_TIMER) onProposeTimer(step)
  else if (timer === TELL_TIMER) tellAll(step)
  else if (timer === MOVED_TIMER) tellMoved(step)
  else if (timer === LEDGER_TIMER) {
    soft.isAsking = false
    soft.notReady = null
    if (soft.held.length > 0 || hasReason(step)) askLedger(step)
  }
}

function onUnreachable(step: Step, peer: ParticipantId): void {
  const { soft } = step.state
  if (soft.isWaitingForFirst && peer === firstOwner(step.context)) {
    soft.isWaitingForFirst = false
    soft.attempts++
  }
  if (soft.proposal !== null && isRegistrar(step.context, peer)) soft.unreachable.add(peer)
  stepCore(step, { type: 'unreachable', now: step.now, peer })
}
