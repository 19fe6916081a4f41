/**
 * Participants and ledgers around a table: every message is moved by hand, so that a test can spell out a
 * schedule step by step.
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import { type LedgerState, ledger } from '../../shared/birth/ledger.ts'
import {
  DEFAULT_LEDGER_LIMITS,
  DEFAULT_LEDGER_TIMING,
  type LedgerContext,
  type LedgerInput,
  type LedgerLimits,
  type LedgerMessage,
} from '../../shared/birth/ledger-types.ts'
import { lock as machine } from '../../shared/birth/lock.ts'
import type { LockState } from '../../shared/birth/lock-state.ts'
import {
  type BirthEvent,
  type BirthRecord,
  DEFAULT_BIRTH_TIMING,
  type LockContext,
  type LockInput,
} from '../../shared/birth/lock-types.ts'
import type { LockEnvelope } from '../../shared/birth/messages.ts'
import { firstOwnerOf, isWeak } from '../../shared/birth/value.ts'
import type { Json } from '../../shared/json.ts'
import {
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Emitted,
  type UserInput,
} from '../../shared/protocols/protocol.ts'
import { readKey } from '../../shared/resource/key-value.ts'
import { resourceByName } from '../../shared/resource/registry.ts'
import { configurationOf } from './scenario.ts'

export interface TableOptions {
  readonly registrars?: number
  readonly processes?: number
  readonly hasLedger?: boolean
  /** Which participant may use ballot 0; the name of the lock is chosen accordingly. */
  readonly first?: number
  readonly defaults?: (process: number) => LockConfiguration
  readonly ledgerLimits?: LedgerLimits
  /** Without a resource there is no core: the register alone. */
  readonly withoutCore?: boolean
}

export type Letter =
  | { readonly kind: 'lock'; readonly from: number; readonly to: number; readonly message: LockEnvelope }
  | { readonly kind: 'ledger'; readonly from: number; readonly to: number; readonly message: LedgerMessage }

export type Filter = (letter: Letter) => boolean

/** The type of what a letter says; for messages of the core, the type of the core's message. */
export function typeOf(letter: Letter): string {
  if (letter.kind === 'ledger') return letter.message.type
  const { body } = letter.message
  return body.type === 'core' ? body.message.type : body.type
}

export const to =
  (...ids: number[]): Filter =>
  letter =>
    ids.includes(letter.to)
export const from =
  (...ids: number[]): Filter =>
  letter =>
    ids.includes(letter.from)
export const among =
  (...ids: number[]): Filter =>
  letter =>
    ids.includes(letter.from) && ids.includes(letter.to)
export const saying =
  (...types: string[]): Filter =>
  letter =>
    types.includes(typeOf(letter))
export const both =
  (...filters: Filter[]): Filter =>
  letter =>
    filters.every(filter => filter(letter))

/** A name whose first owner is this participant. */
export function nameFor(first: number, registrars: number): string {
  for (let number = 1; ; number++)
    if (firstOwnerOf(`lock-${number}`, registrars) === first) return `lock-${number}`
}

interface Seat {
  context: LockContext
  ledgerContext: LedgerContext
  storage: Map<string, Json>
  ledgerStorage: Map<string, Json>
  state: LockState | null
  ledgerState: LedgerState | null
  readonly events: (Emitted | BirthEvent)[]
  readonly timers: Map<string, number>
  readonly ledgerTimers: Set<'repeat' | 'finish'>
}

export class Table {
  readonly name: string
  readonly registrars: number
  readonly seats: Seat[] = []
  letters: Letter[] = []
  /** The ledger of this process does not get the questions of its participant. */
  readonly deafLedgers = new Set<number>()
  now = 1_000
  private starts = 0

  constructor(options: TableOptions = {}) {
    const { registrars = 3, hasLedger = false, first = 1, ledgerLimits = DEFAULT_LEDGER_LIMITS } = options
    const processes = options.processes ?? registrars
    const defaults = options.defaults ?? (() => configurationOf('wme-2', registrars, 30_000, hasLedger))
    this.registrars = registrars
    this.name = nameFor(first, registrars)
    for (let process = 0; process <= processes; process++) {
      const own = defaults(Math.max(process, 1))
      this.seats.push({
        context: {
          lock: this.name,
          self: process,
          registrars: own.participants.slice(0, registrars),
          defaults: own,
          hasLedger,
          resourceNamed: options.withoutCore ? () => undefined : resourceByName,
          timing: DEFAULT_TIMING,
          limits: DEFAULT_LIMITS,
          birth: DEFAULT_BIRTH_TIMING,
        },
        ledgerContext: {
          ...{ self: process, registrars, isStrict: !isWeak(own) },
          ...{ limits: ledgerLimits, timing: DEFAULT_LEDGER_TIMING },
        },
        storage: new Map(),
        ledgerStorage: new Map(),
        state: null,
        ledgerState: null,
        events: [],
        timers: new Map(),
        ledgerTimers: new Set(),
      })
    }
  }

