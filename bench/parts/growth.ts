/**
 * What becomes of a lock that has much to remember, of one with many participants, and of a service with many
 * locks: times, requests and memory as it grows. All of it runs in one process.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { inTurn } from '../case.ts'
import { type BatonLocks, batonLocks } from '../cases/baton.ts'
import { plainLocks } from '../cases/plain.ts'
import { request } from '../http.ts'
import { megabytes } from '../processes.ts'
import { type StartedBaton, startBaton, startYardsticks } from '../started.ts'
import { median, quantile, rounded } from '../statistics.ts'

export interface GrowthRow {
  /** What grows, and to how many. */
  readonly of: 'keys' | 'operations' | 'participants' | 'locks' | 'locks, plain object'
  readonly number: number
  readonly transactMs: number
  readonly transactP99: number
  readonly cycleMs: number
  /** The first `transact` after the process was started again: everything has to be read. */
  readonly wakeMs: number | null
  readonly requestsBetweenObjects: number | null
  readonly megabytes: number | null
}

export interface GrowthSizes {
  readonly keys: readonly number[]
  readonly operations: readonly number[]
  readonly participants: readonly number[]
  readonly locks: readonly number[]
}

export const GROWTH: GrowthSizes = {
  keys: [10, 100, 1_000, 10_000, 50_000],
  operations: [100, 1_000, 5_000, 10_000, 20_000],
  participants: [1, 3, 5, 7, 9, 11, 13],
  locks: [1, 10, 100, 1_000],
}

export interface GrowthOptions {
  readonly sizes: GrowthSizes
  readonly repeats: number
  onRow?(row: GrowthRow): void
}

export async function measureGrowth({ sizes, repeats, onRow }: GrowthOptions): Promise<GrowthRow[]> {
  const rows: GrowthRow[] = []
  const add = (row: GrowthRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  await withBaton(baton => growKeys(baton, sizes.keys, repeats, add))
  await withBaton(baton => growOperations(baton, sizes.operations, repeats, add))
  await withBaton(baton => growParticipants(baton, sizes.participants, repeats, add))
  await withBaton(baton => growLocks(baton, sizes.locks, add))
  await growPlainLocks(sizes.locks, add)
  return rows
}

async function withBaton(grow: (baton: StartedBaton) => Promise<void>): Promise<void> {
  const baton = await startBaton()
  try {
    await grow(baton)
  } finally {
    await baton.stop()
  }
}

type Add = (row: GrowthRow) => void

async function growKeys(baton: StartedBaton, sizes: readonly number[], repeats: number, add: Add) {
  let keys = 0
  for (const number of sizes) {
    while (keys < number)
      keys += await putKeys(baton.url, keys, Math.min(number - keys, API_LIMITS.opsPerBatch))
    add({ of: 'keys', number, ...(await measured(baton, 'grown', 3, repeats)), ...(await woken(baton)) })
  }
}

async function putKeys(url: string, from: number, number: number): Promise<number> {
  const ops = Array.from({ length: number }, (_, index) => ({
    put: `key-${from + index}`,
    value: randomUUID(),
  }))
  await request('POST', `${url}/v1/locks/grown/transact`, { opId: randomUUID(), ops, at: 1 })
  return number
}

async function growOperations(baton: StartedBaton, sizes: readonly number[], repeats: number, add: Add) {
  const { transact } = batonLocks(baton.url)
  let operations = 0
  for (const number of sizes) {
    for (; operations < number; operations++) await transact('grown', 1)
    add({
      of: 'operations',
      number,
      ...(await measured(baton, 'grown', 3, repeats)),
      ...(await woken(baton)),
    })
  }
}

async function growParticipants(baton: StartedBaton, sizes: readonly number[], repeats: number, add: Add) {
  for (const number of sizes) {
    const lock = `participants-${number}`
    await batonLocks(baton.url).configure(lock, 'wme-2', number)
    add({ of: 'participants', number, ...(await measured(baton, lock, number, repeats)), wakeMs: null })
  }
}

/** Each lock is used for the first time, and the figures are those of these uses. */
async function growLocks(baton: StartedBaton, sizes: readonly number[], add: Add) {
  const locks = batonLocks(baton.url)
  const first = {
    transact: (lock: string) => locks.transact(lock),
    cycle: (lock: string) => cycle(locks, lock),
  }
  await growFirstUses('locks', first, baton.pids, sizes, add)
}

async function growPlainLocks(sizes: readonly number[], add: Add): Promise<void> {
  const yardsticks = await startYardsticks()
  const { acquire, write, release } = plainLocks(yardsticks.url)
  try {
    const first = {
      transact: async (lock: string) => {
        const token = await acquire(lock)
        await write(lock, token)
        await release(lock, token)
      },
      cycle: async (lock: string) => release(lock, await acquire(lock)),
    }
    await growFirstUses('locks, plain object', first, yardsticks.pids, sizes, add)
  } finally {
    await yardsticks.stop()
  }
}

interface Uses {
  transact(lock: string): Promise<unknown>
  cycle(lock: string): Promise<unknown>
}

async function growFirstUses(
  of: GrowthRow['of'],
  { transact, cycle }: Uses,
  pids: () => readonly number[],
  sizes: readonly number[],
  add: Add,
): Promise<void> {
  let locks = 0
  for (const number of sizes) {
    const samples = await inTurn(() => transact(`touched-${++locks}`))(number - locks)
    const cycles = await inTurn(() => cycle('touched-1'))(20)
    add({
      of,
      number,
      transactMs: rounded(median(samples)),
      transactP99: rounded(quantile(samples, 0.99)),
      cycleMs: rounded(median(cycles)),
      wakeMs: null,
      requestsBetweenObjects: null,
      megabytes: memory(pids()),
    })
  }
}

const cycle = async ({ acquire, release }: BatonLocks, lock: string) => release(lock, await acquire(lock, 1))

/** A few uses before those that count. */
const WARM = 5
const SETTLE_MS = 100

async function measured(baton: StartedBaton, lock: string, participants: number, repeats: number) {
  const locks = batonLocks(baton.url)
  await inTurn(() => locks.transact(lock, 1))(WARM)
  const before = await baton.requests(lock, participants)
  const transacts = await inTurn(() => locks.transact(lock, 1))(repeats)
  const requests = (await baton.requests(lock, participants)) - before
  const cycles = await inTurn(() => cycle(locks, lock))(repeats)
  await setTimeout(SETTLE_MS)
  return {
    transactMs: rounded(median(transacts)),
    transactP99: rounded(quantile(transacts, 0.99)),
    cycleMs: rounded(median(cycles)),
    requestsBetweenObjects: rounded(requests / repeats),
    megabytes: memory(baton.pids()),
  }
}

async function woken(baton: StartedBaton): Promise<{ readonly wakeMs: number }> {
  await baton.restart()
  const [wakeMs] = await inTurn(() => batonLocks(baton.url).transact('grown', 1))(1)
  return { wakeMs: rounded(wakeMs!) }
}

function memory(pids: readonly number[]): number | null {
  const now = megabytes(pids)
  return now === null ? null : Math.round(now)
}
