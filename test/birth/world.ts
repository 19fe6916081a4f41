/**
 * Processes with their ledgers and the participants of some locks, on a simulated network: the interpreter of
 * both machines' effects, where everything that can go wrong between two effects does.
 */

import type { LockConfiguration } from '../../shared/api/configuration.ts'
import { type LedgerState, ledger } from '../../shared/birth/ledger.ts'
import {
  DEFAULT_LEDGER_TIMING,
  type LedgerContext,
  type LedgerEffect,
  type LedgerInput,
  type LedgerMessage,
} from '../../shared/birth/ledger-types.ts'
import { lock as machine } from '../../shared/birth/lock.ts'
import type { LockState } from '../../shared/birth/lock-state.ts'
import {
  DEFAULT_BIRTH_TIMING,
  type LockContext,
  type LockEffect,
  type LockInput,
} from '../../shared/birth/lock-types.ts'
import type { LockEnvelope } from '../../shared/birth/messages.ts'
import { isWeak } from '../../shared/birth/value.ts'
import type { Json } from '../../shared/json.ts'
import { DEFAULT_LIMITS, DEFAULT_TIMING } from '../../shared/protocols/protocol.ts'
import { resourceByName } from '../../shared/resource/registry.ts'
import { EventQueue } from '../simulator/event-queue.ts'
import { frozenCopy } from '../simulator/frozen-copy.ts'
import { Random } from '../simulator/random.ts'
import { Checks } from './checks.ts'
import type { Scenario } from './scenario.ts'
import { Users } from './users.ts'
import { Violation } from './violation.ts'

interface SimEvent {
  readonly at: number
  readonly order: number
  readonly kind: 'run'
  readonly target: number
  readonly source: number
  readonly payload: () => void
}

/**
 * A storage with a machine in memory: a ledger or a participant. `life` identifies what was scheduled for an
 * instance that is gone.
 */
export interface Host<State> {
  readonly process: number
  readonly lock: string | null
  readonly storage: Map<string, Json>
  readonly timers: Map<string, number>
  state: State | null
  life: number
}

export type LockHost = Host<LockState> & { readonly lock: string; context: LockContext }
export type LedgerHost = Host<LedgerState> & { context: LedgerContext }

const MAX_STEPS = 200_000

export class World {
  readonly scenario: Scenario
  readonly random: Random
  readonly checks: Checks
  readonly users: Users
  readonly ledgers: LedgerHost[] = []
  /** By process, then by lock. */
  readonly participants: LockHost[][] = []
  readonly isUp: boolean[] = []
  readonly cuts = new Set<string>()
  now = 0
  steps = 0
  /** Faults happen. */
  isStormy = true
  print: ((line: string) => void) | null = null
  private readonly queue = new EventQueue<SimEvent>()
  private order = 0
  private starts = 0
  private readonly strict: boolean

  constructor(scenario: Scenario) {
    this.scenario = scenario
    this.random = new Random(scenario.seed, 2)
    this.strict = scenario.seed % 16 === 0
    this.checks = new Checks(this)
    this.users = new Users(this)
    for (let process = 0; process <= scenario.processes; process++) {
      this.isUp.push(false)
      this.ledgers.push(this.makeLedger(process))
      this.participants.push(
        process === 0 ? [] : scenario.locks.map(name => this.makeParticipant(process, name)),
      )
    }
  }

  private makeLedger(process: number): LedgerHost {
    const { registrars } = this.scenario
    const context: LedgerContext = {
      self: process,
      registrars,
      isStrict: !isWeak(this.scenario.defaults[Math.max(process, 1) - 1]!),
      limits: { locks: 1_000, entriesPerPage: 1 },
      timing: DEFAULT_LEDGER_TIMING,
    }
    return { process, lock: null, storage: new Map(), timers: new Map(), state: null, life: 0, context }
  }

  private makeParticipant(process: number, lock: string): LockHost {
    const defaults = this.scenario.defaults[process - 1]!
    const context: LockContext = {
      lock,
      self: process,
      registrars: defaults.participants,
      defaults,
      hasLedger: this.scenario.hasLedger,
      resourceNamed: resourceByName,
      timing: DEFAULT_TIMING,
      limits: { ...DEFAULT_LIMITS, logKept: 20, entriesPerMessage: 8 },
      birth: DEFAULT_BIRTH_TIMING,
    }
    return { process, lock, storage: new Map(), timers: new Map(), state: null, life: 0, context }
  }

  // ---------------------------------------------------------------- time

  schedule(afterMs: number, payload: () => void): void {
    this.order++
    this.queue.push({
      at: this.now + Math.max(0, afterMs),
      order: this.order,
      kind: 'run',
      target: 0,
      source: 0,
      payload,
    })
  }

  runUntil(at: number, isDone: () => boolean = () => false): void {
    for (let event = this.queue.peek(); event !== undefined && event.at <= at; event = this.queue.peek()) {
      this.queue.pop()
      this.now = event.at
      event.payload()
      if (isDone()) return
    }
    this.now = Math.max(this.now, at)
  }

  // ---------------------------------------------------------------- processes

