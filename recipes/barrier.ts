/**
 * A barrier: so many parties wait for each other, and go on together, round after round.
 *
 * A party that dies after it has arrived has arrived. A party that dies before keeps the others waiting, for
 * as long as they want: whoever stops waiting has not arrived. No clock is compared.
 *
 * So many go on in a round and no more, also if more of them come: whoever was not among them arrives in the
 * next one.
 */
import { type Clock, type Lock, systemClock } from '../client/index.ts'
import { changeIfFree, type Decision } from './change.ts'
import { digestOf } from './digest.ts'
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
   * is over is passed at once, and the party does not arrive in the next one by mistake. It is a `RangeError`
   * if the round has just been completed without this party; of earlier ones nobody knows.
   */
  readonly round?: number
  /** How long to wait for the others. Default: 10 s. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

type BarrierState = {
  readonly round: number
  readonly arrived: readonly string[]
  /** Digests of the names of those that completed the round before. */
  readonly before?: readonly string[]
}

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
  async look(): Promise<Pick<BarrierState, 'round' | 'arrived'>> {
    const { round, arrived } = (await this.#lock.get<BarrierState>(this.#key)).value ?? FIRST
    return { round, arrived }
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
    const named = options.round === undefined ? null : wholeNumber('round', options.round, 1, MOST)
    let round = named ?? 0
    /** Whether it has arrived in this round, for certain. */
    let isIn = false
    const hasPassed = (state: BarrierState): boolean => {
      if (round === 0 || state.round <= round) return false
      const isKnown = state.round === round + 1 && state.before !== undefined
      return isIn || (isKnown ? state.before!.includes(digestOf(party)) : named !== null)
    }
    const arrive = (state: BarrierState): Decision<BarrierState, boolean> => {
      if (hasPassed(state)) return { result: true }
      if (named === null) round = state.round
      if (state.round > round) throw new RangeError(`round ${round} was completed without '${party}'`)
      if (state.round < round)
        throw new RangeError(`round ${round} has not begun: this is round ${state.round}`)
      if (state.arrived.includes(party)) return { result: false }
      const arrived = [...state.arrived, party]
      return arrived.length >= this.#parties
        ? { value: { round: round + 1, arrived: [], before: arrived.map(digestOf) }, result: true }
        : { value: { ...state, arrived }, result: false }
    }
    for (;;) {
      // In between, whoever waits looks whether it is to give up.
      const lockMs = Math.min(until - this.#clock.now(), LONGEST_PAUSE_MS)
      const changed = await this.#changeIfFree(lockMs, arrive)
      if (changed?.result) return round
      isIn ||= changed !== null
      const leftMs = until - this.#clock.now()
      if (leftMs <= 0 || signal?.aborted) return this.#leave({ party, round, hasPassed, waitMs, signal })
      // Others have the lock: nothing could be asked.
      if (changed === null) continue
      const { sequence } = changed
      await pauseUntilChanged(this.#lock, { since: sequence, ms: leftMs, signal, clock: this.#clock })
    }
  }

  /** Unless the round was completed at the last moment. */
  async #leave({ party, round, hasPassed, waitMs, signal }: Leaving): Promise<number> {
    let isIn = false
    const left = await this.#changeIfFree(LEAVE_MS, state => {
      if (hasPassed(state)) return { result: true }
      isIn = state.round === round && state.arrived.includes(party)
      if (!isIn) return { result: false }
      return { value: { ...state, arrived: state.arrived.filter(other => other !== party) }, result: false }
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

interface Leaving {
  readonly party: string
  readonly round: number
  readonly hasPassed: (state: BarrierState) => boolean
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

const FIRST: BarrierState = { round: 1, arrived: [] }
/** How long a party that gives up waits for the lock. */
const LEAVE_MS = 10_000
const MOST = Number.MAX_SAFE_INTEGER
