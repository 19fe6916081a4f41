/**
 * What each seat does with each input, computed once by the shipped core: the interpreter of its effects. A
 * crash is an input, too, and may come in the middle of a step: after the save, and after any part of what
 * the step sends and says.
 */
import {
  type Context,
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Effect,
  type Input,
  type ProtocolOptions,
  type UserInput,
} from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import type { Bound } from './bound.ts'
import type { Findings } from './findings.ts'
import { type AnyMessage, type Mail, Messages } from './mail.ts'
import type { Menu } from './menu.ts'
import type { Model } from './model.ts'
import { EMPTY_RECORD, numbered, type Seat, saved, seatText } from './seat.ts'
import { PairTable } from './tables.ts'
import { crash, hear, newUser, speak, type User, type UserAction } from './user.ts'
import { copy, freeze, Numbering } from './values.ts'

export const TIMERS = [
  ...(['repeat', 'heartbeat', 'suspect', 'propose', 'flush', 'spread', 'ttl', 'members'] as const),
]
export const USER_ACTIONS = ['try', 'issue', 'exit', 'withdraw', 'repeat'] as const

const MAX_PARTICIPANTS = 9

/**
 * Inputs are numbered: timers, user actions, crash, recovery, peers that cannot be reached, and then the
 * messages.
 */
export const inputOfTimer = (timer: (typeof TIMERS)[number]): number => TIMERS.indexOf(timer)
export const inputOfAction = (action: UserAction): number => TIMERS.length + USER_ACTIONS.indexOf(action)
export const CRASH = TIMERS.length + USER_ACTIONS.length
export const RECOVER = CRASH + 1
export const inputOfUnreachable = (peer: number): number => RECOVER + peer
/** An operator asks for other members. */
export const CHANGE = RECOVER + MAX_PARTICIPANTS + 1
export const FIRST_MESSAGE = CHANGE + 1

/** What a seat becomes, and what it sends: receivers and messages in turn. */
export interface Result {
  readonly seat: number
  readonly sends: readonly number[]
}

const NOTHING: readonly number[] = []

/** One step under way: the user and the state change, and the effects are what the core wants done. */
interface Run<State, Message> {
  readonly seat: Seat<State>
  readonly user: User | null
  readonly state: State
  readonly input: Input<Message>
  readonly effects: readonly Effect<Message>[]
}

/**
 * What the search knows about seats, whatever their protocol: their numbers, and what leads from one to the
 * other.
 */
export interface SeatTable {
  readonly seats: readonly Seat<unknown>[]
  readonly results: readonly Result[]
  readonly messages: { readonly mails: readonly Mail[] }
  readonly steps: number
  born(participant: number): Result
  step(seat: number, input: number): number
  crashesIn(seat: number, input: number): readonly Result[]
  menuOf(seat: number): Menu
  checkPair(one: number, other: number): void
}

export class Seats<State, Message extends AnyMessage> implements SeatTable {
  readonly seats: Seat<State>[] = []
  readonly results: Result[] = []
  readonly messages = new Messages<Message>()
  /** By participant, from 0 on. */
  readonly contexts: readonly Context[]
  /** How often the core was asked for a step. */
  steps = 0
  private readonly findings: Findings
  private readonly numbering = new Numbering()
  private readonly storages = new Numbering()
  private readonly known = new PairTable(12)
  private readonly cuts = new Map<number, readonly Result[]>()
  private readonly bound: Bound
  private readonly model: Model<State, Message>

  constructor(model: Model<State, Message>, bound: Bound, findings: Findings) {
    this.model = model
    this.bound = bound
    this.findings = findings
    this.contexts = Array.from({ length: bound.participants }, (_, index) =>
      contextOf(index + 1, bound, model.options),
    )
  }

  menuOf(seat: number): Menu {
    return this.model.menuOf(this.seats[seat]!)
  }

  checkPair(one: number, other: number): void {
    this.model.checkPair(this.findings, this.seats[one]!, this.seats[other]!)
  }

  /** The seat of a participant that is born, and what it sends. */
  born(participant: number): Result {
    const empty = new Map()
    const storage = numbered(empty, empty, this.storages)
    const state = this.model.protocol.recover(this.context(participant), storage.records)
    const { users, readers, tries } = this.bound
    const mode = readers.includes(participant) ? 'shared' : 'exclusive'
    const user = users.includes(participant) ? newUser(participant, tries, mode) : null
    const seat = { participant, isUp: true, state, storage, user, record: EMPTY_RECORD }
    const isNewcomer = participant > bornWith(this.bound)
    const start = { type: 'start', now: 0, genesis: !isNewcomer, incarnation: 1 } as const
    const result = this.finish(this.run(seat, user, start))
    // Nobody hears the first call of a newcomer: that it is there is news only once it is invited.
    return isNewcomer ? { ...result, sends: NOTHING } : result
  }

  /** The number of the result of giving this input to this seat. */
  step(seat: number, input: number): number {
    const known = this.known.get(seat, input)
    if (known !== -1) return known
    const number = this.results.length
    this.results.push(this.compute(this.seats[seat]!, input))
    this.known.add(seat, input, number)
    return number
  }

  /** The same step with a crash in it: after the save, and before the last of what is sent and said. */
  crashesIn(seat: number, input: number): readonly Result[] {
    const result = this.step(seat, input)
    const known = this.cuts.get(result)
    if (known !== undefined) return known
    const cuts = this.computeCuts(this.seats[seat]!, input)
    this.cuts.set(result, cuts)
    return cuts
  }

  // ---------------------------------------------------------------- steps

