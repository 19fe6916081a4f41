/**
 * An export is one point, however long it is read, and what is kept for it is bounded (streams/exports.ts).
 */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ExportPage } from '../../worker/participant/calls/export.ts'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import type { Sink } from '../../worker/participant/runtime.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const KEYS = 12
const LONG = 'x'.repeat(60_000)

let platform: MemoryPlatform
let node: MemoryNode
let operations = 0

const transact = (ops: object[]): Promise<ParticipantAnswer> => {
  const opId = `op-${++operations}`
  return platform.during(
    node.call({ type: 'transact', user: opId, opId, ops: JSON.parse(JSON.stringify(ops)), waitMs: 0 }),
  )
}

const begin = () => platform.during(node.call({ type: 'export' }))
const ask = (id: string, next: number | null) =>
  platform.during(node.call({ type: 'export', page: { id, next } }))
const pageIn = (answer: ParticipantAnswer): ExportPage => {
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return answer.body as unknown as ExportPage
}

/** All that follows the first page; `between` happens before each of them. */
async function readAll(first: ExportPage, between = async () => {}): Promise<ExportPage[]> {
  const pages = [first]
  for (let { next } = first; next !== null; next = pages.at(-1)!.next) {
    await between()
    pages.push(pageIn(await ask(first.id, next)))
  }
  return pages
}

const valuesIn = (pages: readonly ExportPage[]) =>
  pages.flatMap(({ cells }) => cells.map(({ value }) => (value as { value: string }).value.slice(0, 3)))

beforeEach(async () => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
  operations = 0
  for (let key = 0; key < KEYS; key++) await transact([{ put: `key-${key}`, value: `old${LONG}` }])
})

