/**
 * The interpreter of the protocol's effects. What a step saves is committed at the end of its turn, before
 * what it sends may leave; so memory is only a cache of storage, and an eviction at any moment changes
 * nothing.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import {
  type AnyProtocol,
  type OpaqueMessage,
  type OpaqueState,
  protocolNamed,
} from '../../../shared/protocols/all.ts'
import {
  type Context,
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type GuardedState,
  type Input,
  type Limits,
  type UserInput,
  type View,
} from '../../../shared/protocols/protocol.ts'
import type { Resource } from '../../../shared/resource/resource.ts'
import type { Message } from '../peers/requests.ts'
import type { Storage } from './storage.ts'
import type { Timer, Timers } from './timers.ts'
import type { Turns } from './turns.ts'

export interface EngineHost {
  readonly turns: Turns
  readonly storage: Storage
  readonly timers: Timers
  readonly limits: Limits
  now(): number
  post(to: number, message: Message): void
  /**
   * Every event of a step; `cause` is the user event that caused the step, if one did. It must not begin
   * another step.
   */
  onStep(emitted: readonly Emitted[], cause: UserInput | null): void
  /** Whether the host deals with the end of this timer itself. */
  onTimer(timer: string): boolean
}

export class Engine {
  readonly context: Context
  private readonly state: OpaqueState
  private readonly protocol: AnyProtocol
  private readonly host: EngineHost
  private readonly timers = new Map<string, Timer>()
  private knownView: View | null = null
  private isStepping = false

  constructor(host: EngineHost, self: number, configuration: LockConfiguration, resource: Resource) {
    const { detector } = configuration
    this.host = host
    this.protocol = protocolNamed(configuration.protocol)
    this.context = {
      config: {
        self,
        participants: configuration.participants.length,
        configuration: configuration.number,
        firstOwner: configuration.firstOwner,
        localHandoffs: configuration.localHandoffs,
        ...(configuration.options && { options: configuration.options }),
        timing: { ...DEFAULT_TIMING, heartbeatMs: detector.heartbeatMs, timeoutMs: detector.timeoutMs },
        limits: host.limits,
      },
      resource,
    }
    this.state = this.protocol.recover(this.context, host.storage.protocolRecords())
  }

  start(genesis: boolean): void {
    const now = this.host.now()
    this.step({ type: 'start', now, genesis, incarnation: now })
  }

  user(event: UserInput): void {
    this.step({ type: 'user', now: this.host.now(), event })
  }

  message(from: number, message: Message): void {
    this.step({ type: 'message', now: this.host.now(), from, message })
  }

  unreachable(peer: number): void {
    this.step({ type: 'unreachable', now: this.host.now(), peer })
  }

  /** Good until the next step. */
  get view(): View {
    this.knownView ??= this.protocol.view(this.context, this.state)
    return this.knownView
  }

  /** Good until the next step; `null` for a lock that guards no state. */
  get guarded(): GuardedState | null {
    return this.protocol.guarded(this.state)
  }

  private step(input: Input<OpaqueMessage>): void {
    this.host.turns.assertRunning()
    if (this.isStepping) throw new Error('a step cannot begin in another one')
    this.isStepping = true
    this.knownView = null
    const emitted: Emitted[] = []
    const effects = this.protocol.step(this.context, this.state, input)
    for (const effect of effects) {
      if (effect.type === 'save' && effect !== effects[0])
        throw new Error('a save must be the first effect of its step')
      if (effect.type === 'emit') emitted.push(effect.event)
      else this.perform(effect, input.now)
    }
    this.host.onStep(emitted, input.type === 'user' ? input.event : null)
    this.isStepping = false
  }

  private perform(effect: Exclude<Effect<OpaqueMessage>, { type: 'emit' }>, now: number): void {
    switch (effect.type) {
      case 'save':
        return this.host.storage.save(effect.records)
      case 'send':
        return this.host.post(effect.to, effect.message)
      case 'set-timer':
        return this.setTimer(effect.timer, now + effect.afterMs)
      case 'cancel-timer':
        return this.cancelTimer(effect.timer)
    }
  }

  private setTimer(name: string, at: number): void {
    this.cancelTimer(name)
    const onEnd = () => {
      this.timers.delete(name)
      if (!this.host.onTimer(name)) this.step({ type: 'timer', now: this.host.now(), timer: name })
    }
    this.timers.set(name, this.host.timers.set(at, onEnd))
  }

  private cancelTimer(name: string): void {
    const timer = this.timers.get(name)
    if (timer !== undefined) this.host.timers.cancel(timer)
    this.timers.delete(name)
  }
}