  private compute(seat: Seat<State>, input: number): Result {
    if (input === CRASH) return { seat: this.down(seat, seat, seat.user), sends: NOTHING }
    const run = this.start(seat, input)
    return this.finish(run)
  }

  private start(seat: Seat<State>, input: number): Run<State, Message> {
    if (input === RECOVER) {
      const starts = seat.record.starts + 1
      const starting = { ...seat, record: { ...seat.record, starts } }
      return this.run(starting, seat.user, { type: 'start', now: 0, genesis: false, incarnation: starts })
    }
    if (input >= FIRST_MESSAGE) {
      const { from, message } = this.messages.mails[input - FIRST_MESSAGE]!
      return this.run(seat, seat.user, { type: 'message', now: 0, from, message })
    }
    if (input === CHANGE)
      return this.run(seat, seat.user, { type: 'user', now: 0, event: changeOf(this.bound) })
    if (input > RECOVER)
      return this.run(seat, seat.user, { type: 'unreachable', now: 0, peer: input - RECOVER })
    if (input < TIMERS.length)
      return this.run(seat, seat.user, { type: 'timer', now: 0, timer: TIMERS[input]! })
    const { user, event } = speak(seat.user!, USER_ACTIONS[input - TIMERS.length]!)
    return this.run(seat, user, { type: 'user', now: 0, event })
  }

  private run(seat: Seat<State>, user: User | null, input: Input<Message>): Run<State, Message> {
    this.steps++
    const context = this.context(seat.participant)
    const state = copy(seat.state)
    let effects: Effect<Message>[] = []
    try {
      effects = this.model.protocol.step(context, state, input)
    } catch (error) {
      this.findings.violate('no participant stops with a defect', `${(error as Error).message}`)
    }
    for (const effect of effects) if (effect.type !== 'emit') freeze(effect)
    return { seat, user, state, input, effects }
  }

  private finish(run: Run<State, Message>): Result {
    const { seat, state, effects } = run
    const sends: number[] = []
    let user = run.user
    for (const effect of effects) {
      if (effect.type === 'send') {
        if (effect.to > this.bound.participants)
          this.findings.violate('messages go to others', `${seat.participant} sends to ${effect.to}`)
        sends.push(effect.to, this.messages.number(seat.participant, effect.message))
      } else if (effect.type === 'emit') user = this.tell(user, effect)
    }
    const storage = saved(seat.storage, effects, this.storages)
    const record = this.model.recorded(seat.record, seat.state, state)
    const context = this.context(seat.participant)
    this.model.checkStep(this.findings, context, seat, run.input, state, effects)
    this.model.noteStep(this.findings, context, seat, run.input, state, effects)
    this.model.normalise(context, state)
    const after: Seat<State> = { participant: seat.participant, isUp: true, state, storage, user, record }
    return { seat: this.number(after), sends: sends.length === 0 ? NOTHING : sends }
  }

  private computeCuts(seat: Seat<State>, input: number): readonly Result[] {
    if (input === CRASH) return []
    const run = this.start(seat, input)
    const storage = saved(seat.storage, run.effects, this.storages)
    const record = this.model.recorded(seat.record, seat.state, run.state)
    const results: Result[] = []
    const sends: number[] = []
    let user = run.user
    for (const effect of run.effects) {
      if (effect.type !== 'send' && effect.type !== 'emit') continue
      results.push({ seat: this.down(seat, { storage, record }, user), sends: [...sends] })
      if (effect.type === 'emit') user = this.tell(user, effect)
      else sends.push(effect.to, this.messages.number(seat.participant, effect.message))
    }
    if (results.length > 0) this.findings.reach('a crash between a save and what is sent')
    return results
  }

  private tell(user: User | null, { event }: Extract<Effect<Message>, { type: 'emit' }>): User | null {
    if (user === null || !('user' in event) || event.user !== user.name) return user
    const after = hear(user, event)
    if (typeof after !== 'string') return after
    this.findings.violate('each user is told what its automaton allows', `${user.name}: ${after}`)
    return user
  }

  private down(seat: Seat<State>, left: Pick<Seat, 'storage' | 'record'>, user: User | null): number {
    const { participant } = seat
    const { record } = left
    const { written } = left.storage
    const storage = numbered(written, written, this.storages)
    const state = this.model.protocol.recover(this.context(participant), written)
    return this.number({
      participant,
      isUp: false,
      state,
      storage,
      user: user === null ? null : crash(user),
      record,
    })
  }

  private number(seat: Seat<State>): number {
    const { id, isNew } = this.numbering.number(seatText(seat))
    if (isNew) {
      this.model.checkSeat(this.findings, this.context(seat.participant), seat)
      this.seats.push(seat)
    }
    return id
  }

  private context(participant: number): Context {
    return this.contexts[participant - 1]!
  }
}

const bornWith = ({ participants, newcomers }: Bound): number => participants - newcomers

/** All are to be members but the last one that the lock was born with. */
function changeOf(bound: Bound): UserInput {
  const numbers = Array.from({ length: bound.participants }, (_, index) => index + 1)
  const members = Object.fromEntries(
    numbers.filter(number => number !== bornWith(bound)).map(number => [number, '']),
  )
  return { type: 'change-members', request: 'r', id: 'c', base: 0, members }
}

function contextOf(self: number, bound: Bound, options: ProtocolOptions | undefined): Context {
  return {
    config: {
      self,
      participants: bornWith(bound),
      configuration: 1,
      localHandoffs: 1,
      // A re-entry that leaves later is a message that is delivered later, which is explored in any case.
      timing: { ...DEFAULT_TIMING, confirmMs: 0 },
      limits: DEFAULT_LIMITS,
      ...(options && { options }),
    },
    resource: keyValue,
  }
}
