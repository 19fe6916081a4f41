/**
 * A durable work queue: what was added is delivered to a worker, oldest first, until a worker says that it is
 * done. An item whose worker died is delivered again, to another one: at least once.
 *
 * Each delivery has a fence, higher than those of all deliveries before it. So an effect outside can be made
 * once: it is stored under the item's id, and a fence lower than the one that is there is refused. Effects on
 * the state of the queue's own lock are made once by the queue: give their ops to `done`.
 *
 * Its time, for leases alone, is that of the participant that grants the lock. If these clocks differ, an
 * item is delivered again earlier or later by as much. Clocks of clients do not count.
 */
import { randomId } from '../client/clock.ts'
import {
  BatonError,
  type Clock,
  GrantOverError,
  type Held,
  type Json,
  type Lock,
  systemClock,
} from '../client/index.ts'
import { change } from './change.ts'
import { Delivery, GONE, type Item, itemKey, keyOfId, PREFIX } from './delivery.ts'
import { duration, ownerName, text, timeToLive, wholeNumber } from './options.ts'
import { full, notApplied } from './refusals.ts'
import { withTime } from './service-time.ts'
import { pauseUntilChanged, repeatedly } from './waiting.ts'

export interface WorkQueueOptions {
  /** How many items there are at most, dead ones included: 1 to 10,000. Default: 1,000. */
  readonly capacity?: number
  /**
   * After how long without a word from its worker an item is delivered again: 1 s to 10 min. Default: 30 s.
   */
  readonly leaseMs?: number
  /** After so many deliveries that came to nothing, an item is put aside as dead: 1 to 1,000. Default: 5. */
  readonly deliveries?: number
  /** What this worker calls itself. */
  readonly owner?: string
  readonly clock?: Clock
}

export interface AddOptions {
  /**
   * Names the item, up to 100 characters: while it is in the queue, the same id again adds nothing. Default:
   * random.
   */
  readonly id?: string
  readonly signal?: AbortSignal
}

export interface TakeItemOptions {
  /** How long to wait while there is nothing to do. Default: not at all. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

export interface DeadItem<Value> {
  readonly id: string
  readonly value: Value
  readonly deliveries: number
}

/** The number of the item that was added last. Items that are gone are counted apart. */
type Tail = { readonly last: number }

const TAIL = `${PREFIX}tail`
const DEAD = `${PREFIX}dead/`
const PAGE = 100
/** How long a `take` waits for the lock at least, also one that does not wait for items. */
const LOCK_WAIT_MS = 10_000
/** After an error that may go away. */
const LOOK_AGAIN_MS = 1_000

/**
 * @example
 * const queue = new WorkQueue<{ mail: string }>(baton.lock('mails'))
 * await queue.add({ mail: 'ann@example.com' }, { id: 'welcome/ann' })
 * await queue.work(async delivery => send(delivery.value, delivery.fence), { signal })
 */
export class WorkQueue<Value extends Json = Json> {
  readonly #lock: Lock
  readonly #capacity: number
  readonly #leaseMs: number
  readonly #deliveries: number
  readonly #owner: string | undefined
  readonly #clock: Clock

  constructor(lock: Lock, options: WorkQueueOptions = {}) {
    const { capacity = 1_000, leaseMs = 30_000, deliveries = 5, owner, clock = systemClock } = options
    this.#lock = lock
    this.#capacity = wholeNumber('capacity', capacity, 1, 10_000)
    this.#leaseMs = timeToLive('leaseMs', leaseMs)
    this.#deliveries = wholeNumber('deliveries', deliveries, 1, 1_000)
    this.#owner = owner === undefined ? undefined : ownerName('owner', owner)
    this.#clock = clock
  }

