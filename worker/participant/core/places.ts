/**
 * Places for waiting, shared fairly between keys: a key may have as many as are free. So one key alone gets
 * half of them, k keys that all want more get a share of `places / (k + 1)` each, and there is always room
 * for one more key (the dynamic thresholds of shared buffers: Choudhury and Hahne, 1998). A key that has more
 * than its share, because others came later, keeps what it has and gets no more.
 *
 * This is kept in memory. A new instance finds the clients of users that still wait through their tickets and
 * sockets; a user that had neither no longer waits.
 */
import type { Emitted } from '../../../shared/protocols/protocol.ts'

/**
 * Whether a client that has `own` places may have one more. A client without a key has no share to keep to.
 */
export function mayHaveMore(own: number, taken: number, places: number): boolean {
  return own < places - taken
}

export class Places {
  private readonly places: number
  /** The users that wait for a client with a key. */
  private readonly clients = new Map<string, string>()

  constructor(places: number) {
    this.places = places
  }

  /** Whether this user may wait as well. If so, it is counted until it no longer waits. */
  take(waiters: readonly { readonly user: string }[], user: string, client: string | undefined): boolean {
    if (client === undefined || waiters.some(waiter => waiter.user === user)) return true
    let own = 0
    for (const waiter of waiters) if (this.clients.get(waiter.user) === client) own++
    if (!mayHaveMore(own, waiters.length, this.places)) return false
    if (this.clients.size >= 2 * this.places) this.forgetOthers(waiters)
    this.clients.set(user, client)
    return true
  }

  /** A user that was neither let in nor sent away (its grant was just ending) no longer waits. */
  private forgetOthers(waiters: readonly { readonly user: string }[]): void {
    const waiting = new Set(waiters.map(({ user }) => user))
    for (const user of this.clients.keys()) if (!waiting.has(user)) this.clients.delete(user)
  }

  /** At the beginning of an instance: this user waits already. */
  restore(user: string, client: string): void {
    this.clients.set(user, client)
  }

  clientOf(user: string): string | undefined {
    return this.clients.get(user)
  }

  onStep(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      const isOver =
        event.type === 'crit' ||
        event.type === 'withdrawn' ||
        (event.type === 'refused' && event.event === 'try')
      if (isOver) this.clients.delete(event.user)
    }
  }
}
