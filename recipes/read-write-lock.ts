/**
 * A read-write lock with state: many read at a time, or one writes. Whoever only wants the present state
 * needs no lock: `lock.get` is enough. This is for readers that need the state to stay as it is for a while.
 *
 * Who reads is written in the state, and a writer holds the lock itself. So
 * - every operation of a writer is refused once it has lost the lock;
 * - a reader that resolves was not overtaken: at its end it looks whether it is still among the readers. One
 *   that was given up meanwhile rejects, and `signal` told it so before.
 * A reader that shows no sign of life is given up by a writer that waits, after `leaseMs` by the writer's own
 * clock: clocks are not compared, and a clock that runs too fast costs a reader its turn, never the promise.
 */

import { randomId } from '../client/clock.ts'
import { type Clock, type Get, type Held, type KeyValue, type Lock, systemClock } from '../client/index.ts'
import { change, changeIfFree, type Decision } from './change.ts'
import { duration, timeToLive, wholeNumber } from './options.ts'
import { givenUp, notInTime } from './refusals.ts'
import { pauseUntilChanged, repeatedly, Silence } from './waiting.ts'

export interface ReadWriteOptions {
  /** How many may read at a time: 1 to 1,000. Default: 100. */
  readonly readers?: number
  /** After how long without a sign of life others give one up: 1 s to 10 min. Default: 15 s. */
  readonly leaseMs?: number
  readonly clock?: Clock
}

export interface TurnOptions {
  /** How long to wait for a turn. Default: 60 s. It takes a `leaseMs` to give up one that has died. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

export interface Reading {
  /** Aborted when the reader was given up. */
  readonly signal: AbortSignal
  /** Reads a key of the state. */
  readonly get: Get<KeyValue>
}

/** With each, a number that changes as long as it lives. */
type Turns = {
  readonly readers: { readonly [id: string]: number }
  /** Who waits to write, or writes: no reader begins meanwhile. */
  readonly writer: { readonly id: string; readonly beat: number } | null
}

const KEY = 'read-write-lock'
const NOBODY: Turns = { readers: {}, writer: null }

/**
 * @example
 * const rates = new ReadWriteLock(baton.lock('rates'))
 * await rates.read(async ({ get, signal }) => price(await get('eur'), await get('usd'), signal))
 * await rates.write(held => held.apply([{ put: 'eur', value: 1 }, { put: 'usd', value: 1.1 }]))
 */
export class ReadWriteLock {
  readonly #lock: Lock
  readonly #most: number
  readonly #leaseMs: number
  readonly #clock: Clock

  constructor(lock: Lock, { readers = 100, leaseMs = 15_000, clock = systemClock }: ReadWriteOptions = {}) {
    this.#lock = lock
    this.#most = wholeNumber('readers', readers, 1, 1_000)
    this.#leaseMs = timeToLive('leaseMs', leaseMs)
    this.#clock = clock
  }

  /** Rejects with an `ExpiredError` if a writer gave this reader up before it was done. */
  async read<T>(callback: (reading: Reading) => Promise<T> | T, options: TurnOptions = {}): Promise<T> {
    const id = randomId()
    await this.#until(this.#deadline(options), options.signal, turns => {
      if (turns.readers[id] !== undefined) return { isDone: true }
      if (turns.writer !== null || Object.keys(turns.readers).length >= this.#most) return { isDone: false }
      return { isDone: true, turns: withReader(turns, id, 1) }
    })
    const lost = new AbortController()
    const stop = new AbortController()
    const beats = repeatedly(this.#clock, this.#leaseMs / 3, stop.signal, async () => {
      // An answer that got lost is no reason to give up: the next sign of life may get through.
      if (!(await this.#beat(id, stop.signal).catch(() => true))) lost.abort(tooSilent())
    })
    const leave = async (): Promise<boolean> => {
      stop.abort()
      await beats
      return this.#leave(id)
    }
    let value: T
    try {
      value = await callback({ signal: lost.signal, get: this.#lock.get })
    } catch (error) {
      await leave().catch(() => {})
      throw error
    }
    if (!(await leave())) throw tooSilent()
    return value
  }

  /**
   * Runs the callback while nobody reads and nobody else writes. Rejects with the reason if the lock was lost
   * before the callback was done; its operations were refused from then on.
   */
  async write<T>(callback: (held: Held) => Promise<T> | T, options: TurnOptions = {}): Promise<T> {
    const id = randomId()
    const { signal } = options
    const deadline = this.#deadline(options)
    try {
      for (;;) {
        await this.#until(deadline, signal, turns => {
          if (turns.writer !== null && turns.writer.id !== id) return { isDone: false }
          const isDone = Object.keys(turns.readers).length === 0
          if (isDone && turns.writer !== null) return { isDone }
          // From now on no reader begins; those that are there may finish. It is also a sign of life.
          return { isDone, turns: { ...turns, writer: { id, beat: (turns.writer?.beat ?? 0) + 1 } } }
        })
        const waitMs = Math.max(0, deadline - this.#clock.now())
        const held = await this.#lock.acquire({ waitMs, ttlMs: this.#leaseMs, hearLoss: true, signal })
        try {
          const { readers } = ((await held.get<Turns>(KEY)).value as Turns | null) ?? NOBODY
          // Unless somebody took this writer for dead, and a reader has begun.
          if (Object.keys(readers).length === 0) return await this.#writeUnder(held, callback)
        } finally {
          await held[Symbol.asyncDispose]()
        }
      }
    } finally {
      await this.#withdraw(id).catch(() => {})
    }
  }

  async #writeUnder<T>(held: Held, callback: (held: Held) => Promise<T> | T): Promise<T> {
    const value = await callback(held)
    await held.release()
    if (held.lost !== undefined) throw held.lost
    return value
  }

