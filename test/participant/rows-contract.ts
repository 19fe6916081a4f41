/**
 * What every implementation of `Rows` keeps (worker/participant/runtime.ts). These are plain functions that
 * throw, so that they also run inside workerd, on the real SQLite. Each case begins with empty rows; `reopen`
 * gives what the next instance finds.
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

const A_MINUTE_MS = 60_000
/** More than a page of SQLite holds, and letters of one to four bytes. */
const LONG = 'é😀a\uffee'.repeat(5_000)
const ODD = '"\\\n\u0000\t \' ; DROP TABLE journal; -- é😀\uffee'

const block = (first: number, steps: number, sequence: number, body = `${first}`) => ({
  first,
  steps,
  sequence,
  body,
})

function everythingIn(rows: Rows): unknown {
  return {
    journal: [0, 1, 2].map(place => rows.journal.get(place) ?? null),
    segments: [0, 1, 2].map(id => rows.segments.get(id) ?? null),
    steps: rows.steps.page(0, -1, 100),
    older: [rows.older.isThere(), [...rows.older.records()], [...rows.older.events()]],
  }
}

export const ROWS_CONTRACT: readonly RowsCase[] = [
  {
    name: 'a row of the journal is what was put at its place last',
    run(rows, reopen) {
      same(rows.journal.get(0) ?? null, null)
      rows.journal.put(0, 1, 'one')
      rows.journal.put(1, 2, '')
      rows.journal.put(0, 3, LONG)
      same(rows.journal.get(0), { number: 3, body: LONG })
      rows.journal.put(0, 4, 'short again')
      same(reopen().journal.get(0), { number: 4, body: 'short again' })
      same(reopen().journal.get(1), { number: 2, body: '' })
      same(reopen().journal.get(2) ?? null, null)
    },
  },
  {
    name: 'a segment is what was put last, until it is deleted, and one that was never there may be deleted',
    run(rows, reopen) {
      rows.segments.put(0, 'a')
      rows.segments.put(7, LONG)
      rows.segments.put(0, 'b')
      same(rows.segments.get(0), 'b')
      same(reopen().segments.get(7), LONG)
      rows.segments.delete([7, 9])
      rows.segments.delete([])
      same(reopen().segments.get(7) ?? null, null)
      same(reopen().segments.get(0), 'b')
    },
  },
  {
    name: 'text of any characters comes back as it was',
    run(rows) {
      rows.journal.put(5, 5, ODD)
      rows.segments.put(5, ODD)
      rows.steps.append(block(1, 1, 1, ODD))
      same(rows.journal.get(5), { number: 5, body: ODD })
      same(rows.segments.get(5), ODD)
      same(rows.steps.page(1, -1, 1), [block(1, 1, 1, ODD)])
    },
  },
  {
    name: 'blocks come in their order, from the one that holds a step, in pages',
    run(rows, reopen) {
      const blocks = [block(1, 3, 5), block(4, 1, 0), block(5, 10, 9), block(15, 2, 9)]
      for (const one of blocks) rows.steps.append(one)
      same(reopen().steps.page(1, -1, 100), blocks)
      same(rows.steps.page(0, -1, 2), blocks.slice(0, 2))
      same(rows.steps.page(3, -1, 100), blocks)
      same(rows.steps.page(4, -1, 100), blocks.slice(1))
      same(rows.steps.page(14, -1, 1), [blocks[2]])
      same(rows.steps.page(17, -1, 100), [blocks[3]])
    },
  },
  {
    name: 'blocks that tell of nothing above a sequence are left out',
    run(rows) {
      const blocks = [block(1, 3, 5), block(4, 1, 0), block(5, 10, 9), block(15, 2, 9)]
      for (const one of blocks) rows.steps.append(one)
      same(rows.steps.page(1, 4, 100), [blocks[0], blocks[2], blocks[3]])
      same(rows.steps.page(1, 5, 1), [blocks[2]])
      same(rows.steps.page(1, 9, 100), [])
      same(rows.steps.highestSequence(), 9)
    },
  },
  {
    name: 'the oldest block is told with its bytes, and goes first',
    run(rows, reopen) {
      same(rows.steps.oldest() ?? null, null)
      same(rows.steps.highestSequence(), 0)
      rows.steps.append(block(1, 2, 3, 'é😀'))
      rows.steps.append(block(3, 1, 4, 'abc'))
      same(reopen().steps.oldest(), { first: 1, steps: 2, sequence: 3, bytes: 6 })
      rows.steps.delete(1)
      rows.steps.delete(1)
      same(reopen().steps.oldest(), { first: 3, steps: 1, sequence: 4, bytes: 3 })
      same(rows.steps.page(1, -1, 100), [block(3, 1, 4, 'abc')])
    },
  },
  {
    name: 'what replaces the first layout is all that is left of it',
    run(rows, reopen) {
      same(rows.older.isThere(), false)
      rows.older.replaceBy('.key', ODD)
      rows.older.replaceBy('.key', 'value')
      same(reopen().older.isThere(), true)
      same([...reopen().older.records()], [['.key', 'value']])
      same([...reopen().older.events()], [])
    },
  },
  {
    name: 'a transaction that throws leaves nothing of itself, and what was before',
    run(rows, reopen) {
      rows.journal.put(0, 1, 'before')
      rows.segments.put(0, 'before')
      rows.steps.append(block(1, 1, 1, 'before'))
      const before = everythingIn(rows)
      throws(() =>
        rows.transaction(() => {
          rows.journal.put(0, 2, 'inside')
          rows.journal.put(1, 3, 'inside')
          rows.segments.put(1, 'inside')
          rows.segments.delete([0])
          rows.steps.append(block(2, 1, 2, 'inside'))
          rows.steps.delete(1)
          rows.older.replaceBy('a', 'inside')
          throw new Error('a defect')
        }),
      )
      same(everythingIn(rows), before)
      same(everythingIn(reopen()), before)
    },
  },
  {
    name: 'a transaction sees what it writes, and keeps it when it ends',
    run(rows, reopen) {
      rows.transaction(() => {
        rows.journal.put(0, 1, 'x')
        rows.segments.put(1, 'y')
        same(rows.journal.get(0), { number: 1, body: 'x' })
        same(rows.segments.get(1), 'y')
      })
      same(reopen().journal.get(0), { number: 1, body: 'x' })
      same(reopen().segments.get(1), 'y')
    },
  },
  {
    name: 'a touch changes nothing, and tells the time in milliseconds',
    run(rows) {
      const before = everythingIn(rows)
      const offMs = Math.abs(rows.touch() - Date.now())
      same(everythingIn(rows), before)
      if (!(offMs < A_MINUTE_MS)) throw new Error(`it is off by ${offMs} ms`)
    },
  },
]
