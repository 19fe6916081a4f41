/**
 * Grants that were given after waiting, until it is known that somebody has them. A client may have gone
 * while it waited, and not every platform says so: open workerd does not notice a connection that is closed
 * politely (seen with 1.20261023). Its grant would keep the others waiting for all its time to live. So such
 * a grant ends after a few seconds, unless the router says that its answer was taken (`confirm`), or the
 * grant is used. A client that has named its waiter has promised to use it in time, if only by a keep-alive:
 * its router need not find out whether it is there.
 *
 * Who waited only briefly is answered like one that gets the lock at once: a client that goes in that moment
 * is no likelier than one that goes right after it has the lock, and a lock that goes from hand to hand must
 * not wait for each hand to be felt.
 *
 * A ticket says that its client comes back when it likes, so its grant waits for it; unless the client has
 * named its waiter, because then it asks for the ticket all the time.
 */
import { isNamedByClient } from '../../../shared/api/ids.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { Member, StepReport } from './member.ts'
import type { Storage } from './storage.ts'
import type { Timer, Timers } from './timers.ts'

const UNTAKEN = '.untaken/'

/** Much longer than the router takes to hand a grant over (router/handover.ts). */
export const BRIEF_MS = 500

export interface HandoversHost {
  readonly storage: Storage
  readonly timers: Timers
  now(): number
  readonly member: Member
}

export class Handovers {
  private readonly host: HandoversHost
  /** The users whose router will say whether their answer was taken; and until when they wait but briefly. */
  private readonly expected = new Map<string, number>()
  private readonly untaken = new Map<string, Timer>()

  constructor(host: HandoversHost) {
    this.host = host
  }

  /** At the beginning of an instance: what the one before gave may not be taken yet. */
  begin(): void {
    for (const key of this.host.storage.keysFrom(UNTAKEN)) this.watch(key.slice(UNTAKEN.length))
  }

  /** A call waits for this user, and its router knows how to hand a grant over. */
  expect(user: string): void {
    this.expected.set(user, this.host.now() + BRIEF_MS)
  }

  isUntaken(user: string): boolean {
    return this.untaken.has(user)
  }

  /** Somebody has the grant of this user. */
  taken(user: string): void {
    const timer = this.untaken.get(user)
    if (timer === undefined) return
    this.host.timers.cancel(timer)
    this.forget(user)
  }

  onStep({ emitted, before }: StepReport): void {
    for (const event of emitted) {
      if (event.type === 'rem' || event.type === 'ejected') this.taken(event.user)
      if (event.type === 'withdrawn' || (event.type === 'refused' && event.event === 'try'))
        this.expected.delete(event.user)
      if (event.type !== 'crit') continue
      const { user } = event
      const briefUntil = this.expected.get(user) ?? Number.NEGATIVE_INFINITY
      const isWatched = this.expected.delete(user) || isNamedByClient(user)
      const hasWaited = isNamedByClient(user) || this.host.now() > briefUntil
      if (!isWatched || !hasWaited || !before.waiters.some(waiter => waiter.user === user)) continue
      this.host.storage.put(UNTAKEN + user, true)
      this.watch(user)
    }
  }

  private watch(user: string): void {
    const { timers, now } = this.host
    this.untaken.set(
      user,
      timers.set(now() + API_LIMITS.untakenMs, () => this.end(user)),
    )
  }

  /** Nobody has it: its time to live is over. */
  private end(user: string): void {
    this.forget(user)
    const { member } = this.host
    const holder = member.holderNamed(user)
    if (holder !== undefined) member.engine.user({ type: 'keep-alive', user, fence: holder.fence, ttlMs: 0 })
  }

  private forget(user: string): void {
    this.untaken.delete(user)
    this.host.storage.delete(UNTAKEN + user)
  }
}