  #deadline({ waitMs = 60_000 }: TurnOptions): number {
    return this.#clock.now() + duration('waitMs', waitMs)
  }

  /** Asks again after each change. Whoever is in the way and shows no sign of life is removed. */
  async #until(
    deadline: number,
    signal: AbortSignal | undefined,
    ask: (turns: Turns) => { readonly isDone: boolean; readonly turns?: Turns },
  ): Promise<void> {
    const silence = new Silence(this.#clock)
    for (;;) {
      signal?.throwIfAborted()
      const changed = await this.#changeIfFree(
        before => {
          const { isDone, turns } = ask(before)
          return { value: turns, result: { isDone, seen: turns ?? before } }
        },
        deadline,
        signal,
      )
      if (changed?.result.isDone) return
      const leftMs = deadline - this.#clock.now()
      if (leftMs <= 0) throw notInTime('others read or write, and the time to wait is over')
      // Somebody has the lock, and most likely writes.
      if (changed === null) continue
      const { result, sequence } = changed
      const silent = silence.longerThan(this.#leaseMs, beatsOf(result.seen))
      if (silent.size > 0) await this.#remove(silent, result.seen, deadline, signal)
      else {
        const ms = Math.min(leftMs, this.#leaseMs / 3)
        await pauseUntilChanged(this.#lock, { since: sequence, ms, signal, clock: this.#clock })
      }
    }
  }

  /**
   * Only those that still have shown no sign of life. A writer at work shows none but that it holds the lock:
   * then nobody can be removed.
   */
  async #remove(
    silent: ReadonlySet<string>,
    seen: Turns,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const old = beatsOf(seen)
    const remove = (turns: Turns): Decision<Turns, void> => {
      const isGone = (id: string, beat: number): boolean => silent.has(id) && old.get(id) === beat
      const readers = Object.entries(turns.readers).filter(([id, beat]) => !isGone(id, beat))
      const { writer } = turns
      const isWriterGone = writer !== null && isGone(writer.id, writer.beat)
      const value = { readers: Object.fromEntries(readers), writer: isWriterGone ? null : writer }
      return { value, result: undefined }
    }
    await this.#changeIfFree(remove, deadline, signal)
  }

  async #beat(id: string, signal: AbortSignal): Promise<boolean> {
    const { result } = await this.#change(turns => {
      const beat = turns.readers[id]
      if (beat === undefined) return { result: false }
      return { value: withReader(turns, id, beat + 1), result: true }
    }, signal)
    return result
  }

  /** `false`: it was no longer there. */
  async #leave(id: string): Promise<boolean> {
    const { result } = await this.#change(turns => {
      const { [id]: beat, ...readers } = turns.readers
      if (beat === undefined) return { result: false }
      return { value: { ...turns, readers }, result: true }
    })
    return result
  }

  async #withdraw(id: string): Promise<void> {
    await this.#change(turns =>
      turns.writer?.id === id
        ? { value: { ...turns, writer: null }, result: undefined }
        : { result: undefined },
    )
  }

  #change<Result>(decide: (turns: Turns) => Decision<Turns, Result>, signal?: AbortSignal) {
    return change<Turns, Result>(this.#lock, KEY, turns => decide(turns ?? NOBODY), { signal })
  }

  /** Not for all of the time that is left: whoever waits has to look again, and to show a sign of life. */
  #changeIfFree<Result>(
    decide: (turns: Turns) => Decision<Turns, Result>,
    deadline: number,
    signal: AbortSignal | undefined,
  ) {
    const waitMs = Math.min(deadline - this.#clock.now(), this.#leaseMs / 3)
    return changeIfFree<Turns, Result>(this.#lock, KEY, turns => decide(turns ?? NOBODY), { waitMs, signal })
  }
}

const withReader = (turns: Turns, id: string, beat: number): Turns => {
  return { ...turns, readers: { ...turns.readers, [id]: beat } }
}

function beatsOf({ readers, writer }: Turns): Map<string, number> {
  const beats = new Map(Object.entries(readers))
  if (writer !== null) beats.set(writer.id, writer.beat)
  return beats
}

const tooSilent = () =>
  givenUp('a writer waited and saw no sign of life of this reader for too long: the state may have changed')