  start(process: number): void {
    if (this.isUp[process]) return
    this.isUp[process] = true
    if (this.scenario.hasLedger && process <= this.scenario.registrars)
      this.startLedger(this.ledgers[process]!)
    for (const host of this.participants[process]!) this.startParticipant(host)
  }

  /** The process ends; what it has stored stays. */
  stop(process: number): void {
    this.isUp[process] = false
    for (const host of [this.ledgers[process]!, ...this.participants[process]!]) this.end(host)
  }

  /** The process goes on with another version of the deployment. */
  deploy(process: number, defaults: LockConfiguration): void {
    const isUp = this.isUp[process]!
    if (isUp) this.stop(process)
    const ledger = this.ledgers[process]!
    ledger.context = { ...ledger.context, isStrict: !isWeak(defaults) }
    for (const host of this.participants[process]!) host.context = { ...host.context, defaults }
    this.checks.counts.deploys++
    if (isUp) this.start(process)
  }

  private end(host: Host<unknown>): void {
    const wasUp = host.state !== null
    host.state = null
    host.life++
    host.timers.clear()
    if (wasUp && host.lock !== null) this.users.crashed(host as LockHost)
  }

  crash(host: LockHost): void {
    this.end(host)
    this.schedule(this.random.between(1, 40), () => this.startParticipant(host))
  }

  wipe(host: Host<unknown>): void {
    const wasUp = host.state !== null
    if (host.lock !== null) this.checks.wiped(host as LockHost)
    this.end(host)
    host.storage.clear()
    if (wasUp && host.lock !== null) this.startParticipant(host as LockHost)
  }

  wipeProcess(process: number): void {
    this.say(`process ${process} is wiped`)
    this.stop(process)
    for (const host of [this.ledgers[process]!, ...this.participants[process]!]) this.wipe(host)
    this.schedule(this.random.between(1, 300), () => this.start(process))
  }

  wipeLedger(process: number): void {
    this.say(`the ledger of process ${process} is wiped`)
    this.wipe(this.ledgers[process]!)
    if (this.isUp[process]) this.startLedger(this.ledgers[process]!)
  }

  private random64(): string {
    this.starts++
    return `r${this.starts}`
  }

  private startLedger(host: LedgerHost): void {
    host.state = ledger.recover(host.context, host.storage)
    this.stepLedger(host, { type: 'start', random: this.random64() })
  }

  startParticipant(host: LockHost): void {
    if (!this.isUp[host.process] || host.state !== null) return
    host.state = machine.recover(host.context, host.storage)
    const random = this.random64()
    this.step(host, { type: 'start', now: this.now, incarnation: this.starts, random })
  }

  // ---------------------------------------------------------------- participants

  step(host: LockHost, input: LockInput): void {
    if (host.state === null) return
    this.countStep()
    let { generation } = host.state.birth
    const effects = machine.step(host.context, host.state, input)
    if (this.print !== null) this.describe(host, input, effects)
    const isCrashing = this.isStormy && effects.length > 0 && this.random.chance(this.scenario.crash)
    const performed = isCrashing ? this.random.below(effects.length) : effects.length
    const { life } = host
    const [first] = effects
    if (first?.type === 'save' && first.clear && effects.at(-1)!.type === 'restart') this.users.wiped(host)
    effects.forEach((effect, index) => {
      if (effect.type === 'save' && index > 0)
        throw new Violation('effects', 'a save is not the first effect')
      if (effect.type === 'restart' && index < effects.length - 1)
        throw new Violation('effects', 'a restart is not the last effect')
      if (effect.type === 'restart') this.users.flush(host)
      // What follows is of the next lock of the name, which the same message may have begun.
      if (effect.type === 'emit' && effect.event.type === 'ended') generation = effect.event.generation
      if (host.life === life) this.perform(host, effect, index > performed, generation)
    })
    if (host.life === life && host.state!.birth.generation !== generation)
      throw new Violation('effects', 'a generation began in a step that has ended none')
    this.users.flush(host)
    this.checks.stepped(host)
    if (isCrashing && host.life === life) this.crash(host)
  }

  private perform(host: LockHost, effect: LockEffect, isLost: boolean, generation: number): void {
    switch (effect.type) {
      case 'save':
        if (effect.clear) host.storage.clear()
        return this.save(host, effect.records)
      case 'emit':
        return this.users.emitted(host, effect.event, isLost, generation)
    }
    if (isLost) return
    switch (effect.type) {
      case 'send':
        return this.sendToParticipant(host, effect.to, effect.message)
      case 'set-timer':
        return this.setTimer(host, effect.timer, effect.afterMs, timer =>
          this.step(host, { type: 'timer', now: this.now, timer }),
        )
      case 'cancel-timer':
        host.timers.delete(effect.timer)
        return
      case 'ask-ledger':
        return this.callLedger(host, { type: 'ask', question: effect.question })
      case 'tell-ledger':
        return this.callLedger(host, { ...effect, type: 'finished' })
      case 'restart':
        this.end(host)
        return this.schedule(0, () => this.startParticipant(host))
    }
  }

