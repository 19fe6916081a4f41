/**
 * `export` and `import` of a lock that is at its limits: nothing is lost, and nothing happens twice. Its
 * history is not judged: a record of all of this is longer than what is kept.
 */
import { expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { eventually } from './eventually.ts'
import { useService } from './harness.ts'
import { expectStatus, TestLock } from './lock.ts'

const here = useService()
const there = useService()

const LONG = 'x'.repeat(API_LIMITS.valueWeight - 100)
const VALUES = Math.floor(API_LIMITS.stateWeight / (LONG.length + 100))

interface Export {
  readonly [name: string]: unknown
  readonly sequence: number
  readonly cells: readonly { readonly cell: string; readonly value: { readonly value: string } }[]
  readonly results: readonly { readonly opId: string; readonly sequence: number }[]
}

/** Its result is heavier than an operation may be. */
const readingOps = (index: number) => [
  { get: `key-${index % VALUES}` },
  { get: `key-${(index + 1) % VALUES}` },
  { increment: 'n' },
]

/** Until the lock takes no more: its state first, then what it remembers. */
async function filled(lock: TestLock): Promise<{ readonly results: number; readonly fence: number }> {
  let fence = 0
  for (let index = 0; index < VALUES; index++) {
    const value = `${index} ${LONG}`
    fence = (await lock.transacted([{ put: `key-${index}`, value }], { opId: `put-${index}` })).fence
  }
  expect((await lock.transact([{ put: 'more', value: LONG }])).body.code).toBe('too_large')
  for (let index = 0; ; index++) {
    const answer = await lock.transact(readingOps(index), { opId: `get-${index}` })
    if (answer.status === 413) return { results: index, fence }
    fence = expectStatus(answer, 200).body.fence
  }
}

it('a lock that is full goes on at another service, with everything, and above its fences', async () => {
  const lock = here.lock()
  const { results, fence } = await filled(lock)
  expect(results).toBeGreaterThan(20)
  const response = await fetch(`${here.url}/v1/locks/${lock.name}/export`)
  const text = await response.text()
  expect(text.length).toBeGreaterThan(0.9 * (API_LIMITS.stateWeight + API_LIMITS.resultsWeight))
  const saved = JSON.parse(text) as Export
  expect(saved.cells).toHaveLength(VALUES + 1)
  expect(saved.results).toHaveLength(VALUES + results)
  const sequences = saved.results.map(({ sequence }) => sequence)
  expect(sequences).toEqual([...sequences].sort((left, right) => left - right))
  expectStatus(await lock.send('DELETE', ''), 204)

  const twin = new TestLock(lock.name, () => there.url)
  expectStatus(await twin.send('POST', '/import', { body: saved }), 201)
  const keys = [0, 1, Math.floor(VALUES / 2), VALUES - 1]
  for (const index of keys) expect(await twin.value(`key-${index}`)).toBe(`${index} ${LONG}`)
  expect(await twin.value('n')).toBe(results)
  // What was applied before is answered as it was; what is new is above everything.
  for (const index of [0, results - 1]) {
    const options = { opId: `get-${index}`, at: 2 }
    const again = await eventually(() => twin.transacted(readingOps(index), options))
    expect(again.results[2]).toMatchObject({ value: index + 1 })
  }
  expect(await twin.value('n')).toBe(results)
  const next = await twin.transacted([{ increment: 'n' }], { opId: 'next', at: 3 })
  expect(next.results[0]).toMatchObject({ value: results + 1 })
  expect(next.fence).toBeGreaterThan(fence)
  expect(next.sequence).toBeGreaterThan(saved.sequence)
  // It is as full as before.
  expect((await twin.transact([{ put: 'more', value: LONG }])).body.code).toBe('too_large')

  await there.kill()
  await there.start()
  for (const at of [1, 2, 3])
    expect(await eventually(() => twin.value(`key-${at}`, `?at=${at}`))).toBe(`${at} ${LONG}`)
  const again = JSON.parse(await (await fetch(`${there.url}/v1/locks/${lock.name}/export`)).text()) as Export
  const texts = (one: Export) =>
    one.cells.map(cell => JSON.stringify(cell)).filter(cell => !/"=n"/.test(cell))
  expect(texts(again).sort()).toEqual(texts(saved).sort())
  const ids = (one: Export) => one.results.map(({ opId }) => opId).filter(opId => /^(put|get)-/.test(opId))
  expect(ids(again)).toEqual(ids(saved))
})