  get ids(): number[] {
    return this.seats.slice(1).map(({ context }) => context.self)
  }

  /** All processes up, and founded if they have ledgers. */
  static founded(options: TableOptions = {}): Table {
    const table = new Table(options)
    for (const id of table.ids) table.start(id)
    table.deliver()
    return table
  }

  // ---------------------------------------------------------------- processes

  start(id: number): void {
    const seat = this.seats[id]!
    if (seat.context.hasLedger && id <= this.registrars) this.startLedger(seat)
    this.startParticipant(id)
  }

  private startLedger(seat: Seat): void {
    this.starts++
    seat.ledgerState = ledger.recover(seat.ledgerContext, seat.ledgerStorage)
    this.stepLedger(seat.context.self, { type: 'start', random: `r${this.starts}` })
  }

  private startParticipant(id: number): void {
    const seat = this.seats[id]!
    this.starts++
    seat.state = machine.recover(seat.context, seat.storage)
    this.step(id, { type: 'start', now: this.now, incarnation: this.starts, random: `r${this.starts}` })
  }

  stop(id: number): void {
    const seat = this.seats[id]!
    seat.state = null
    seat.ledgerState = null
    seat.timers.clear()
    seat.ledgerTimers.clear()
  }

  crash(id: number): void {
    this.stop(id)
    this.start(id)
  }

  /** Another version of the deployment, with other defaults. */
  deploy(id: number, defaults: LockConfiguration): void {
    const seat = this.seats[id]!
    seat.context = { ...seat.context, defaults }
    seat.ledgerContext = { ...seat.ledgerContext, isStrict: !isWeak(defaults) }
    this.crash(id)
  }

  /** Everything that the process has stored is gone. It does not start by itself. */
  wipe(id: number): void {
    this.stop(id)
    this.seats[id]!.storage = new Map()
    this.seats[id]!.ledgerStorage = new Map()
  }

  wipeParticipant(id: number): void {
    const seat = this.seats[id]!
    seat.storage = new Map()
    seat.timers.clear()
    this.startParticipant(id)
  }

  wipeLedger(id: number): void {
    const seat = this.seats[id]!
    seat.ledgerStorage = new Map()
    seat.ledgerTimers.clear()
    this.startLedger(seat)
  }

  // ---------------------------------------------------------------- inputs

  use(id: number, toTry = false): void {
    this.step(id, { type: 'use', now: this.now, toTry })
  }

  /** Somebody looks at a lock that the others have said is born. */
  look(id: number): void {
    this.step(id, { type: 'use', now: this.now, toLook: true })
  }

  configure(id: number, request: string, configuration: LockConfiguration): void {
    this.step(id, { type: 'configure', now: this.now, request, configuration })
  }

  user(id: number, event: UserInput): void {
    this.step(id, { type: 'user', now: this.now, event })
  }

  try(id: number, user: string): void {
    this.user(id, { type: 'try', user, ttlMs: 30_000 })
  }

  /** Uses the lock, and tries once it may. */
  acquire(id: number, user: string): void {
    this.use(id, true)
    this.deliverLedgerCalls()
    this.try(id, user)
  }

  /** Issues a first operation, too: it leaves for all at once, which a grant alone need not. */
  enter(id: number, user: string): void {
    this.acquire(id, user)
    this.issue(id, user, `first-of-${user}`)
  }

  issue(id: number, user: string, opId: string): void {
    const fence = this.fenceOf(id, user)
    this.user(id, { type: 'issue', user, fence, opId, operation: [{ increment: 'n', by: 1 }] })
  }

  exit(id: number, user: string): void {
    this.user(id, { type: 'exit', user, fence: this.fenceOf(id, user) })
  }

  fire(id: number, timer: string): void {
    this.seats[id]!.timers.delete(timer)
    this.step(id, { type: 'timer', now: this.now, timer })
  }

  /** Asks the ledger until the participant gives up. */
  despair(id: number): void {
    for (let attempt = 0; attempt < 10; attempt++) {
      this.deliverLedgerCalls()
      this.fire(id, 'birth/ledger')
    }
    this.deliverLedgerCalls()
  }

  fireLedger(id: number, timer: 'repeat' | 'finish'): void {
    this.stepLedger(id, { type: 'timer', timer })
  }

