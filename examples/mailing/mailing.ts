/**
 * Mails that are accepted everywhere and sent once: a rate limiter in front, a durable queue in the middle,
 * and at its end a round once a minute, in one place at a time. Nothing in here knows where it runs.
 */
import type { Baton } from '@baton-lock/baton/client'
import { oncePerSlot, RateLimiter, type SlotOutcome, WorkQueue } from '@baton-lock/baton/recipes'

export type Mail = { readonly to: string }

export type Accepted =
  | { readonly accepted: true; readonly isNew: boolean }
  | { readonly accepted: false; readonly retryAfterMs: number }

/** What happens outside of the locks. The fence lets whoever sends refuse a round that comes late. */
export type Send = (mail: Mail, fence: number, signal: AbortSignal) => Promise<void>

export interface MailingOptions {
  /** So many mails are accepted in a minute. Default: 60. */
  readonly rate?: number
  /** After so long another round takes over what this one has begun. Default: 10 s. */
  readonly leaseMs?: number
}

export class Mailing {
  readonly #baton: Baton
  readonly #limiter: RateLimiter
  readonly #queue: WorkQueue<Mail>
  readonly #leaseMs: number

  constructor(baton: Baton, { rate = 60, leaseMs = 10_000 }: MailingOptions = {}) {
    this.#baton = baton
    this.#leaseMs = leaseMs
    this.#limiter = new RateLimiter(baton.lock('mail-rate'), { rate, intervalMs: 60_000 })
    this.#queue = new WorkQueue(baton.lock('mails'), { leaseMs, deliveries: 3 })
  }

  /** The same id again, while the mail is waiting, is the same mail. */
  async accept(mail: Mail, id: string): Promise<Accepted> {
    const { allowed, retryAfterMs } = await this.#limiter.take()
    if (!allowed) return { accepted: false, retryAfterMs }
    const { isNew } = await this.#queue.add(mail, { id })
    return { accepted: true, isNew }
  }

  /** Many places are told to begin at the same time; one does. Its value is how many mails it sent. */
  round(slot: number, send: Send): Promise<SlotOutcome<number>> {
    const options = { waitMs: 1_000, ttlMs: this.#leaseMs }
    return oncePerSlot(
      this.#baton.lock('mail-round'),
      slot,
      ({ signal }) => this.#sendAll(send, signal),
      options,
    )
  }

  /** How many were sent, by the queue's own count: a mail and its count are done together. */
  async sent(): Promise<number> {
    return (await this.#baton.lock('mails').get<number>('sent')).value ?? 0
  }

  async #sendAll(send: Send, signal: AbortSignal): Promise<number> {
    let sent = 0
    while (!signal.aborted) {
      const delivery = await this.#queue.take({ signal })
      if (delivery === null) break
      try {
        await send(delivery.value, delivery.fence, signal)
        if (await delivery.done([{ increment: 'sent' }])) sent++
      } catch (error) {
        console.error(`${delivery.value.to} could not be sent: ${(error as Error).message}`)
        await delivery.giveBack()
      }
    }
    return sent
  }
}
