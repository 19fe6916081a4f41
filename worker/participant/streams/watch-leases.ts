/**
 * Other participants that are watched, and want to hear of the holders here. Only where the token is can
 * somebody come in without a word to anybody; so whoever is watched asks there, and is told of each change
 * for a while, unless it asks again. If holders follow one another quickly, it is told of the latest.
 *
 * All of this is in memory and costs nothing unless somebody asked: no timer ends a lease that has lapsed, it
 * is forgotten when the next change would be told.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Turns } from '../core/turns.ts'
import { PEER_TIME_LIMIT_MS } from '../peers/exchange.ts'
import type { Sighting } from '../peers/requests.ts'
import type { Runtime } from '../runtime.ts'

/** Whoever is watched asks again well before (holder-news.ts). */
export const LEASE_MS = 150_000

export interface WatchLeasesHost {
  readonly runtime: Runtime
  readonly turns: Turns
  /** The name of the lock, and which participant this is. */
  readonly address: { readonly lock: string; readonly id: number }
  /** Which of the locks that had this name it is. */
  readonly generation: number
  sighting(): Sighting
  /** `null` if it is not known. */
  placeOf(peer: number): ParticipantPlace | null
}

interface Lease {
  readonly peer: number
  until: number
  /** What it was told last. */
  told: string
  /** A request to it is under way. */
  isTelling: boolean
}

export class WatchLeases {
  private readonly host: WatchLeasesHost
  private readonly leases = new Map<number, Lease>()

  constructor(host: WatchLeasesHost) {
    this.host = host
  }

  get size(): number {
    return this.leases.size
  }

  /** Called in a turn, whose answer tells the peer what is seen here now. */
  take(peer: number, sighting: Sighting): void {
    const until = this.host.runtime.now() + LEASE_MS
    const told = summary(sighting)
    const known = this.leases.get(peer)
    if (known !== undefined) {
      known.until = until
      known.told = told
      return
    }
    this.forgetLapsed()
    if (this.leases.size >= API_LIMITS.participants.most) return
    this.leases.set(peer, { peer, until, told, isTelling: false })
  }

  /** The lock that they asked about is gone. */
  endAll(): void {
    this.leases.clear()
  }

  /** After each step. */
  onStep(): void {
    if (this.leases.size === 0) return
    this.forgetLapsed()
    for (const lease of this.leases.values()) this.tell(lease)
  }

  private forgetLapsed(): void {
    const now = this.host.runtime.now()
    for (const { peer, until } of [...this.leases.values()]) if (until <= now) this.leases.delete(peer)
  }

  /** In a turn. */
  private tell(lease: Lease): void {
    const { host } = this
    if (lease.isTelling || lease.told === summary(host.sighting())) return
    lease.isTelling = true
    host.turns.afterwards(() => host.runtime.background(this.send(lease)))
  }

  private async send(lease: Lease): Promise<void> {
    const { runtime, turns, address, generation, placeOf } = this.host
    const sighting = this.host.sighting()
    lease.told = summary(sighting)
    const place = placeOf(lease.peer)
    const request = { type: 'holder-news', from: address.id, generation, ...sighting } as const
    const ask = () => runtime.peers.ask(address.lock, place!, request, PEER_TIME_LIMIT_MS).catch(() => null)
    const answer = place === null ? null : await ask()
    turns.run(() => {
      lease.isTelling = false
      if (this.leases.get(lease.peer) !== lease) return
      // If it is still watched, and only could not be reached, it asks again.
      if (answer?.type !== 'heard' || !answer.isWatched) this.leases.delete(lease.peer)
      else this.tell(lease)
    })
  }
}

/** What it comes down to: the rest of a holder's status does not change, or is not told again. */
const summary = ({ holder, over }: Sighting): string =>
  holder === null ? `over ${over}` : `in ${holder.fence}`
