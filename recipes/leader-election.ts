/**
 * Leader election: one of many processes leads, the others stand by, and anybody can see who it is. The
 * leader is whoever holds the lock; it loses the office if it dies, stalls for too long or is ejected.
 *
 * The lock is the election's own: while there is a leader, nobody else can change its state.
 */
import {
  type BatonError,
  GrantOverError,
  type Held,
  type Json,
  type Lock,
  NotFoundError,
  type WatchEvent,
} from '../client/index.ts'
import { read } from './change.ts'
import { duration, ownerName, timeToLive } from './options.ts'
import { notApplied } from './refusals.ts'

export interface ElectionOptions {
  /** What this candidate calls itself, up to 128 characters. */
  readonly name: string
  /** How long a leader that stands still stays in office: 1 s to 10 min. Default: 15 s. */
  readonly ttlMs?: number
}

export interface CampaignOptions {
  /** What others should know of the leader, such as its address. */
  readonly value?: Json
  /** Default: forever. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

export interface Leader {
  readonly name: string
  /** The fence of its grant: it grows from leader to leader. */
  readonly term: number
  readonly value: Json
}

const KEY = 'leader'

/**
 * @example
 * const election = new LeaderElection(baton.lock('scheduler'), { name: 'eu-1' })
 * await using leadership = await election.campaign()
 * while (!leadership.signal.aborted) await schedule({ term: leadership.term })
 */
export class LeaderElection {
  readonly #lock: Lock
  readonly #name: string
  readonly #ttlMs: number

  constructor(lock: Lock, { name, ttlMs = 15_000 }: ElectionOptions) {
    this.#lock = lock
    this.#name = ownerName('name', name)
    this.#ttlMs = timeToLive('ttlMs', ttlMs)
  }

  /** Resolves once this candidate leads. Rejects with a `LockedError` if it does not in time. */
  async campaign(options: CampaignOptions = {}): Promise<Leadership> {
    const { value = null, waitMs = Number.POSITIVE_INFINITY, signal } = options
    const wanted = { waitMs: duration('waitMs', waitMs), ttlMs: this.#ttlMs, owner: this.#name, signal }
    for (;;) {
      // A majority knows of the leader before it begins, and the leader hears at once when it is none.
      const held = await this.#lock.acquire({ ...wanted, confirm: true, hearLoss: true })
      const leadership = new Leadership(held, this.#name)
      try {
        await leadership.publish(value)
        return leadership
      } catch (error) {
        await held[Symbol.asyncDispose]()
        // It was thrown out before it began; so it stands again.
        if (!(error instanceof GrantOverError)) throw error
      }
    }
  }

  /** Who leads now, or `null`. By the time that you know, it may be somebody else. */
  async leader({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Leader | null> {
    return leaderIn(await this.#look(signal))
  }

  /**
   * Who leads now, and then each change, until the signal is aborted. `null`: nobody, as far as is known. A
   * leader that has died is seen as the leader until its time to live is over.
   */
  async *observe({
    signal,
  }: {
    readonly signal?: AbortSignal
  } = {}): AsyncGenerator<Leader | null, void, undefined> {
    let told: string | undefined
    while (!signal?.aborted) {
      let view = await this.#look(signal)
      const events = this.#lock.watch({ since: view.sequence, signal })
      try {
        for (let isOver = false; !isOver; ) {
          const leader = leaderIn(view)
          const text = JSON.stringify(leader)
          if (text !== told) yield leader
          told = text
          const next = await events.next()
          isOver = next.done === true
          if (!next.done) view = await this.#after(view, next.value, signal)
        }
        return
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error
        // Nobody has ever stood for election.
        await pause(signal)
      } finally {
        await events.return()
      }
    }
  }

  async #look(signal: AbortSignal | undefined): Promise<View> {
    // With its sequence also if nobody leads: what was before is not told again.
    const { value: record, sequence } = await read<LeaderRecord>(this.#lock, KEY, signal)
    return { record, sequence, fence: await this.#fence(signal) }
  }

  async #fence(signal: AbortSignal | undefined): Promise<number | null> {
    try {
      return (await this.#lock.status({ signal })).holder?.fence ?? null
    } catch (error) {
      if (error instanceof NotFoundError) return null
      throw error
    }
  }

  async #after(view: View, event: WatchEvent, signal: AbortSignal | undefined): Promise<View> {
    const { sequence } = event
    if (event.type === 'holder')
      return { ...view, sequence, fence: event.participant === null ? null : event.fence }
    // What was missed may contain a change of the holder.
    if (event.type === 'snapshot') return this.#look(signal)
    const change = event.changes.find(({ key }) => key === KEY)
    if (change === undefined) return { ...view, sequence }
    const record = 'deleted' in change ? null : (change.value as LeaderRecord)
    return { record, sequence, fence: event.fence }
  }
}

type LeaderRecord = { readonly name: string; readonly term: number; readonly value: Json }

interface View {
  readonly record: LeaderRecord | null
  readonly sequence: number
  /** Of whoever holds the lock. */
  readonly fence: number | null
}

/** The record of a leader that is gone stays until the next one writes its own. */
const leaderIn = ({ record, fence }: View): Leader | null =>
  record !== null && record.term === fence ? record : null

const LOOK_AGAIN_MS = 1_000

function pause(signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, LOOK_AGAIN_MS)
    signal?.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true })
  })
}

/** An office, as long as `signal` is not aborted. */
export class Leadership implements AsyncDisposable {
  /** Give it with every effect outside of the lock, and refuse a term lower than the highest one seen. */
  readonly term: number
  /** Aborted when this process no longer leads. Its `reason` says why. */
  readonly signal: AbortSignal
  /** For operations on the state of the lock, which are refused once the office is lost. */
  readonly held: Held
  readonly #name: string

  constructor(held: Held, name: string) {
    this.held = held
    this.term = held.fence
    this.signal = held.signal
    this.#name = name
  }

  /** Why this process no longer leads, unless it resigned. */
  get lost(): BatonError | undefined {
    return this.held.lost
  }

  /** Tells observers something else. Rejects with a `TooLargeError` if that is too large to be told. */
  async publish(value: Json): Promise<void> {
    const record = { name: this.#name, term: this.term, value }
    const { applied, results } = await this.held.apply([{ put: KEY, value: record }])
    if (!applied) throw notApplied(results)
  }

  /** The next candidate may begin. Resigning from an office that is lost is no error. */
  async resign(): Promise<void> {
    if (!this.signal.aborted) await this.held.apply([{ delete: KEY }]).catch(() => {})
    await this.held.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign().catch(() => {})
  }
}
