/**
 * Processes that die. A client whose process is gone sends nothing more: it ends before one of its requests
 * is sent, or after that request was carried out and before its answer came. Every request of a recipe is
 * such a moment.
 */
import type { Baton, Fetch } from '../../client/index.ts'
import type { Bench } from '../client/suite.ts'
import { newLockName } from '../client/suite.ts'

export type Moment = 'before' | 'after'

export class MortalNetwork {
  readonly death: Promise<void>
  readonly #fetch: Fetch
  readonly #at: number
  readonly #moment: Moment
  readonly #dead = new AbortController()
  #requests = 0

  /** It dies at this request, counted from 1. */
  constructor(fetch: Fetch, at: number, moment: Moment) {
    this.#fetch = fetch
    this.#at = at
    this.#moment = moment
    this.death = new Promise(resolve => this.signal.addEventListener('abort', () => resolve()))
  }

  /** Aborted by the death, so that what is left of the process in this one comes to its end. */
  get signal(): AbortSignal {
    return this.#dead.signal
  }

  get isDead(): boolean {
    return this.signal.aborted
  }

  die(): void {
    this.#dead.abort()
  }

  readonly fetch: Fetch = async request => {
    const isLast = ++this.#requests === this.#at
    if (isLast && this.#moment === 'before') this.die()
    this.#mustLive()
    const response = await this.#fetch(request)
    if (isLast) {
      await response.text()
      this.die()
    }
    this.#mustLive()
    return response
  }

  #mustLive(): void {
    if (this.isDead) throw new TypeError('the process is gone')
  }
}

export interface Mortal {
  readonly baton: Baton
  readonly signal: AbortSignal
  readonly name: string
}

export interface Scenario {
  /** What the process does that may die. */
  readonly work: (mortal: Mortal) => Promise<unknown>
  /** What must hold afterwards, for the others. */
  readonly check: (name: string, end: { readonly isDead: boolean; readonly result: unknown }) => Promise<void>
}

/** Returns how many deaths there were. `moments` says which requests to die at. Default: all of them. */
export async function dieEverywhere(
  bench: Bench,
  { work, check }: Scenario,
  moments?: readonly (readonly [at: number, moment: Moment])[],
): Promise<number> {
  let deaths = 0
  for (const [at, moment] of moments ?? allMoments()) {
    const network = new MortalNetwork(bench.service.fetch, at, moment)
    const baton = bench.client({ fetch: network.fetch, retry: { attempts: 2, firstPauseMs: 10 } })
    const name = newLockName()
    const end = work({ baton, signal: network.signal, name }).catch((error: unknown) => {
      if (!network.isDead) throw error
    })
    const result = await Promise.race([end, network.death])
    await check(name, { isDead: network.isDead, result })
    if (network.isDead) deaths++
    else if (moments === undefined) return deaths
    network.die()
  }
  return deaths
}

function* allMoments(): Generator<readonly [at: number, moment: Moment]> {
  for (let at = 1; at <= 100; at++) {
    yield [at, 'before']
    yield [at, 'after']
  }
  throw new Error('it takes more than 100 requests')
}
