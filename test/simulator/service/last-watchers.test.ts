/** What the last watchers are owed, with a lock whose watches say what a test has them say. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { NotFoundError, type WatchEvent } from '../../../client/index.ts'
import { LastWatchers } from './last-watchers.ts'
import type { SimClient } from './sim-client.ts'

const SOMEBODY = { type: 'holder', sequence: 3, participant: 2, fence: 4 } as const
const NOBODY = { type: 'holder', sequence: 4, participant: null } as const
const GONE = new NotFoundError({
  ...{ code: 'no_such_lock', status: 404, detail: 'There is no such lock.', retryable: false },
})

/** What one watch says, one after the other; then it stays open, unless it ends with an error. */
type Said = readonly (WatchEvent | Error)[]

/** One participant, which is a member. */
function watchedBy(watches: readonly Said[]) {
  let opened = 0
  async function* watch(): AsyncGenerator<WatchEvent> {
    for (const said of watches[opened++] ?? []) {
      if (said instanceof Error) throw said
      yield said
    }
    await new Promise(() => {})
  }
  const disk = { durableRecord: () => JSON.stringify({ status: 'member' }) }
  const world = {
    plan: { broken: [] },
    sites: [{}, { index: 1 }],
    objects: new Map([['lock/1', { lock: 'lock', participant: 1, disk }]]),
    losses: { configurationOf: () => ({ participants: [{ id: 1 }] }) },
    journal: { watchHolder: () => {} },
  }
  const client = {
    ...{ world, name: 'last' },
    sleep: (ms: number) => new Promise(resolve => setTimeout(resolve, ms)),
    connect: () => ({ lock: () => ({ watch }) }),
  }
  return new LastWatchers(client as unknown as SimClient, 'lock')
}

/** Whether it is heard, long after everything was said. */
async function isHeard(watches: readonly Said[]): Promise<boolean> {
  const watchers = watchedBy(watches)
  await vi.advanceTimersByTimeAsync(10_000)
  let isTold = false
  void watchers.hearOfNobody().then(() => {
    isTold = true
  })
  await vi.advanceTimersByTimeAsync(10_000)
  watchers.end()
  return isTold
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('regression: a watch of the next lock says nothing of a holder of the deleted one', async () => {
  expect(await isHeard([[SOMEBODY, GONE], []])).toBe(true)
  expect(await isHeard([[SOMEBODY, GONE], [GONE], [GONE], []])).toBe(true)
})

it('a watcher that was told of a holder must be told of its end', async () => {
  expect(await isHeard([[SOMEBODY, NOBODY]])).toBe(true)
  expect(await isHeard([[SOMEBODY]])).toBe(false)
  const next = { ...SOMEBODY, fence: 2_049 }
  expect(await isHeard([[SOMEBODY, GONE], [next]])).toBe(false)
  expect(
    await isHeard([
      [SOMEBODY, GONE],
      [next, NOBODY],
    ]),
  ).toBe(true)
})
