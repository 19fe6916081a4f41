/**
 * The interpreter of the effects of the machine "lock": the birth of a lock in front of its protocol. What a
 * step saves is committed at the end of its turn, before anything that it sends may leave. So memory is only
 * a cache of storage, and an eviction at any moment changes nothing.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import type { LedgerAnswer, LedgerQuestion } from '../../../shared/birth/ledger-types.ts'
import { lock as machine } from '../../../shared/birth/lock.ts'
import type { LockState } from '../../../shared/birth/lock-state.ts'
import type {
  BirthEvent,
  BirthRecord,
  BirthView,
  LockContext,
  LockEffect,
  LockInput,
} from '../../../shared/birth/lock-types.ts'
import { presentConfiguration } from '../../../shared/birth/moving.ts'
import type { Emitted, GuardedState, UserInput, View } from '../../../shared/protocols/protocol.ts'
import type { Resource } from '../../../shared/resource/resource.ts'
import type { Intent } from '../lock/intent.ts'
import type { Message } from '../peers/requests.ts'
import type { Storage } from './storage.ts'
import type { Timer, Timers } from './timers.ts'
import type { Turns } from './turns.ts'

export interface EngineHost {
  readonly turns: Turns
  readonly storage: Storage
  readonly timers: Timers
  now(): number
  randomId(): string
  /** With `address`, to the one that is there, whoever has its number now. */
  post(to: number, message: Message, address?: string): void
  askLedger(question: LedgerQuestion): void
  tellLedger(lock: string, generation: number, incarnation: number): void
  /**
   * Called with every event of a step; `cause` is the user event that caused the step, if one did. `ofEnded`:
   * so many of the events are of a lock that this step has ended, and the others of the next one of its name;
   * `null`: no lock has ended. It must not begin another step.
   */
  onStep(emitted: readonly Emitted[], cause: UserInput | null, ofEnded: number | null): void
  /** Called after `onStep`; it must not begin another step, either. */
  onBirth(events: readonly BirthEvent[]): void
  /** What the machine had in memory is gone: callers that wait for the birth ask again. */
  onRestart(): void
  /** The participant's own records that are kept when its lock is deleted. */
  readonly keptAtEnd: readonly string[]
  /**
   * The core has lost everything, and begins anew or not at all. Called in the middle of a step. `isEnded`:
   * the lock was deleted.
   */
  onClear(isEnded: boolean): void
  /** Whether the host handles the end of this timer of the protocol itself. */
  onTimer(timer: string): boolean
}

/** Timers of the protocol among those of the machine. */
const CORE = 'core/'

/** Hexadecimal digits of the random number that tells starts apart: 48 bits. */
const INCARNATION_DIGITS = 12

export class Engine {
  private readonly context: LockContext
  private readonly host: EngineHost
  private readonly timers = new Map<string, Timer>()
  private state: LockState
  private knownView: View | null = null
  private isStepping = false
  /** The configuration that was last asked for, and what it was made of. */
  private known: {
    readonly value: object
    readonly members: object | null
    readonly configuration: LockConfiguration
  } | null = null

  constructor(host: EngineHost, context: LockContext) {
    this.host = host
    this.context = context
    this.state = machine.recover(context, host.storage.protocolRecords())
  }

  start(): void {
    const now = this.host.now()
    const random = this.host.randomId()
    const incarnation = Number.parseInt(random.slice(0, INCARNATION_DIGITS), 16) + 1
    this.step({ type: 'start', now, incarnation, random })
  }

  // ---------------------------------------------------------------- inputs

  use(intent: Intent): void {
    const now = this.host.now()
    this.step({ type: 'use', now, toTry: intent === 'try', toLook: intent === 'look' })
  }

  configure(request: string, configuration: LockConfiguration): void {
    this.step({ type: 'configure', now: this.host.now(), request, configuration })
  }

  ledger(answer: LedgerAnswer): void {
    this.step({ type: 'ledger', now: this.host.now(), answer })
  }

  finish(incarnation: number, generation?: number): void {
    const through = generation === undefined ? {} : { generation }
    this.step({ type: 'finish', now: this.host.now(), incarnation, ...through })
  }

  user(event: UserInput): void {
    this.step({ type: 'user', now: this.host.now(), event })
  }

  message(from: number, message: Message, address?: string): void {
    const there = address === undefined ? {} : { address }
    this.step({ type: 'message', now: this.host.now(), from, ...there, message })
  }

  end(epoch: number, length: number): void {
    this.step({ type: 'end', now: this.host.now(), epoch, length })
  }

  unreachable(peer: number): void {
    this.step({ type: 'unreachable', now: this.host.now(), peer })
  }

  // ---------------------------------------------------------------- looking

