/**
 * The interpreter of the protocol's effects in a Durable Object: step, persist the increment in the same synchronous
 * block, then send. What the block wrote is durable before anything leaves the object (output gates), so memory is only a
 * cache of storage: an eviction at any moment changes nothing.
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type {
  Effect,
  Emitted,
  Envelope,
  Input,
  Protocol,
  UserInput,
} from '../../shared/protocols/protocol.ts'
import { type Context, DEFAULT_LIMITS, DEFAULT_TIMING } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import type { Deadlines } from './deadlines.ts'
import type { Storage } from './storage.ts'

const PROTOCOLS: { readonly [name in LockConfiguration['protocol']]: Protocol<WmeState, WmeMessage> } = {
  'wme-1': wme1,
  'wme-2': wme2,
}

export type Message = Envelope<WmeMessage>

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
  readonly state: WmeState
  private readonly protocol: Protocol<WmeState, WmeMessage>
  private readonly host: EngineHost
  private outbox = new Map<number, Message[]>()

  constructor(host: EngineHost, self: number, configuration: LockConfiguration, resource: Resource) {
    const { detector } = configuration
    this.host = host
    this.protocol = PROTOCOLS[configuration.protocol]
    this.context = {
      config: {
        self,
        participants: configuration.participants.length,
        configuration: configuration.number,
        firstOwner: configuration.firstOwner,
        localHandoffs: configuration.localHandoffs,
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

  /** What the steps since the last call want to be sent, by receiver: one request each. */
  takeOutbox(): Map<number, Message[]> {
    const { outbox } = this
    this.outbox = new Map()
    return outbox
  }

  private step(input: Input<WmeMessage>): void {
    const emitted: Emitted[] = []
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
  private stepOrStop(input: Input<WmeMessage>): Effect<WmeMessage>[] {
    try {
      return this.protocol.step(this.context, this.state, input)
    } catch (error) {
      this.host.onDefect(error)
      throw error
    }
  }

  private perform(effect: Exclude<Effect<WmeMessage>, { type: 'emit' }>, now: number): void {
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
