/**
 * What the clients of this participant call themselves (`owner`), and since when their users wait or hold.
 * The log knows nothing of it: whoever needs it asks the participant where the user is. So it costs neither a
 * message nor a row: what must outlive the instance is written with the grant itself, or with the ticket.
 *
 * A `transact`, and a user that waits without a ticket, end with the instance; nothing is written for them.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Emitted, View } from '../../../shared/protocols/protocol.ts'
import type { Storage } from './storage.ts'

export interface Stay {
  readonly owner?: string
  /** When it began to wait; once it is inside, when it came in. */
  readonly since: number
  readonly isInside?: true
}

export interface OwnersHost {
  readonly storage: Storage
  now(): number
  /** The users of this participant. */
  view(): Pick<View, 'holders' | 'waiters'>
  /** Whether the user is alone with its connection, which ends with the instance. */
  isFleeting(user: string): boolean
}

const USER = '.user/'

export class Owners {
  private readonly host: OwnersHost
  private readonly stays: Map<string, Stay>

  constructor(host: OwnersHost) {
    this.host = host
    const { storage } = host
    this.stays = new Map(
      storage.keysFrom(USER).map(key => [key.slice(USER.length), storage.get(key) as unknown as Stay]),
    )
  }

  /** Before the user tries. What it said when it came counts: those that follow ask again. */
  note(user: string, owner: string | undefined): void {
    if (this.stays.has(user)) return
    if (this.stays.size >= 2 * API_LIMITS.waiters) this.forgetOthers()
    this.stays.set(user, { since: this.host.now(), ...(owner !== undefined && { owner }) })
  }

  of(user: string): Stay | undefined {
    return this.stays.get(user)
  }

  /** The user waits on when its call is answered. */
  keep(user: string): void {
    const stay = this.stays.get(user)
    if (stay !== undefined) this.host.storage.put(USER + user, { ...stay })
  }

  onStep(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      if (event.type === 'crit') this.enter(event.user)
      const isOver =
        event.type === 'rem' ||
        event.type === 'ejected' ||
        event.type === 'withdrawn' ||
        (event.type === 'refused' && event.event === 'try')
      if (isOver && !this.isHere(event.user)) this.forget(event.user)
    }
  }

  /** A `crit` that is only said again changes nothing. */
  private enter(user: string): void {
    const { owner, isInside } = this.stays.get(user) ?? {}
    if (isInside) return
    const since = this.host.now()
    this.stays.set(user, { since, isInside: true, ...(owner !== undefined && { owner }) })
    if (!this.host.isFleeting(user)) this.keep(user)
  }

  private isHere(user: string): boolean {
    const { holders, waiters } = this.host.view()
    return [...holders, ...waiters].some(one => one.user === user)
  }

  private forget(user: string): void {
    this.stays.delete(user)
    if (this.host.storage.get(USER + user) !== undefined) this.host.storage.delete(USER + user)
  }

  /** One that was neither let in nor sent away left no other trace. */
  private forgetOthers(): void {
    for (const user of [...this.stays.keys()]) if (!this.isHere(user)) this.forget(user)
  }
}