  /** Valid until the next step. */
  get view(): View {
    this.knownView ??= machine.view(this.context, this.state)
    return this.knownView
  }

  /** Valid until the next step; `null` for a lock that guards no state, or is not born. */
  get guarded(): GuardedState | null {
    return machine.guarded(this.state)
  }

  get birth(): BirthView {
    return machine.birthView(this.state)
  }

  /** What the lock is made of at present, as far as it is known here. */
  get configuration(): LockConfiguration {
    const { value, members, generation } = this.birth
    if (value === null) throw new Error('this participant does not know its lock yet')
    if (this.known?.value !== value || this.known.members !== members) {
      const configuration = presentConfiguration(value, generation, members, this.context.registrars)
      this.known = { value, members, configuration }
    }
    return this.known.configuration
  }

  /** What is stored of the birth. */
  get birthRecord(): BirthRecord {
    return this.state.birth
  }

  /** The resource of the core that is here; a different object for a different core. */
  get resource(): Resource | null {
    return this.state.core?.context.resource ?? null
  }

  /** An object that is replaced whenever the core is. */
  get core(): object | null {
    return this.state.core
  }

  /** Whether users' events are taken. */
  get isTakingPart(): boolean {
    const { core } = this.birth
    return this.state.core !== null && core === 'active'
  }

  // ---------------------------------------------------------------- steps

  private step(input: LockInput): void {
    this.host.turns.assertRunning()
    if (this.isStepping) throw new Error('a step cannot begin in another one')
    this.isStepping = true
    this.knownView = null
    const emitted: Emitted[] = []
    const births: BirthEvent[] = []
    let ofEnded: number | null = null
    const effects = machine.step(this.context, this.state, input)
    for (const effect of effects) {
      if (effect.type === 'save' && effect !== effects[0])
        throw new Error('a save must be the first effect of its step')
      if (effect.type !== 'emit') this.perform(effect, input.now)
      else if (isBirthEvent(effect.event)) births.push(effect.event)
      else emitted.push(effect.event)
      if (effect.type === 'emit' && effect.event.type === 'ended') ofEnded = emitted.length
      if (effect.type === 'emit' && effect.event.type === 'members' && !effect.event.isHint)
        this.host.storage.noteMembers()
    }
    this.host.onStep(emitted, input.type === 'user' ? input.event : null, ofEnded)
    if (births.length > 0) this.host.onBirth(births)
    this.isStepping = false
    if (effects.at(-1)?.type === 'restart') this.restart()
  }

  private perform(effect: Exclude<LockEffect, { type: 'emit' }>, now: number): void {
    const { storage } = this.host
    switch (effect.type) {
      case 'save':
        if (effect.clear) this.clear(effect.ended === true)
        return storage.save(effect.records, effect.mayWait)
      case 'send':
        return this.host.post(effect.to, effect.message, effect.address)
      case 'set-timer':
        return this.setTimer(effect.timer, now + effect.afterMs)
      case 'cancel-timer':
        return this.cancelTimer(effect.timer)
      case 'ask-ledger':
        return this.host.askLedger(effect.question)
      case 'tell-ledger':
        return this.host.tellLedger(effect.lock, effect.generation, effect.incarnation)
      case 'restart':
        return
    }
  }

  /** The core that was here is gone, with everything that it had. */
  private clear(isEnded: boolean): void {
    if (isEnded) this.host.storage.empty(this.host.keptAtEnd)
    else this.host.storage.clearProtocol()
    this.host.onClear(isEnded)
  }

  /** What is in memory must not be used any more; storage has everything that counts. */
  private restart(): void {
    for (const name of [...this.timers.keys()]) this.cancelTimer(name)
    this.state = machine.recover(this.context, this.host.storage.protocolRecords())
    this.start()
    this.host.onRestart()
  }

  private setTimer(name: string, at: number): void {
    this.cancelTimer(name)
    const onEnd = () => {
      this.timers.delete(name)
      const isHosts = name.startsWith(CORE) && this.host.onTimer(name.slice(CORE.length))
      if (!isHosts) this.step({ type: 'timer', now: this.host.now(), timer: name })
    }
    this.timers.set(name, this.host.timers.set(at, onEnd))
  }

  private cancelTimer(name: string): void {
    const timer = this.timers.get(name)
    if (timer !== undefined) this.host.timers.cancel(timer)
    this.timers.delete(name)
  }
}

const BIRTH_EVENTS: ReadonlySet<string> = new Set<BirthEvent['type']>([
  'ready',
  'elsewhere',
  'configured',
  'configuration-refused',
  'unavailable',
  'ended',
  'told',
])

const isBirthEvent = (event: Emitted | BirthEvent): event is BirthEvent => BIRTH_EVENTS.has(event.type)