  private save(
    host: Host<unknown>,
    records: readonly { readonly key: string; readonly value: Json | null }[],
  ): void {
    for (const { key, value } of records) {
      if (value === null) host.storage.delete(key)
      else host.storage.set(key, this.strict ? (frozenCopy(value) as Json) : value)
    }
  }

  private setTimer(host: Host<unknown>, timer: string, afterMs: number, ring: (timer: string) => void): void {
    this.order++
    const token = this.order
    const { life } = host
    host.timers.set(timer, token)
    this.schedule(afterMs, () => {
      if (host.life !== life || host.timers.get(timer) !== token) return
      host.timers.delete(timer)
      ring(timer)
    })
  }

  private sendToParticipant(host: LockHost, to: number, message: LockEnvelope): void {
    const target = this.participants[to]?.find(({ lock }) => lock === host.lock)
    if (target === undefined)
      throw new Violation('addresses', `a message to participant ${to}, which does not exist`)
    const sent = this.strict ? (frozenCopy(message) as LockEnvelope) : message
    this.transmit(host.process, to, isDelivered => {
      if (isDelivered)
        this.step(target, { type: 'message', now: this.now, from: host.process, message: sent })
      else this.step(host, { type: 'unreachable', now: this.now, peer: to })
    })
  }

  /**
   * Messages are lost, late, doubled and reordered, and sometimes the sender learns that one did not arrive.
   */
  private transmit(from: number, to: number, deliver: (isDelivered: boolean) => void): void {
    const { random, scenario } = this
    const copies = this.isStormy && random.chance(scenario.duplication) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const isLost = this.isStormy && random.chance(scenario.loss)
      const isLate = this.isStormy && random.chance(scenario.late)
      const afterMs = isLate ? random.between(20, 3_000) : random.between(1, 20)
      this.schedule(afterMs, () => {
        if (isLost || this.cuts.has(`${from}-${to}`)) return
        if (this.isUp[to]) deliver(true)
        else if (random.chance(0.5) && this.isUp[from]) deliver(false)
      })
    }
  }

  // ---------------------------------------------------------------- ledgers

  /** The call within a process may be lost with one of its ends, and so may the answer. */
  private callLedger(host: LockHost, input: LedgerInput): void {
    const target = this.ledgers[host.process]!
    const isLost = this.isStormy && this.random.chance(this.scenario.crash)
    this.schedule(this.random.between(0, 2), () => {
      if (!isLost) this.stepLedger(target, input)
    })
  }

  private stepLedger(host: LedgerHost, input: LedgerInput): void {
    if (host.state === null) return
    this.countStep()
    const effects = ledger.step(host.context, host.state, input)
    if (this.print !== null) this.describe(host, input, effects)
    const isCrashing = this.isStormy && effects.length > 0 && this.random.chance(this.scenario.crash)
    const performed = isCrashing ? this.random.below(effects.length) : effects.length
    effects.forEach((effect, index) => {
      if (effect.type === 'save' && index > 0)
        throw new Violation('effects', 'a save is not the first effect')
      if (effect.type === 'save') this.save(host, effect.records)
      else if (index <= performed) this.performForLedger(host, effect)
    })
    if (!isCrashing) return
    this.end(host)
    this.schedule(this.random.between(1, 40), () => {
      if (this.isUp[host.process] && host.state === null) this.startLedger(host)
    })
  }

  private performForLedger(host: LedgerHost, effect: Exclude<LedgerEffect, { type: 'save' }>): void {
    const participantOf = (name: string) =>
      this.participants[host.process]!.find(({ lock }) => lock === name)!
    switch (effect.type) {
      case 'send':
        return this.sendToLedger(host, effect.to, effect.message)
      case 'set-timer':
        return this.setTimer(host, effect.timer, effect.afterMs, timer =>
          this.stepLedger(host, { type: 'timer', timer: timer as 'repeat' | 'finish' }),
        )
      case 'answer': {
        const target = participantOf(effect.lock)
        const { life } = target
        return this.schedule(this.random.between(0, 2), () => {
          if (target.life === life)
            this.step(target, { type: 'ledger', now: this.now, answer: effect.answer })
        })
      }
      case 'finish': {
        const { incarnation, generation } = effect
        const input = { type: 'finish', now: this.now, incarnation, generation } as const
        return this.step(participantOf(effect.lock), input)
      }
    }
  }

  private sendToLedger(host: LedgerHost, to: number, message: LedgerMessage): void {
    this.transmit(host.process, to, isDelivered => {
      if (isDelivered) this.stepLedger(this.ledgers[to]!, { type: 'message', from: host.process, message })
    })
  }

  // ---------------------------------------------------------------- telling

  private countStep(): void {
    if (++this.steps > MAX_STEPS) throw new Violation('endless', `the run takes over ${MAX_STEPS} steps`)
  }

  say(line: string): void {
    this.print?.(`${String(Math.round(this.now)).padStart(6)}  ${line}`)
  }

  private describe(host: Host<unknown>, input: object, effects: readonly object[]): void {
    this.say(`${host.lock ?? 'ledger'}/${host.process}  ${JSON.stringify(input)}`)
    for (const effect of effects) this.say(`          ${JSON.stringify(effect)}`)
  }
}
