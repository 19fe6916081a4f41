/** The state of the machine "lock", one step of it, and what all of its parts say to the world. */
import type { Json } from '../json.ts'
import type { AnyProtocol, OpaqueState } from '../protocols/all.ts'
import {
  type Context,
  type DurableRecord,
  type Emitted,
  MEMBERS_FORMAT,
  MESSAGE_FORMAT,
  type ParticipantId,
  type UserInput,
} from '../protocols/protocol.ts'
import { raised } from './incarnations.ts'
import type { BirthEvent, BirthRecord, CoreMode, LockContext, LockEffect, Untold } from './lock-types.ts'
import type { AcceptedBallot, Incarnations, LockEnvelope, LockMessage } from './messages.ts'
import { firstOwnerOf, isSame, type LockValue } from './value.ts'

export interface LockState {
  birth: BirthRecord
  core: RunningCore | null
  soft: Soft
}

/** The core in memory. It exists whenever the birth says so and its resource is registered. */
export interface RunningCore {
  readonly protocol: AnyProtocol
  readonly context: Context
  readonly state: OpaqueState
}

/** What may be lost at any moment. */
export interface Soft {
  random: string
  incarnation: number
  /**
   * Somebody here waits for the lock to be born; `to-try`: only in order to try. `look`: the others have said
   * that it is born, and nothing is to begin here.
   */
  wish: 'none' | 'look' | 'use' | 'to-try'
  /** Somebody looks, whatever others wish: a core that has only asked is nothing to look at. */
  isLookedAt: boolean
  configures: Configure[]
  /** Participants that asked what the lock is before this one knew. */
  askers: Set<ParticipantId>
  /** The ledger wants the participant that was lost here to be taken back, and wants to be told. */
  finishing: boolean
  /** The last generation that anything was lost of. */
  finishingThrough: number
  /** Of the life of the process in which that was found out. */
  finishingIncarnation: number
  /** Another participant has refused to accept the value that this one acts under (G7). */
  isStuck: boolean
  /** The first owner has been asked, and may still answer. */
  isWaitingForFirst: boolean
  /** Messages that wait for the ledger's answer. */
  held: HeldMessage[]
  isAsking: boolean
  /** Why the ledger is not ready, since it was last asked; and how often it has said so. */
  notReady: string | null
  ledgerAttempts: number
  proposal: Proposal | null
  attempts: number
  highestBallot: number
  unreachable: Set<ParticipantId>
  /** The first owner has promised before it had begun, so it never begins this generation alone (G13). */
  isFirstBound: boolean
  /** Registrars that act under the value of ballot 0, and in which incarnation. */
  acting: Map<ParticipantId, Vote>
  /** The incarnation of each participant whose messages the core has received. */
  counted: Map<ParticipantId, number>
  /** Peers that are known to have the value. */
  informed: Set<ParticipantId>
  /** The registrar of this process waits for this participant, which came later, to be taken back. */
  awaitedBy: ParticipantId | null
  /** The participants that have said so. */
  back: Set<ParticipantId>
  /** How often the end of the last generation was told (ending.ts). */
  tellings: number
  /** How often registrars were told of the present members (moving.ts). */
  movedTellings: number
  /** `try` events of users that wait in a core that may yet be dropped. */
  tries: Map<string, UserInput>
}

export interface HeldMessage {
  readonly from: ParticipantId
  readonly message: LockEnvelope
}

export interface Configure {
  readonly request: string
  readonly configuration: LockValue['configuration']
}

/** Votes carry the incarnation of the voter and those that it knows of (G8). */
export interface Vote {
  readonly incarnation: number
  readonly known: Incarnations
}

export interface Proposal {
  readonly ballot: number
  readonly promises: Map<ParticipantId, Vote & { readonly accepted: AcceptedBallot | null }>
  readonly acceptances: Map<ParticipantId, Vote>
  /** Registrars that have lost the lock, so they have no vote, and do not act in it. */
  readonly lost: Set<ParticipantId>
  /** Set once a majority has promised. */
  value: LockValue | null
  /** The request whose configuration is proposed, unless another value was found. */
  request: string | null
}

export interface Step {
  readonly context: LockContext
  readonly state: LockState
  readonly now: number
  readonly records: Map<string, Json | null>
  /** Whether all records so far follow from a log that a majority holds. */
  mayWait: boolean
  readonly effects: LockEffect[]
  clear: boolean
  /** The core has ended its generation, under this grant, in this epoch, with a log of this length. */
  end: { readonly epoch: number; readonly length: number; readonly fence: number } | null
  /** A generation has ended: nothing but its tombstone is kept, in the machine or beside it. */
  ended: boolean
  restart: boolean
}

export const BIRTH = 'birth'
export const CORE_TIMER = 'core/'
export const PROPOSE_TIMER = 'birth/propose'
export const LEDGER_TIMER = 'birth/ledger'
export const TELL_TIMER = 'birth/tell'
export const MOVED_TIMER = 'birth/moved'

