/**
 * The ledger of a process, wherever it runs (runtime.ts): the interpreter of the effects of the machine
 * "ledger" (shared/birth/ledger.ts), in turns like a participant.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { type LedgerState, ledger as machine } from '../../../shared/birth/ledger.ts'
import {
  DEFAULT_LEDGER_LIMITS,
  DEFAULT_LEDGER_TIMING,
  type LedgerAnswer,
  type LedgerContext,
  type LedgerEffect,
  type LedgerInput,
  type LedgerMessage,
} from '../../../shared/birth/ledger-types.ts'
import { isWeak } from '../../../shared/birth/value.ts'
import type { Storage } from '../core/storage.ts'
import { type Timer, Timers } from '../core/timers.ts'
import { Turns } from '../core/turns.ts'
import type { Address } from '../lock/lock.ts'
import { Exchange, PEER_TIME_LIMIT_MS } from '../peers/exchange.ts'
import type { PeerAnswer, PeerRequest } from '../peers/requests.ts'
import type { Runtime } from '../runtime.ts'
import { LEDGER_NAME } from './name.ts'

const IDENTITY = '.identity'

/** Whether the storage is a ledger's: an object finds out before it is told which object it is. */
export function isLedger(storage: Storage): boolean {
  const identity = storage.get(IDENTITY) as unknown as Address | undefined
  return identity?.lock === LEDGER_NAME
}

export class LedgerKeeper {
  private readonly runtime: Runtime
  private readonly defaults: (address: Address) => LockConfiguration
  private readonly storage: Storage
  private readonly turns: Turns
  private readonly timers: Timers
  private readonly exchange: Exchange<LedgerMessage>
  private readonly set = new Map<string, Timer>()
  private address: Address | null = null
  private context: LedgerContext | null = null
  private state: LedgerState | null = null
  private answer: LedgerAnswer | null = null

  constructor(runtime: Runtime, storage: Storage, defaults: (address: Address) => LockConfiguration) {
    this.runtime = runtime
    this.storage = storage
    this.defaults = defaults
    this.turns = new Turns(runtime, storage)
    this.timers = new Timers(runtime, () => this.turns.attempt(() => this.timers.fire()))
    this.exchange = new Exchange<LedgerMessage>({
      runtime,
      turns: this.turns,
      lockName: LEDGER_NAME,
      placeOf: peer => this.placeOf(peer),
      request: messages => ({ type: 'ledger', from: this.address!.id, messages }),
      messagesOf: answer => (answer.type === 'ledger' ? answer.messages : null),
      receive: (from, message) => this.step({ type: 'message', from, message }),
      unreachable: () => {},
    })
    this.turns.finish = () => {
      this.exchange.send()
      this.timers.arm()
    }
    this.turns.begin(() => {
      const address = this.storage.get(IDENTITY) as unknown as Address | undefined
      if (address !== undefined) this.begin(address)
    })
  }

  async peer(address: Address, request: PeerRequest): Promise<PeerAnswer> {
    this.turns.run(() => this.meet(address))
    switch (request.type) {
      case 'ledger':
        return { type: 'ledger', messages: this.exchange.receive(request.from, request.messages) }
      case 'ask-ledger':
        return { type: 'ledger-answer', answer: this.turns.run(() => this.ask(request.question)) }
      case 'look-ledger':
        return { type: 'ledger-sight', sight: this.turns.run(() => machine.look(this.state!, request.look)) }
      case 'tell-ledger': {
        const { lock, generation, incarnation } = request
        this.turns.run(() => this.step({ type: 'finished', lock, generation, incarnation }))
        return { type: 'taken' }
      }
      case 'ledger-health':
        return { type: 'ledger-health', health: this.turns.run(() => machine.health(this.state!)) }
      default:
        throw new Error('a ledger is no participant of a lock')
    }
  }

  alarm(): void {
    this.turns.run(() => this.timers.onAlarm())
  }

  // ---------------------------------------------------------------- who am I

  private meet(address: Address): void {
    if (this.address !== null) return
    this.storage.put(IDENTITY, { ...address })
    this.begin(address)
  }

  private begin(address: Address): void {
    const defaults = this.defaults(address)
    this.address = address
    this.context = {
      self: address.id,
      registrars: defaults.participants.length,
      isStrict: !isWeak(defaults),
      limits: DEFAULT_LEDGER_LIMITS,
      timing: DEFAULT_LEDGER_TIMING,
    }
    this.state = machine.recover(this.context, this.storage.protocolRecords())
    this.step({ type: 'start', random: this.runtime.randomId() })
  }

  private placeOf(peer: number) {
    return this.defaults(this.address!).participants.find(({ id }) => id === peer)!
  }

  // ---------------------------------------------------------------- steps

  private ask(question: Extract<LedgerInput, { type: 'ask' }>['question']): LedgerAnswer {
    this.answer = null
    this.step({ type: 'ask', question })
    return this.answer!
  }

  private step(input: LedgerInput): void {
    this.turns.assertRunning()
    for (const effect of machine.step(this.context!, this.state!, input)) this.perform(effect)
  }

  private perform(effect: LedgerEffect): void {
    switch (effect.type) {
      case 'save':
        return this.storage.save(effect.records)
      case 'send':
        return this.exchange.post(effect.to, effect.message)
      case 'set-timer':
        return this.setTimer(effect.timer, effect.afterMs)
      case 'answer':
        this.answer = effect.answer
        return
      case 'finish':
        return this.finish(effect)
    }
  }

  private setTimer(timer: 'repeat' | 'finish', afterMs: number): void {
    const before = this.set.get(timer)
    if (before !== undefined) this.timers.cancel(before)
    const at = this.runtime.now() + afterMs
    this.set.set(
      timer,
      this.timers.set(at, () => this.step({ type: 'timer', timer })),
    )
  }

  /** Tells the participant of this lock in this process; it is told again later if it does not hear. */
  private finish({ lock, incarnation, generation }: Extract<LedgerEffect, { type: 'finish' }>): void {
    const here = { id: this.address!.id, location: null, url: null }
    const { peers } = this.runtime
    const request = { type: 'finish', incarnation, generation } as const
    const asked = () => peers.ask(lock, here, request, PEER_TIME_LIMIT_MS)
    this.turns.afterwards(() =>
      this.runtime.background(
        asked().then(
          () => undefined,
          () => undefined,
        ),
      ),
    )
  }
}