describe('an export', () => {
  it('regression: has nothing of an import that was not finished', async () => {
    const entered = await platform.during(
      node.call({ type: 'acquire', user: 'import', waitMs: 0, ttlMs: 60_000, ticket: false, confirm: true }),
    )
    const { fence } = (entered as unknown as { body: { grant: { fence: number } } }).body.grant
    const part = { cells: [['=half', { value: 1, revision: 1 }]] as const, results: [] }
    const imported = await platform.during(
      node.call({ type: 'import', user: 'import', fence, number: 0, part, droppedThrough: 0 }),
    )
    expect(imported.type).toBe('done')
    const pages = await readAll(pageIn(await begin()))
    expect(pages.flatMap(({ cells }) => cells.map(({ cell }) => cell))).toHaveLength(KEYS)
  })

  it('is one point, whatever happens while it is read', async () => {
    const first = pageIn(await begin())
    expect(first.head?.sequence).toBeGreaterThan(0)
    let key = 0
    const pages = await readAll(first, async () => {
      for (let count = 0; count < 6; count++) await transact([{ put: `key-${key++ % KEYS}`, value: 'new' }])
      await transact([{ put: `more-${key}`, value: 'new' }, { delete: 'key-11' }])
    })
    expect(pages.length).toBeGreaterThan(2)
    expect(valuesIn(pages)).toEqual(new Array(KEYS).fill('old'))
    const ids = pages.flatMap(({ results }) => results.map(({ opId }) => opId))
    expect(ids).toEqual(Array.from({ length: KEYS }, (_, index) => `op-${index + 1}`))
    const again = await readAll(pageIn(await begin()))
    expect(valuesIn(again)).toContain('new')
  })

  it('gives a page again whose answer was lost, and none that was read before', async () => {
    const first = pageIn(await begin())
    const second = await ask(first.id, first.next)
    expect(await ask(first.id, first.next)).toEqual(second)
    await ask(first.id, pageIn(second).next)
    expect(await ask(first.id, first.next)).toMatchObject({ type: 'problem', code: 'conflict' })
  })

  it('gives its last page again as well, for as long as nobody waits for its end', async () => {
    const pages = await readAll(pageIn(await begin()))
    const { id } = pages[0]!
    const { next } = pages.at(-2)!
    expect(pageIn(await ask(id, next!))).toEqual(pages.at(-1))
    await transact([{ put: 'key-0', value: 'new' }])
    expect(pageIn(await ask(id, next!))).toEqual(pages.at(-1))
    const later = pageIn(await begin())
    expect(valuesIn(await readAll(later))).toContain('new')
    expect(await ask(id, next!)).toMatchObject({ type: 'problem', code: 'conflict' })
    await platform.advance(20_000)
    expect(await ask(later.id, next!)).toMatchObject({ type: 'problem', code: 'conflict' })
  })

  it('shares its point with others that begin at the same one, and keeps no second one', async () => {
    const first = pageIn(await begin())
    const other = pageIn(await begin())
    expect(other.id).not.toBe(first.id)
    await transact([{ put: 'key-0', value: 'new' }])
    expect(await begin()).toMatchObject({ type: 'problem', code: 'too_many' })
    expect(valuesIn(await readAll(first))).not.toContain('new')
    expect(await begin()).toMatchObject({ code: 'too_many' })
    // The other reader has gone.
    await ask(other.id, null)
    expect(valuesIn(await readAll(pageIn(await begin())))).toContain('new')
  })

  it('regression: gives all of its point to whoever begins when others have read a part', async () => {
    const first = pageIn(await begin())
    const second = pageIn(await ask(first.id, first.next))
    const other = await readAll(pageIn(await begin()))
    const ids = other.flatMap(({ results }) => results.map(stored => stored?.opId))
    expect(ids).toEqual(Array.from({ length: KEYS }, (_, index) => `op-${index + 1}`))
    expect(valuesIn(other)).toHaveLength(KEYS)
    expect(valuesIn([first, ...(await readAll(second))])).toHaveLength(KEYS)
  })

  it('is over when nobody goes on reading it, and when the instance is', async () => {
    const first = pageIn(await begin())
    await transact([{ put: 'key-0', value: 'new' }])
    await platform.advance(14_000)
    expect(await begin()).toMatchObject({ code: 'too_many' })
    await platform.advance(3_000)
    expect(await ask(first.id, first.next)).toMatchObject({ type: 'problem', code: 'conflict' })
    const next = pageIn(await begin())
    node.restart()
    expect(await ask(next.id, next.next)).toMatchObject({ type: 'problem', code: 'conflict' })
  })

  it('regression: is looked after once a second, however many exports began and ended before', async () => {
    for (let count = 0; count < 20; count++) {
      await ask(pageIn(await begin()).id, null)
      await platform.advance(40)
    }
    pageIn(await begin())
    await platform.advance(2_000)
    let wakes = 0
    const wake = node.wake.bind(node)
    node.wake = () => {
      wakes++
      wake()
    }
    await platform.advance(10_000)
    // Half of them may be for the alarm, which is behind the timeouts.
    expect(wakes).toBeLessThanOrEqual(20)
  })

  it('gives way to the lock when that has forgotten too much of it', async () => {
    for (let count = 0; count < 20; count++) await transact([{ get: 'key-0' }, { get: 'key-1' }])
    const first = pageIn(await begin())
    for (let count = 0; count < 10_050; count++) await transact([{ put: 'n', value: count }])
    await platform.advance(2_000)
    expect(await ask(first.id, first.next)).toMatchObject({ type: 'problem', code: 'conflict' })
  }, 60_000)

  it('makes a watcher that reads the state as it was before come back for this one', async () => {
    const sink: Sink & { text: string; isFailed: boolean } = {
      ...{ text: '', isFailed: false },
      write: text => {
        sink.text += text
      },
      unreadBytes: () => sink.text.length,
      fail: () => {
        sink.isFailed = true
      },
    }
    // What came first is forgotten, so it begins with a snapshot; and it reads nothing of it.
    for (let count = 0; count < 1_100; count++) await transact([{ put: 'key-0', value: 'new' }])
    await node.watch(sink, 1)
    await platform.settle()
    expect(sink.text).toContain('event: snapshot')
    await transact([{ put: 'key-1', value: 'new' }])
    expect(sink.isFailed).toBe(false)
    const first = pageIn(await begin())
    expect(sink.isFailed).toBe(true)
    expect(valuesIn(await readAll(first)).filter(value => value === 'new')).toHaveLength(2)
  })
})