export function blankBirth(generation: number, startEpoch: number): BirthRecord {
  return {
    generation,
    startEpoch,
    standing: { status: 'unknown' },
    incarnation: 1,
    known: {},
    promised: 0,
    accepted: null,
    chosen: null,
    ballot: 0,
    core: null,
  }
}

export function blankSoft(random: string, incarnation: number): Soft {
  return {
    random,
    incarnation,
    wish: 'none',
    isLookedAt: false,
    configures: [],
    askers: new Set(),
    finishing: false,
    finishingThrough: Number.POSITIVE_INFINITY,
    finishingIncarnation: 0,
    isStuck: false,
    isWaitingForFirst: false,
    held: [],
    isAsking: false,
    notReady: null,
    ledgerAttempts: 0,
    proposal: null,
    attempts: 0,
    highestBallot: 0,
    unreachable: new Set(),
    isFirstBound: false,
    acting: new Map(),
    counted: new Map(),
    informed: new Set(),
    awaitedBy: null,
    back: new Set(),
    tellings: 0,
    movedTellings: 0,
    tries: new Map(),
  }
}

// ---------------------------------------------------------------- what follows from the records

/**
 * G3: the core acts if its value is chosen, or accepted in ballot 0. After anything was accepted in
 * another ballot it is silent. A participant that has accepted nothing may ask the first owner (`tentative`),
 * until it has promised another ballot.
 */
export function modeOf({ core, chosen, accepted, promised }: BirthRecord): CoreMode {
  if (core === null) return 'none'
  if (chosen !== null) return isSame(core, chosen) ? 'active' : 'parked'
  if (accepted !== null) return accepted.ballot === 0 ? 'active' : 'parked'
  return promised === 0 ? 'tentative' : 'parked'
}

/** Only entitled participants promise, accept, or take part from the start. */
export const isEntitled = ({ context, state }: Step): boolean =>
  !context.hasLedger || state.birth.standing.status === 'entitled'

export const isLost = ({ context, state }: Step): boolean =>
  context.hasLedger && state.birth.standing.status === 'lost'

export const isRegistrar = (context: LockContext, participant: ParticipantId): boolean =>
  participant >= 1 && participant <= context.registrars.length

export const firstOwner = ({ lock, registrars }: LockContext): ParticipantId =>
  firstOwnerOf(lock, registrars.length)

/** Who is still to be told, and where: before others are known by the same numbers. */
export function placedUntold({ context, state }: Step): readonly Untold[] {
  const { untold = [], former } = state.birth
  return untold.map(one =>
    typeof one !== 'number' || isRegistrar(context, one) ? one : { id: one, address: former?.[one] ?? '' },
  )
}

// ---------------------------------------------------------------- what a step does

export function change(step: Step, changes: Partial<BirthRecord>): void {
  step.state.birth = { ...step.state.birth, ...changes }
  step.mayWait = false
  step.records.set(BIRTH, step.state.birth as unknown as Json)
}

export function learnIncarnations(step: Step, news: Incarnations): void {
  const known = raised(step.state.birth.known, news)
  if (known !== step.state.birth.known) change(step, { known })
}

/** `format`: that of the core's message. After a change of the members there is no other than the newest. */
export function send(
  step: Step,
  to: ParticipantId,
  body: LockMessage,
  format = MESSAGE_FORMAT,
  address?: string,
): void {
  const { generation, startEpoch, incarnation, known, members } = step.state.birth
  const message: LockEnvelope = {
    format: members === undefined ? format : MEMBERS_FORMAT,
    generation,
    ...(startEpoch > 0 && { startEpoch }),
    ...(incarnation > 1 && { incarnation }),
    ...(Object.keys(known).length > 0 && { known }),
    body,
  }
  step.effects.push({ type: 'send', to, ...(address !== undefined && { address }), message })
}

export function tellRegistrars(step: Step, body: LockMessage): void {
  const { self, registrars } = step.context
  for (let peer = 1; peer <= registrars.length; peer++) if (peer !== self) send(step, peer, body)
}

export function emit(step: Step, event: Emitted | BirthEvent): void {
  step.effects.push({ type: 'emit', event })
}

export function setTimer(step: Step, timer: string, afterMs: number): void {
  step.effects.push({ type: 'set-timer', timer, afterMs })
}

export function cancelTimer(step: Step, timer: string): void {
  step.effects.push({ type: 'cancel-timer', timer })
}

export function takeEffects(step: Step): LockEffect[] {
  const effects: LockEffect[] = []
  if (step.records.size > 0) {
    const records: DurableRecord[] = [...step.records].map(([key, value]) => ({ key, value }))
    effects.push({
      type: 'save',
      records,
      ...(step.clear && { clear: true }),
      ...(step.clear && step.ended && { ended: true }),
      ...(step.mayWait && !step.clear && { mayWait: true }),
    })
  }
  for (const effect of step.effects) effects.push(effect)
  if (step.restart) effects.push({ type: 'restart' })
  return effects
}
