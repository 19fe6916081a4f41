/**
 * Which lock this is a participant of, which one of them, and what the lock is made of. All that has to do
 * with the birth of a lock is in this folder: the rest of the participant knows a configuration, or waits for
 * `ready`.
 */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { accept, NEW_REGISTRAR, prepare, type RegistrarRecord } from '../../../shared/birth.ts'
import type { Json } from '../../../shared/json.ts'
import type { View } from '../../../shared/protocols/protocol.ts'
import type { Storage } from '../core/storage.ts'
import type { Timers } from '../core/timers.ts'
import type { Turns } from '../core/turns.ts'
import { PEER_TIME_LIMIT_MS } from '../peers/exchange.ts'
import type { BirthAnswer, BirthRequest, PeerAnswer } from '../peers/requests.ts'
import type { Runtime } from '../runtime.ts'
import { agreeOnConfiguration, type BirthHost, isBirth } from './birth.ts'

/** Every request says whom it is for. */
export interface Address {
  readonly lock: string
  readonly id: number
}

export interface LockHost {
  readonly runtime: Runtime
  readonly turns: Turns
  readonly storage: Storage
  readonly timers: Timers
  /** What a lock is made of that nobody configured, as this participant would have it. */
  defaults(address: Address): LockConfiguration
  /** `null`: this participant takes no part yet. */
  membership(): View['membership'] | null
  /** This participant takes part from now on. In a turn, and once. */
  takePart(genesis: boolean): void
}

/** A late copy of the message that founds a lock must not revive a participant that was wiped meanwhile. */
const MAX_AGE_OF_FOUNDING_MS = 30_000

const IDENTITY = '.identity'
const CONFIGURATION = '.configuration'
const REGISTRAR = '.registrar'

export class Lock {
  private readonly host: LockHost
  private birth: Promise<boolean> | null = null
  private knownAddress: Address | undefined
  private knownConfiguration: LockConfiguration | undefined

  constructor(host: LockHost) {
    const { storage } = host
    this.host = host
    this.knownAddress = storage.get(IDENTITY) as unknown as Address | undefined
    this.knownConfiguration = storage.get(CONFIGURATION) as unknown as LockConfiguration | undefined
  }

  get address(): Address {
    if (this.knownAddress === undefined) throw new Error('nobody has said yet which participant this is')
    return this.knownAddress
  }

  get configuration(): LockConfiguration | undefined {
    return this.knownConfiguration
  }

  /** In a turn. */
  meet(address: Address): void {
    if (this.knownAddress !== undefined) return
    this.knownAddress = address
    this.host.storage.put(IDENTITY, { ...address })
  }

  private adopt(configuration: LockConfiguration): void {
    if (this.knownConfiguration !== undefined) return
    this.knownConfiguration = configuration
    this.host.storage.put(CONFIGURATION, configuration as unknown as Json)
  }

  /**
   * Resolves once this participant takes part in its lock (or is known not to). `true`: the lock was born by
   * this call.
   */
  async ready(address: Address, wanted: LockConfiguration): Promise<boolean> {
    if (this.host.membership() !== null) return false
    if (this.birth !== null) return this.birth.then(() => false)
    this.birth = this.beBorn(address, wanted)
    try {
      return await this.birth
    } finally {
      this.birth = null
    }
  }

  /** The others take part already, so this one is late or was wiped: whether it may ask to be taken back. */
  get mayRejoin(): boolean {
    return this.knownConfiguration !== undefined && this.birth === null
  }

  /** What another participant asks of this one. In a turn. */
  answer(request: BirthRequest): BirthAnswer {
    switch (request.type) {
      case 'introduce':
        this.adopt(request.configuration)
        return this.status()
      case 'found': {
        this.adopt(request.configuration)
        const isFresh = Math.abs(this.host.runtime.now() - request.bornAt) < MAX_AGE_OF_FOUNDING_MS
        if (this.host.membership() === null && isFresh) this.host.takePart(true)
        return this.status()
      }
      case 'prepare': {
        const { record, answer } = prepare(this.registrar, request.ballot)
        this.host.storage.put(REGISTRAR, record as unknown as Json)
        return { type: 'registrar', answer }
      }
      case 'accept': {
        const { record, answer } = accept(this.registrar, request.ballot, request.configuration)
        this.host.storage.put(REGISTRAR, record as unknown as Json)
        return { type: 'registrar', answer }
      }
    }
  }

  /** How far this participant is. One that has left the group still has its storage, and its place. */
  status(): BirthAnswer {
    const membership = this.host.membership() ?? 'blank'
    return { type: 'status', status: membership === 'left' ? 'member' : membership }
  }

  /** Tells a participant that knows nothing of the lock what it is part of. */
  async introduce(place: ParticipantPlace): Promise<void> {
    const configuration = this.knownConfiguration!
    await this.ask(place, { type: 'introduce', configuration }).catch(() => null)
  }

  private get registrar(): RegistrarRecord<LockConfiguration> {
    const record = this.host.storage.get(REGISTRAR) as unknown as
      | RegistrarRecord<LockConfiguration>
      | undefined
    return record ?? NEW_REGISTRAR
  }

  private async beBorn(address: Address, wanted: LockConfiguration): Promise<boolean> {
    const { turns, host } = { turns: this.host.turns, host: this.host }
    turns.run(() => this.meet(address))
    const birthHost: BirthHost = {
      self: address.id,
      backOff: attempt => this.wait(host.runtime.random() * Math.min(20 * 2 ** attempt, 500)),
      known: () => this.knownConfiguration,
      registrars: host.defaults(address).participants,
      ask: (place, request) => this.ask(place, request),
    }
    const configuration = await agreeOnConfiguration(birthHost, wanted)
    turns.run(() => this.adopt(configuration))
    if (!configuration.participants.some(place => place.id === address.id)) return false
    const genesis = await isBirth(birthHost, configuration, host.runtime.now())
    turns.run(() => {
      if (host.membership() === null) host.takePart(genesis)
    })
    return genesis
  }

  private async ask(place: ParticipantPlace, request: BirthRequest): Promise<PeerAnswer> {
    const { turns, runtime } = this.host
    const { lock, id } = this.address
    if (place.id === id) return turns.run(() => this.answer(request))
    return runtime.peers.ask(lock, place, request, PEER_TIME_LIMIT_MS)
  }

  private wait(ms: number): Promise<void> {
    const { turns, timers, runtime } = this.host
    return new Promise(resolve => {
      turns.run(() => timers.set(runtime.now() + ms, () => turns.afterwards(resolve)))
    })
  }
}
