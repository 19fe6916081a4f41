/**
 * The recipes while participants are killed and come back, each a process of its own: everything goes on, and
 * nothing is lost or done twice.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Baton, BatonError, type Lock } from '../../client/index.ts'
import {
  openTransfers,
  recoverTransfers,
  Semaphore,
  Sequence,
  SharedConfiguration,
  transfer,
  WorkQueue,
} from '../../recipes/index.ts'
import { startBaton, type TestBaton } from '../../testing/index.ts'
import { violationsIn } from '../examples/judged.ts'

const LIMIT_MS = 300_000
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

let service: TestBaton
let isOver = false

beforeAll(async () => {
  service = await startBaton()
}, LIMIT_MS)
afterAll(() => service?.stop(), LIMIT_MS)

/** As a caller should: again, if that may help. Everything here may be repeated. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const mayHelp = error instanceof BatonError && (error.retryable || error.status === 410)
      if (!mayHelp) throw error
      await sleep(100)
    }
  }
}

/** One after the other, because two at a time would be a majority. */
async function killAndRestore(): Promise<number> {
  let kills = 0
  for (; !isOver; kills++) {
    const participant = (kills % 3) + 1
    await service.kill(participant)
    await sleep(1_500)
    await service.restore(participant)
    await sleep(1_500)
  }
  return kills
}

async function workOff(baton: Baton, count: number): Promise<void> {
  const lock = baton.lock('queue')
  const queue = () => new WorkQueue<number>(lock, { leaseMs: 3_000, deliveries: 1_000 })
  const stop = new AbortController()
  const workers = [1, 2].map(async () => {
    while (!stop.signal.aborted) {
      const delivery = await again(() => queue().take())
      if (delivery === null) await sleep(100)
      else await again(() => delivery.done([{ append: 'effects', value: delivery.value }]))
    }
  })
  for (let value = 0; value < count; value++) await again(() => queue().add(value, { id: `item-${value}` }))
  const effects = async () => (await again(() => lock.get<number[]>('effects'))).value ?? []
  // An `add` whose answer got lost may be repeated after its item was done, and is then delivered again.
  while (new Set(await effects()).size < count || (await again(() => queue().take())) !== null)
    await sleep(100)
  stop.abort()
  await Promise.all(workers)
}

async function moveAbout(baton: Baton, count: number): Promise<void> {
  const accounts = ['account:1', 'account:2'].map(name => baton.lock(name)) as [Lock, Lock]
  const deposit = [{ put: 'balance', value: 100 }]
  for (const lock of accounts) await again(() => lock.transact(deposit, { opId: 'deposit' }))
  const moves = Array.from({ length: count }, (_, index) => {
    const [from, to] = index % 2 === 0 ? accounts : [accounts[1], accounts[0]]
    return again(() => transfer({ from, to, amount: 1 + index, id: `move-${index}` }))
  })
  expect(await Promise.all(moves)).toEqual(moves.map(() => ({ done: true })))
  for (const from of accounts) {
    await again(() => recoverTransfers(from, name => baton.lock(name)))
    expect(await again(() => openTransfers(from))).toEqual([])
  }
  const balances = await Promise.all(accounts.map(lock => again(() => lock.get<number>('balance'))))
  const shift = Array.from({ length: count }, (_, index) => (index % 2 === 0 ? -1 : 1) * (1 + index))
  const first = 100 + shift.reduce((sum, amount) => sum + amount, 0)
  expect(balances.map(({ value }) => value)).toEqual([first, 200 - first])
}

async function number(baton: Baton, count: number): Promise<void> {
  const numbers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      again(() => new Sequence(baton.lock('numbers')).next({ id: `number-${index}` })),
    ),
  )
  expect(numbers.sort((left, right) => left - right)).toEqual(Array.from({ length: count }, (_, n) => n + 1))
}

async function share(baton: Baton, count: number): Promise<void> {
  const semaphore = new Semaphore(baton, 'shared', { permits: 2, ttlMs: 3_000 })
  let inside = 0
  const users = Array.from({ length: count }, () =>
    again(() =>
      semaphore.run(
        async ({ signal }) => {
          // Whoever has lost its permit is inside without one, and may only leave.
          const leave = () => inside--
          inside++
          expect(inside).toBeLessThanOrEqual(2)
          signal.addEventListener('abort', leave, { once: true })
          await sleep(50)
          if (signal.aborted) return
          signal.removeEventListener('abort', leave)
          leave()
        },
        { waitMs: 60_000 },
      ),
    ),
  )
  await Promise.all(users)
}

async function configure(baton: Baton, count: number): Promise<void> {
  const flags = new SharedConfiguration<{ seen: number[] }>(baton.lock('flags'))
  const add = (value: number) =>
    flags.update(before => {
      const seen = before?.seen ?? []
      return seen.includes(value) ? { seen } : { seen: [...seen, value] }
    })
  const values = Array.from({ length: count }, (_, value) => value)
  await Promise.all(values.map(value => again(() => add(value))))
  const { value } = await again(() => flags.get())
  expect([...value!.seen].sort((left, right) => left - right)).toEqual(values)
}

it(
  'go on, lose nothing and do nothing twice',
  async () => {
    const baton = service.client()
    const killing = killAndRestore()
    try {
      await Promise.all([
        workOff(baton, 12),
        moveAbout(baton, 8),
        number(baton, 20),
        share(baton, 8),
        configure(baton, 10),
      ])
    } finally {
      isOver = true
    }
    expect(await killing).toBeGreaterThan(0)
    for (const name of ['queue', 'account:1', 'numbers', 'flags'])
      expect(await violationsIn(baton.lock(name)), name).toEqual([])
  },
  LIMIT_MS,
)
