/**
 * Counts what one use of a lock costs, on the real runtime, in the units that Cloudflare bills (see
 * docs/deploy.md).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../worker/local/build.ts'
import { startWorkerd } from '../../worker/local/workerd.ts'
import type { UseCounts } from '../prices.ts'
import { CountedLock, USES, type Use } from './counted-lock.ts'

/** Of one use, on average, all participants together. */
export interface Cost extends UseCounts {
  /** Objects that were brought back into memory. */
  readonly made: number
}

interface Counts {
  readonly router: number
  readonly objects: { readonly [name: string]: { readonly [unit: string]: number } }
}

export type Costs = { readonly [use in Use]: Cost }

export interface CountOptions {
  /** How many operations the lock has had: an old one forgets as much as it remembers. */
  readonly before: number
  readonly number: number
  /** How often a lock is woken for each figure. */
  readonly wakings: number
  readonly eventsKept?: number
  /** Without a majority first. */
  readonly askAll?: boolean
  onProgress?(what: string): void
}

export interface Counted {
  /** One use after the other. */
  readonly busy: Costs
  /** Each use of a lock that was idle until then, and that has to be brought back into memory. */
  readonly woken: Costs
  /** The most rows that all participants together read when they were woken. */
  readonly mostRowsReadToWake: number
}

/**
 * A lock that is used once in a while: uses of several locks, each of which was idle before and is idle
 * after. None of them is held meanwhile, so an operation by itself is not among them.
 */
export const countApart = (locks: number): Promise<Omit<Costs, 'operation'>> =>
  withService({}, async url => {
    const used = Array.from(
      { length: locks },
      (_, index) => new CountedLock(`${url}/v1/locks/apart-${index}`),
    )
    for (const lock of used) await lock.transact()
    const counter = new Counter(url)
    const countUse = (use: Use): Promise<Cost> =>
      counter.count(locks, async () => {
        for (const lock of used) await lock[use]()
      })
    return {
      transact: await countUse('transact'),
      cycle: await countUse('cycle'),
      threeCalls: await countUse('threeCalls'),
    }
  })

/** One old lock: busy, and then woken again and again. */
export const countOld = ({
  before,
  number,
  wakings,
  eventsKept,
  askAll = false,
  onProgress,
}: CountOptions): Promise<Counted> =>
  withService(eventsKept === undefined ? {} : { BATON_EVENTS_KEPT: String(eventsKept) }, async url => {
    const lock = new CountedLock(`${url}/v1/locks/old`)
    if (askAll) await lock.askAll()
    for (let done = 0; done < before; done++) {
      if (done % 1_000 === 0) onProgress?.(`${done} of ${before} operations before anything is counted`)
      await lock.transact()
    }
    const counter = new Counter(url)
    const busy: { [use in Use]?: Cost } = {}
    for (const use of USES) {
      onProgress?.(`${use}, busy`)
      busy[use] = await countInARow(counter, lock, use, number)
    }
    const woken: { [use in Use]?: Cost } = {}
    let mostRowsReadToWake = 0
    for (const use of USES) {
      onProgress?.(`${use}, woken`)
      const costs: Cost[] = []
      while (costs.length < wakings) {
        costs.push(await countInARow(counter, lock, use, 1, () => fetch(`${url}/evict`, { method: 'POST' })))
      }
      woken[use] = mean(costs)
      mostRowsReadToWake = Math.max(mostRowsReadToWake, ...costs.map(cost => cost.rowsRead))
    }
    return { busy: busy as Costs, woken: woken as Costs, mostRowsReadToWake }
  })

async function countInARow(
  counter: Counter,
  lock: CountedLock,
  use: Use,
  number: number,
  prepare?: () => Promise<unknown>,
): Promise<Cost> {
  const work = async () => {
    await prepare?.()
    for (let done = 0; done < number; done++) await lock[use]()
  }
  if (use !== 'operation') return counter.count(number, work)
  // An operation needs a client that has the lock, and what that takes is not counted.
  await lock.hold()
  counter.forget()
  const cost = await counter.count(number, work)
  await lock.letGo()
  counter.forget()
  return cost
}

async function withService<Result>(
  variables: { readonly [name: string]: string },
  count: (url: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-count-'))
  const script = await bundle(fileURLToPath(new URL('counting-worker.mjs', import.meta.url)))
  const storage = join(folder, 'storage')
  const running = await startWorkerd({
    script,
    storage,
    port: 0,
    variables: { BATON_OPEN: 'true', ...variables },
  })
  try {
    return await count(running.url)
  } finally {
    await running.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Nothing more comes: longer than the longest timer of a lock that nobody holds. */
const IDLE_MS = 1_500

class Counter {
  private readonly url: string
  /** What was counted when everybody was idle, if nothing has happened since. */
  private last: Counts | null = null

  constructor(url: string) {
    this.url = url
  }

  /** What the work cost, from one idle moment to the next, divided by this number. */
  async count(number: number, work: () => Promise<unknown>): Promise<Cost> {
    const from = this.last ?? (await this.whenIdle())
    await work()
    this.last = await this.whenIdle()
    return average(from, this.last, number)
  }

  /** Something happens that is not to be counted. */
  forget(): void {
    this.last = null
  }

  private async whenIdle(): Promise<Counts> {
    let last = ''
    for (;;) {
      await setTimeout(IDLE_MS)
      const text = await (await fetch(`${this.url}/counts`)).text()
      if (text === last) return JSON.parse(text) as Counts
      last = text
    }
  }
}

function average(from: Counts, to: Counts, number: number): Cost {
  const total = ({ objects }: Counts, unit: string) =>
    Object.values(objects).reduce((total, object) => total + (object[unit] ?? 0), 0)
  const each = (unit: string) => (total(to, unit) - total(from, unit)) / number
  return {
    router: (to.router - from.router) / number,
    calls: each('call'),
    peers: each('peer'),
    alarms: each('alarm'),
    rowsWritten: each('rowsWritten'),
    alarmsSet: each('setAlarm'),
    rowsRead: each('rowsRead'),
    made: each('made'),
  }
}

function mean(costs: readonly Cost[]): Cost {
  const units = Object.keys(costs[0]!) as (keyof Cost)[]
  const total = (unit: keyof Cost) => costs.reduce((total, cost) => total + cost[unit], 0)
  return Object.fromEntries(units.map(unit => [unit, total(unit) / costs.length])) as unknown as Cost
}
