/**
 * The interpreter of the protocol's effects in a Durable Object: step, persist the increment in the same synchronous
 * block, then send. What the block wrote is durable before anything leaves the object (output gates), so memory is only a
 * cache of storage: an eviction at any moment changes nothing.
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import {
  type AnyEnvelope,
  type AnyProtocol,
  type OpaqueMessage,
  type OpaqueState,
  protocolNamed,
} from '../../shared/protocols/all.ts'
import type {
  Effect,
  Emitted,
  GuardedState,
  Input,
  UserInput,
  View,
} from '../../shared/protocols/protocol.ts'
import { type Context, DEFAULT_LIMITS, DEFAULT_TIMING } from '../../shared/protocols/protocol.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import type { Deadlines } from './deadlines.ts'
import type { Storage } from './storage.ts'

export type Message = AnyEnvelope

export interface EngineHost {
  readonly storage: Storage
  readonly deadlines: Deadlines
  /** Every event of a step, after it was persisted; `before` is the user event that caused the step, if one did. */
  onStep(emitted: readonly Emitted[], cause: UserInput | null): void
  /** The core has found itself in a state that cannot be. */
  onDefect(error: unknown): void
}

/** Names of protocol timers among the deadlines. */
const TIMER = 'timer/'

export class Engine {
  readonly context: Context
  private readonly state: OpaqueState
  private readonly protocol: AnyProtocol
  private readonly host: EngineHost
  private outbox = new Map<number, Message[]>()

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
        limits: DEFAULT_LIMITS,
      },
      resource,
    }
    this.state = this.protocol.recover(this.context, protocolRecords(host.storage))
  }

  start(genesis: boolean): void {
    const now = Date.now()
    this.step({ type: 'start', now, genesis, incarnation: now })
  }

  user(event: UserInput): void {
    this.step({ type: 'user', now: Date.now(), event })
  }

  message(from: number, message: Message): void {
    this.step({ type: 'message', now: Date.now(), from, message })
  }

  unreachable(peer: number): void {
    this.step({ type: 'unreachable', now: Date.now(), peer })
  }

  /** Whether the deadline was one of the protocol's timers. */
  timer(deadline: string): boolean {
    if (!deadline.startsWith(TIMER)) return false
    this.step({ type: 'timer', now: Date.now(), timer: deadline.slice(TIMER.length) })
    return true
  }

  private knownView: View | null = null

  /** Good until the next step. */
  get view(): View {
    this.knownView ??= this.protocol.view(this.context, this.state)
    return this.knownView
  }

  /** Good until the next step; `null` for a lock that guards no state. */
  get guarded(): GuardedState | null {
    return this.protocol.guarded(this.state)
  }

  /** What the steps since the last call want to be sent, by receiver: one request each. */
  takeOutbox(): Map<number, Message[]> {
    const { outbox } = this
    this.outbox = new Map()
    return outbox
  }

  private step(input: Input<OpaqueMessage>): void {
    const emitted: Emitted[] = []
    this.knownView = null
    const effects = this.stepOrStop(input)
    for (const effect of effects) {
      if (effect.type === 'save' && effect !== effects[0])
        throw new Error('a save must be the first effect of its step')
      if (effect.type === 'emit') emitted.push(effect.event)
      else this.perform(effect, input.now)
    }
    this.host.onStep(emitted, input.type === 'user' ? input.event : null)
  }

  /** A defect may have changed the state half-way: this instance must not go on with it. Storage is as it was before. */
  private stepOrStop(input: Input<OpaqueMessage>): Effect<OpaqueMessage>[] {
    try {
      return this.protocol.step(this.context, this.state, input)
    } catch (error) {
      this.host.onDefect(error)
      throw error
    }
  }

  private perform(effect: Exclude<Effect<OpaqueMessage>, { type: 'emit' }>, now: number): void {
    const { storage, deadlines } = this.host
    switch (effect.type) {
      case 'save':
        return storage.save(effect.records)
      case 'send':
        return this.post(effect.to, effect.message)
      case 'set-timer':
        return deadlines.set(TIMER + effect.timer, now + effect.afterMs)
      case 'cancel-timer':
        return deadlines.cancel(TIMER + effect.timer)
    }
  }

  private post(to: number, message: Message): void {
    const messages = this.outbox.get(to)
    if (messages === undefined) this.outbox.set(to, [message])
    else messages.push(message)
  }
}

/** The service keeps records of its own beside the protocol's; their keys begin with a dot. */
function* protocolRecords(storage: Storage) {
  for (const record of storage.records()) if (!record[0].startsWith('.')) yield record
}
