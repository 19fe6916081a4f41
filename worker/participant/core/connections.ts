/**
 * Users that live no longer than their connection: a session, a `transact`, an `acquire` that waits without a
 * ticket. While the instance lives, it hears when a connection ends. An instance that begins anew (after a
 * crash, a deploy) has no connection but the hibernating sockets: all other clients that were connected are
 * gone, and must keep nobody waiting until their time is over.
 */
import type { Emitted, View } from '../../../shared/protocols/protocol.ts'
import type { Storage } from './storage.ts'

const BOUND = '~'
const TICKET = '.ticket/'

/** The name of a session's or a `transact`'s user, which is part of no id that a client has. */
export const boundToConnection = (user: string): string => BOUND + user

export const isBoundToConnection = (user: string): boolean => user.startsWith(BOUND)

export class Connections {
  private readonly storage: Storage
  /**
   * The waiting users that have a ticket, and therefore need no connection; with their client, if it has a
   * key.
   */
  private readonly tickets: Map<string, string | null>

  constructor(storage: Storage) {
    this.storage = storage
    this.tickets = new Map(
      storage.keysFrom(TICKET).map(key => {
        const client = storage.get(key)
        return [key.slice(TICKET.length), typeof client === 'string' ? client : null]
      }),
    )
  }

  hasTicket(user: string): boolean {
    return this.tickets.has(user)
  }

  /** `false`: it has one already. */
  giveTicket(user: string, client: string | null): boolean {
    if (this.tickets.has(user)) return false
    this.tickets.set(user, client)
    this.storage.put(TICKET + user, client ?? true)
    return true
  }

  /** The users with tickets whose clients have keys. */
  *clients(): Iterable<readonly [user: string, client: string]> {
    for (const [user, client] of this.tickets) if (client !== null) yield [user, client]
  }

  /** A user that no longer waits has no ticket. */
  onStep(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      const isRefused = event.type === 'refused' && event.event === 'try'
      if (event.type !== 'crit' && event.type !== 'withdrawn' && !isRefused) continue
      if (this.tickets.delete(event.user)) this.storage.delete(TICKET + event.user)
    }
  }

  /** At the beginning of an instance: the users that the instance before left behind. */
  lostUsers({ waiters, holders }: View, hasSocket: (user: string) => boolean): string[] {
    const isBound = (user: string) => user.startsWith(BOUND) && !hasSocket(user)
    const waiting = waiters.map(({ user }) => user)
    const lost = waiting.filter(user => (user.startsWith(BOUND) ? isBound(user) : !this.tickets.has(user)))
    const inside = holders.map(({ user }) => user).filter(user => isBound(user) && !lost.includes(user))
    return [...lost, ...inside]
  }
}
