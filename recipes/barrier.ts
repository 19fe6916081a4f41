/**
 * A barrier: so many parties wait for each other, and go on together, round after round.
 *
 * A party that dies after it has arrived has arrived. A party that dies before keeps the others waiting, for
 * as long as they want: whoever stops waiting has not arrived. No clock is compared.
 */
import { type Clock, type Lock, systemClock } from '../client/index.ts'
import { changeIfFree, type Decision } from './change.ts'
import { duration, text, wholeNumber } from './options.ts'
import { notInTime, notTold } from './refusals.ts'
import { LONGEST_PAUSE_MS, pauseUntilChanged } from './waiting.ts'

export interface BarrierOptions {
  /** How many must arrive: 1 to 1,000. */
  readonly parties: number
  /** Where the lock keeps who has arrived. Default: `barrier`. */
  readonly key?: string
  readonly clock?: Clock
}

export interface ArriveOptions {
  /**
   * The round to arrive in, from 1. Default: the present one. After a lost answer, give the round: one that
   * is over is passed at once, and the party does not arrive in the next one by mistake.
   */
  readonly round?: number
  /** How long to wait for the others. Default: 10 s. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

type BarrierState = { readonly round: number; readonly arrived: readonly string[] }

/**
 * @example
 * const barrier = new Barrier(baton.lock('migration'), { parties: 3 })
 * const round = await barrier.arrive('eu')
 */
export class Barrier {
  readonly #lock: Lock
  readonly #parties: number
  readonly #key: string
  readonly #clock: Clock

  constructor(lock: Lock, { parties, key = 'barrier', clock = systemClock }: BarrierOptions) {
    this.#lock = lock
    this.#parties = wholeNumber('parties', parties, 1, 1_000)
    this.#key = text('key', key, 512)
    this.#clock = clock
  }

  /** The round that is not complete yet, and who has arrived in it. */
  async look(): Promise<BarrierState> {
    return (await this.#lock.get<BarrierState>(this.#key)).value ?? FIRST
  }

  /**
   * Resolves with the round once all parties have arrived in it. Rejects with a `LockedError` if they do not
   * in time: then this party has not arrived either. If others hold the lock, so that it cannot leave, that
   * is a `TimeoutError` whose outcome is `unknown`. To arrive twice in a round is to arrive once.
   */
  async arrive(party: string, options: ArriveOptions = {}): Promise<number> {
    text('party', party, 100)
    const { waitMs = 10_000, signal } = options
    const until = this.#clock.now() + duration('waitMs', waitMs)
    let round = options.round === undefined ? undefined : wholeNumber('round', options.round, 1, MOST)
    for (;;) {
      const arrive = (state: BarrierState): Decision<BarrierState, boolean> => {
        round ??= state.round
        if (state.round > round) return { result: true }
        if (state.round < round)
          throw new RangeError(`round ${round} has not begun: this is round ${state.round}`)
        if (state.arrived.includes(party)) return { result: false }
        const arrived = [...state.arrived, party]
        return arrived.length >= this.#parties
          ? { value: { round: round + 1, arrived: [] }, result: true }
          : { value: { round, arrived }, result: false }
      }
      // In between, whoever waits looks whether it is to give up.
      const lockMs = Math.min(until - this.#clock.now(), LONGEST_PAUSE_MS)
      const changed = await this.#changeIfFree(lockMs, arrive)
      if (changed?.result) return round!
      const leftMs = until - this.#clock.now()
      if (leftMs <= 0 || signal?.aborted) return this.#leave(party, round!, waitMs, signal)
      // Others have the lock: nothing could be asked.
      if (changed === null) continue
      const { sequence } = changed
      await pauseUntilChanged(this.#lock, { since: sequence, ms: leftMs, signal, clock: this.#clock })
    }
  }

  /** Unless the round was completed at the last moment. */
  async #leave(
    party: string,
    round: number,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let isIn = false
    const left = await this.#changeIfFree(LEAVE_MS, state => {
      if (state.round > round) return { result: true }
      isIn = state.arrived.includes(party)
      const arrived = state.arrived.filter(other => other !== party)
      return { value: { round, arrived }, result: false }
    })
    if (left?.result) return round
    if (left === null && isIn)
      throw notTold(`'${party}' cannot leave round ${round} while others hold the lock, and may count in it`)
    signal?.throwIfAborted()
    throw notInTime(`not all ${this.#parties} parties arrived in round ${round} within ${waitMs} ms`)
  }

  #changeIfFree(waitMs: number, decide: (state: BarrierState) => Decision<BarrierState, boolean>) {
    return changeIfFree<BarrierState, boolean>(this.#lock, this.#key, state => decide(state ?? FIRST), {
      waitMs,
    })
  }
}

const FIRST: BarrierState = { round: 1, arrived: [] }
/** How long a party that gives up waits for the lock. */
const LEAVE_MS = 10_000
const MOST = Number.MAX_SAFE_INTEGER
