/**
 * What every implementation of `Rows` keeps (worker/participant/runtime.ts). Plain functions that throw, so
 * that they also run inside of workerd, on the real SQLite. Each case begins with empty rows; `reopen` gives
 * what the next instance finds.
 */
import type { Rows } from '../../worker/participant/runtime.ts'

export interface RowsCase {
  readonly name: string
  run(rows: Rows, reopen: () => Rows): void
}

function same(found: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) throw new Error(`found ${a}, wanted ${b}`)
}

function throws(run: () => void): void {
  try {
    run()
  } catch {
    return
  }
  throw new Error('it did not throw')
}

const all = (rows: Rows) => [...rows.records.range('')]
const bodies = (rows: Rows) => rows.events.page(0, -1, 1_000).map(({ sequence, body }) => [sequence, body])
const A_MINUTE_MS = 60_000
/** More than one statement can bind. */
const MANY = 250
const many = Array.from(
  { length: MANY },
  (_, index) => [`k${String(index).padStart(3, '0')}`, `${index}`] as const,
)

export const ROWS_CONTRACT: readonly RowsCase[] = [
  {
    name: 'a record is what was put last',
    run(rows, reopen) {
      same(rows.records.get('a'), undefined)
      rows.records.put([['a', '1']])
      rows.records.put([
        ['a', '2'],
        ['b', ''],
      ])
      same(rows.records.get('a'), '2')
      same(rows.records.get('b'), '')
      same(all(reopen()), [
        ['a', '2'],
        ['b', ''],
      ])
    },
  },
  {
    name: 'a record that was deleted is gone, and one that was never there may be deleted',
    run(rows, reopen) {
      rows.records.put([
        ['a', '1'],
        ['b', '2'],
      ])
      rows.records.delete(['a', 'never'])
      same(rows.records.get('a'), undefined)
      same(all(reopen()), [['b', '2']])
    },
  },
  {
    name: 'records come in the order of their keys, by bytes of UTF-8, however they were written',
    run(rows) {
      const keys = ['b', 'a/2', '😀', 'a', 'é', 'Z', 'a/10', '.x', '\uffee']
      for (const key of keys) rows.records.put([[key, key]])
      rows.records.put([['b', 'b']])
      same(
        all(rows).map(([key]) => key),
        ['.x', 'Z', 'a', 'a/10', 'a/2', 'b', 'é', '\uffee', '😀'],
      )
    },
  },
  {
    name: 'a range has what begins with the prefix, and nothing else',
    run(rows) {
      for (const key of ['a', 'a/', 'a/1', 'a/é', 'a/\uffee😀', 'a0', 'b/1', 'A/1'])
        rows.records.put([[key, key]])
      same(
        [...rows.records.range('a/')].map(([key]) => key),
        ['a/', 'a/1', 'a/é', 'a/\uffee😀'],
      )
      same([...rows.records.range('c')], [])
    },
  },
  {
    name: 'many records at once, more than a statement binds',
    run(rows, reopen) {
      rows.records.put(many)
      same(all(reopen()), many)
      rows.records.delete(many.slice(1).map(([key]) => key))
      same(all(rows), many.slice(0, 1))
    },
  },
  {
    name: 'text of any characters comes back as it was',
    run(rows) {
      const text = '"\\\n\u0000 \' ; DROP TABLE records; -- é😀\uffee'
      rows.records.put([['text', text]])
      rows.events.append(1, text)
      same(rows.records.get('text'), text)
      same(bodies(rows), [[1, text]])
    },
  },
  {
    name: 'events come in the order in which they were appended, in pages',
    run(rows, reopen) {
      for (const sequence of [3, 0, 5, 4]) rows.events.append(sequence, `body ${sequence}`)
      const page = rows.events.page(0, -1, 3)
      same(
        page.map(({ sequence, body }) => [sequence, body]),
        [
          [3, 'body 3'],
          [0, 'body 0'],
          [5, 'body 5'],
        ],
      )
      const next = reopen().events.page(page.at(-1)!.id, -1, 3)
      same(
        next.map(({ sequence }) => sequence),
        [4],
      )
      same(
        rows.events.page(0, 3, 10).map(({ sequence }) => sequence),
        [5, 4],
      )
      same(rows.events.page(next[0]!.id, -1, 10), [])
    },
  },
  {
    name: 'the size of the events is that of their bodies, as UTF-8',
    run(rows, reopen) {
      same(rows.events.size(), { rows: 0, bytes: 0 })
      rows.events.append(1, 'abc')
      rows.events.append(2, 'é😀')
      same(rows.events.size(), { rows: 2, bytes: 9 })
      same(
        [...reopen().events.newestFirst()].map(({ sequence, bytes }) => [sequence, bytes]),
        [
          [2, 6],
          [1, 3],
        ],
      )
    },
  },
  {
    name: 'events are forgotten through an id, and tell the highest sequence among them',
    run(rows, reopen) {
      for (const sequence of [7, 2, 9]) rows.events.append(sequence, 'x')
      const [, second] = rows.events.page(0, -1, 3)
      same(rows.events.forgetThrough(second!.id), 7)
      same(bodies(reopen()), [[9, 'x']])
      same(rows.events.forgetThrough(second!.id), 0)
    },
  },
  {
    name: 'ids grow',
    run(rows, reopen) {
      rows.events.append(1, 'x')
      rows.events.append(1, 'x')
      const [first, second] = rows.events.page(0, -1, 2)
      rows.events.forgetThrough(first!.id)
      reopen().events.append(1, 'x')
      const ids = reopen()
        .events.page(0, -1, 3)
        .map(({ id }) => id)
      same(ids.length, 2)
      same(ids[0], second!.id)
      same(ids[1]! > second!.id, true)
    },
  },
  {
    name: 'a transaction that throws leaves nothing of itself, and what was before',
    run(rows, reopen) {
      rows.records.put([['a', '1']])
      rows.events.append(1, 'before')
      throws(() =>
        rows.transaction(() => {
          rows.records.put([
            ['a', '2'],
            ['b', '2'],
          ])
          rows.records.delete(['a'])
          rows.events.append(2, 'inside')
          rows.events.forgetThrough(1_000)
          throw new Error('a defect')
        }),
      )
      same(all(rows), [['a', '1']])
      same(bodies(rows), [[1, 'before']])
      same(all(reopen()), [['a', '1']])
    },
  },
  {
    name: 'a transaction sees what it writes, and keeps it when it ends',
    run(rows, reopen) {
      rows.transaction(() => {
        rows.records.put([['a', '1']])
        rows.events.append(1, 'x')
        same(rows.records.get('a'), '1')
        same(rows.events.size(), { rows: 1, bytes: 1 })
      })
      same(all(reopen()), [['a', '1']])
      same(bodies(reopen()), [[1, 'x']])
    },
  },
  {
    name: 'a touch changes nothing, and tells the time in milliseconds',
    run(rows) {
      const offMs = Math.abs(rows.touch() - Date.now())
      same(all(rows), [])
      if (!(offMs < A_MINUTE_MS)) throw new Error(`it is off by ${offMs} ms`)
    },
  },
]