  step(id: number, input: LockInput): void {
    const seat = this.seats[id]!
    if (seat.state === null) return
    for (const effect of machine.step(seat.context, seat.state, input)) {
      switch (effect.type) {
        case 'save':
          if (effect.clear) seat.storage.clear()
          save(seat.storage, effect.records)
          break
        case 'send':
          this.letters.push({ kind: 'lock', from: id, to: effect.to, message: copy(effect.message) })
          break
        case 'emit':
          seat.events.push(effect.event)
          break
        case 'set-timer':
          seat.timers.set(effect.timer, effect.afterMs)
          break
        case 'cancel-timer':
          seat.timers.delete(effect.timer)
          break
        case 'ask-ledger':
          this.calls.push({ id, input: { type: 'ask', question: effect.question } })
          break
        case 'tell-ledger':
          this.calls.push({
            id,
            input: { ...effect, type: 'finished' },
          })
          break
        case 'restart':
          seat.timers.clear()
          this.startParticipant(id)
      }
    }
  }

  private readonly calls: { id: number; input: LedgerInput }[] = []

  deliverLedgerCalls(): void {
    for (let call = this.calls.shift(); call !== undefined; call = this.calls.shift())
      if (!this.deafLedgers.has(call.id)) this.stepLedger(call.id, call.input)
  }

  stepLedger(id: number, input: LedgerInput): void {
    const seat = this.seats[id]!
    if (seat.ledgerState === null) return
    for (const effect of ledger.step(seat.ledgerContext, seat.ledgerState, input)) {
      switch (effect.type) {
        case 'save':
          save(seat.ledgerStorage, effect.records)
          break
        case 'send':
          this.letters.push({ kind: 'ledger', from: id, to: effect.to, message: copy(effect.message) })
          break
        case 'set-timer':
          seat.ledgerTimers.add(effect.timer)
          break
        case 'answer':
          this.step(id, { type: 'ledger', now: this.now, answer: effect.answer })
          break
        case 'finish':
          this.step(id, {
            type: 'finish',
            now: this.now,
            incarnation: effect.incarnation,
            generation: effect.generation,
          })
      }
    }
  }

  // ---------------------------------------------------------------- letters

  /** Delivers what passes the filter, and what follows from it, until nothing is left. The rest stays. */
  deliver(filter: Filter = () => true): void {
    this.deliverLedgerCalls()
    for (let rounds = 0; rounds < 2_000; rounds++) {
      const index = this.letters.findIndex(filter)
      if (index === -1) return
      const [letter] = this.letters.splice(index, 1)
      this.hand(letter!)
    }
    throw new Error('the letters do not end')
  }

  hand(letter: Letter): void {
    if (letter.kind === 'ledger')
      this.stepLedger(letter.to, { type: 'message', from: letter.from, message: letter.message })
    else this.step(letter.to, { type: 'message', now: this.now, from: letter.from, message: letter.message })
    this.deliverLedgerCalls()
  }

  /** Takes letters off the table: they are lost, or handed over later. */
  take(filter: Filter = () => true): Letter[] {
    const taken = this.letters.filter(filter)
    this.letters = this.letters.filter(letter => !filter(letter))
    return taken
  }

  /** Delivers everything and lets all timers of the birth and the ledgers end, a few times. */
  settle(rounds = 12): void {
    for (let round = 0; round < rounds; round++) {
      this.deliver()
      this.now += 5_000
      for (const { context, timers, ledgerTimers } of this.seats.slice(1)) {
        for (const timer of [...timers.keys()]) this.fire(context.self, timer)
        for (const timer of [...ledgerTimers]) {
          ledgerTimers.delete(timer)
          this.fireLedger(context.self, timer)
        }
        this.deliver()
      }
    }
  }

  // ---------------------------------------------------------------- looking

  birth(id: number): BirthRecord {
    return this.seats[id]!.state!.birth
  }

  view(id: number) {
    const { context, state } = this.seats[id]!
    return machine.view(context, state!)
  }

  events(id: number, type?: string): (Emitted | BirthEvent)[] {
    return this.seats[id]!.events.filter(event => type === undefined || event.type === type)
  }

  fenceOf(id: number, user: string): number {
    const crit = this.seats[id]!.events.findLast(event => event.type === 'crit' && event.user === user)
    return crit?.type === 'crit' ? crit.fence : -1
  }

  /** The values that any participant knows to be chosen, each once. */
  chosen(): string[] {
    const values = this.seats
      .slice(1)
      .flatMap(({ state }) => (state?.birth.chosen ? [state.birth.chosen] : []))
    return [...new Set(values.map(value => JSON.stringify(value)))]
  }

  valueAt(id: number): Json {
    return readKey(this.view(id).cells ?? {}, 'n').value
  }
}

function save(storage: Map<string, Json>, records: readonly { key: string; value: Json | null }[]): void {
  for (const { key, value } of records) {
    if (value === null) storage.delete(key)
    else storage.set(key, copy(value))
  }
}

const copy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))
