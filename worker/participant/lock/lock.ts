/**
 * Which lock this is a participant of, which of its participants it is, and who waits for it to be born. How
 * it is born is in shared/birth/: the engine runs that, and reports here what came of it.
 */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { type BirthEvent, DEFAULT_BIRTH_TIMING, type LockContext } from '../../../shared/birth/lock-types.ts'
import { DEFAULT_LIMITS, DEFAULT_TIMING, type Limits } from '../../../shared/protocols/protocol.ts'
import type { Resource } from '../../../shared/resource/resource.ts'
import type { Engine } from '../core/engine.ts'
import type { Storage } from '../core/storage.ts'
import type { Turns } from '../core/turns.ts'
import type { Intent } from './intent.ts'

/** Every request says which participant it is for. */
export interface Address {
  readonly lock: string
  readonly id: number
  /** Of a participant that came after the birth of its lock: where it is (shared/api/member-address.ts). */
  readonly address?: string
}

export interface LockHost {
  readonly turns: Turns
  readonly storage: Storage
  readonly engine: Engine
  /** From now on this participant knows which one it is. Called in a turn, and once. */
  begin(address: Address): void
}

/** What comes of waiting for a lock to be born. */
export type Birth =
  | Extract<BirthEvent, { type: 'ready' | 'elsewhere' | 'configured' | 'configuration-refused' | 'ended' }>
  | Extract<BirthEvent, { type: 'unavailable' }>

interface User {
  readonly intent: Intent
  readonly resolve: (birth: Birth) => void
}

interface Configurer {
  readonly configuration: LockConfiguration
  readonly resolve: (birth: Birth) => void
}

const IDENTITY = '.identity'

export class Lock {
  private readonly host: LockHost
  private knownAddress: Address | undefined
  private users: User[] = []
  private readonly configurers = new Map<string, Configurer>()
  private tellers: (() => void)[] = []
  private requests = 0

  constructor(host: LockHost) {
    this.host = host
    this.knownAddress = host.storage.get(IDENTITY) as unknown as Address | undefined
  }

  get isKnown(): boolean {
    return this.knownAddress !== undefined
  }

  get address(): Address {
    if (this.knownAddress === undefined) throw new Error('nobody has said yet which participant this is')
    return this.knownAddress
  }

  /** Called in a turn. */
  meet(address: Address): void {
    if (this.knownAddress !== undefined) return
    this.knownAddress = address
    this.host.storage.put(IDENTITY, { ...address })
    this.host.begin(address)
  }

  /**
   * Resolves once this participant takes part in its lock, or cannot. A caller that only looks begins
   * nothing.
   */
  ready(address: Address, intent: Intent): Promise<Birth> {
    return new Promise(resolve => {
      this.host.turns.run(() => {
        this.meet(address)
        this.users.push({ resolve, intent })
        this.host.engine.use(intent)
      })
    })
  }

  configure(address: Address, configuration: LockConfiguration): Promise<Birth> {
    return new Promise(resolve => {
      this.host.turns.run(() => {
        this.meet(address)
        const request = `configure/${++this.requests}`
        this.configurers.set(request, { configuration, resolve })
        this.host.engine.configure(request, configuration)
      })
    })
  }

  /** Called in a turn; callers that wait go on after it. */
  onBirth(events: readonly BirthEvent[]): void {
    for (const event of events) {
      // What they wanted to look at is gone: is there another one?
      if (event.type === 'ended') this.tellUsers(event, ({ intent }) => intent === 'look')
      else if (event.type === 'told') this.onTold()
      else if (event.type === 'configured' || event.type === 'configuration-refused') {
        this.tell(this.configurers.get(event.request)?.resolve, event)
        this.configurers.delete(event.request)
      } else {
        const isTentative = event.type === 'ready' && event.isTentative === true
        this.tellUsers(event, ({ intent }) => !isTentative || intent === 'try')
        if (event.type !== 'unavailable') continue
        for (const { resolve } of this.configurers.values()) this.tell(resolve, event)
        this.configurers.clear()
      }
    }
  }

  /** Calls back, after a turn, once all others know that the lock was deleted. Called in a turn. */
  onceTold(resolve: () => void): void {
    this.tellers.push(resolve)
  }

  /** Whoever called `onceTold` with this waits no longer. */
  waitNoLonger(resolve: () => void): void {
    this.tellers = this.tellers.filter(other => other !== resolve)
  }

  private onTold(): void {
    const { tellers } = this
    this.tellers = []
    for (const resolve of tellers) this.host.turns.afterwards(resolve)
  }

  /** Called in a turn: what the engine had in memory is gone. */
  repeat(): void {
    const isLook = this.users.every(({ intent }) => intent === 'look')
    if (this.users.length > 0) this.host.engine.use(isLook ? 'look' : 'use')
    for (const [request, { configuration }] of [...this.configurers])
      this.host.engine.configure(request, configuration)
  }

  private tellUsers(birth: Birth, isMeant: (user: User) => boolean): void {
    const told = this.users.filter(isMeant)
    this.users = this.users.filter(user => !isMeant(user))
    for (const { resolve } of told) this.tell(resolve, birth)
  }

  private tell(waiting: ((birth: Birth) => void) | undefined, birth: Birth): void {
    if (waiting !== undefined) this.host.turns.afterwards(() => waiting(birth))
  }
}

/** What a participant keeps of a lock that was deleted, besides the tombstone. */
export const KEPT_AT_END: readonly string[] = [IDENTITY]

/** Whether the storage is a participant's: an empty one begins with its first request. */
export const isParticipant = (storage: Storage): boolean => storage.get(IDENTITY) !== undefined

/** Processes can lose their storage one by one exactly if some of them are behind a URL. */
export const hasLedger = (registrars: readonly ParticipantPlace[]): boolean =>
  registrars.some(({ url }) => url !== null)

export function contextOf(
  address: Address,
  defaults: LockConfiguration,
  resourceNamed: (name: string) => Resource | undefined,
  limits: Limits = DEFAULT_LIMITS,
): LockContext {
  return {
    lock: address.lock,
    self: address.id,
    ...(address.address !== undefined && { address: address.address }),
    registrars: defaults.participants,
    defaults,
    // One that came later has no vote in any birth: whether it is new or was lost, it is taken in.
    hasLedger: address.address === undefined && hasLedger(defaults.participants),
    resourceNamed,
    timing: DEFAULT_TIMING,
    limits,
    birth: DEFAULT_BIRTH_TIMING,
  }
}