  /** Rejects with a `TooManyError` if the queue is full. `isNew: false`: an item with this id is there. */
  async add(
    value: Value,
    options: AddOptions = {},
  ): Promise<{ readonly id: string; readonly isNew: boolean }> {
    const { id = randomId(), signal } = options
    const key = keyOfId(text('id', id, 100))
    const isThere = async () => (await this.#lock.get(key, { signal })).revision !== 0
    if (await isThere()) return { id, isNew: false }
    const { value: gone } = await this.#lock.get<number>(GONE, { signal })
    const decide = (tail: Tail | null) => {
      const number = (tail?.last ?? 0) + 1
      if (number - (gone ?? 0) > this.#capacity) throw full(`the queue has ${this.#capacity} items`)
      const item: Item = { id, value, until: 0, deliveries: 0, fence: 0 }
      const also = [
        { put: key, value: number, ifRevision: 0 },
        { put: itemKey(number), value: item },
      ]
      return { value: { last: number }, also, result: undefined }
    }
    try {
      await change<Tail, undefined>(this.#lock, TAIL, decide, { owner: this.#owner, signal })
      return { id, isNew: true }
    } catch (error) {
      // Somebody else added it at the same moment.
      if (error instanceof BatonError && error.code === 'revision_mismatch') return { id, isNew: false }
      throw error
    }
  }

  /** The oldest item that nobody works on, or `null` if there is none in time. */
  async take({ waitMs = 0, signal }: TakeItemOptions = {}): Promise<Delivery<Value> | null> {
    const deadline = this.#clock.now() + duration('waitMs', waitMs)
    for (;;) {
      signal?.throwIfAborted()
      const lockMs = Math.max(LOCK_WAIT_MS, deadline - this.#clock.now())
      const options = { owner: this.#owner, signal, waitMs: lockMs }
      const found = await withTime(this.#lock, options, (held, now) => this.#claim(held, now))
      if (found instanceof Delivery) return found
      const leftMs = deadline - this.#clock.now()
      if (leftMs <= 0) return null
      const ms = Math.min(leftMs, found.nextMs)
      await pauseUntilChanged(this.#lock, { since: found.sequence, ms, signal, clock: this.#clock })
    }
  }

  /**
   * Takes one item after the other until the signal is aborted. An item is done when the handler resolves,
   * and is delivered again when it rejects, after `retryMs` (default: 1 s). Its lease is extended meanwhile;
   * `delivery.signal` is aborted if the item is lost to another worker.
   */
  async work(
    handler: (delivery: Delivery<Value>) => Promise<unknown> | unknown,
    options: { readonly signal: AbortSignal; readonly retryMs?: number },
  ): Promise<void> {
    const { signal, retryMs = 1_000 } = options
    wholeNumber('retryMs', retryMs, 0, 24 * 3_600_000)
    while (!signal.aborted) {
      const delivery = await this.take({ waitMs: Number.POSITIVE_INFINITY, signal }).catch(async error => {
        if (signal.aborted) return null
        // A claim whose grant was lost may have been made: then it is delivered again when its lease ends.
        const mayGoAway = error instanceof BatonError && (error.retryable || error instanceof GrantOverError)
        if (!mayGoAway) throw error
        await this.#clock.sleep(LOOK_AGAIN_MS, { signal })
        return null
      })
      if (delivery !== null) await this.#handle(delivery, handler, retryMs)
    }
  }

  /** Those that were delivered too often. They count towards the capacity until they are removed. */
  async *dead(): AsyncGenerator<DeadItem<Value>, void, undefined> {
    for await (const { value } of this.#lock.entries<Item>({ prefix: DEAD })) {
      const { id, value: content, deliveries } = value
      yield { id, value: content as Value, deliveries }
    }
  }

  /** Forgets a dead item. Returns `false` if there is none of this id. */
  async removeDead(id: string): Promise<boolean> {
    const key = keyOfId(text('id', id, 100))
    const { value: number, revision } = await this.#lock.get<number>(key)
    if (number === null) return false
    const dead = await this.#lock.get(deadKey(number))
    if (dead.revision === 0) return false
    const { applied } = await this.#lock.transact([
      { delete: key, ifRevision: revision },
      { delete: deadKey(number), ifRevision: dead.revision },
      { increment: GONE },
    ])
    return applied
  }

  async #handle(
    delivery: Delivery<Value>,
    handler: (delivery: Delivery<Value>) => Promise<unknown> | unknown,
    retryMs: number,
  ): Promise<void> {
    const stop = new AbortController()
    const extending = repeatedly(this.#clock, this.#leaseMs / 3, stop.signal, async () => {
      await delivery.extend().catch(() => {})
    })
    const finish = await Promise.resolve(delivery)
      .then(handler)
      .then(
        () => () => delivery.done(),
        () => () => delivery.giveBack(retryMs),
      )
    stop.abort()
    await extending
    // If no answer comes, the lease ends, and the item is delivered again.
    await finish().catch(() => false)
  }

  /** Looks from the oldest item on. Items that others work on are passed over. */
  async #claim(
    held: Held,
    now: number,
  ): Promise<Delivery<Value> | { readonly sequence: number; readonly nextMs: number }> {
    const at = held.grant.participant
    let nextMs = Number.POSITIVE_INFINITY
    let cursor: string | undefined
    for (;;) {
      const more = cursor === undefined ? {} : { cursor }
      const page = await this.#lock.list<Item>({ prefix: `${PREFIX}item/`, limit: PAGE, at, ...more })
      for (const { key, value: item, revision } of page.entries) {
        if (item.until > now) nextMs = Math.min(nextMs, item.until - now)
        else if (item.deliveries >= this.#deliveries) await putAside(held, key, item)
        else return this.#deliver(held, now, key, item, revision)
      }
      if (page.cursor === null) return { sequence: page.sequence, nextMs }
      cursor = page.cursor
    }
  }

  async #deliver(
    held: Held,
    now: number,
    key: string,
    item: Item,
    ifRevision: number,
  ): Promise<Delivery<Value>> {
    const leaseMs = this.#leaseMs
    const { fence } = held
    const claimed: Item = { ...item, until: now + leaseMs, deliveries: item.deliveries + 1, fence }
    const { applied, sequence, results } = await held.apply([{ put: key, value: claimed, ifRevision }])
    if (!applied) throw notApplied(results)
    return new Delivery<Value>(this.#lock, { key, item: claimed, revision: sequence, leaseMs })
  }
}

const deadKey = (number: number): string => `${DEAD}${String(number).padStart(16, '0')}`

async function putAside(held: Held, key: string, item: Item): Promise<void> {
  const number = Number(key.slice(-16))
  await held.apply([{ delete: key }, { put: deadKey(number), value: item }])
}
