/**
 * The journal, its checkpoints and the segments hold what a plain map would, whatever is written in any
 * number of turns, however often an instance begins anew, and wherever one of them ends.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import { readCheckpoint } from '../../worker/participant/core/checkpoint.ts'
import { MAX_ROWS } from '../../worker/participant/core/journal.ts'
import { MAX_ROW_LENGTH } from '../../worker/participant/core/lines.ts'
import { Storage, storedRecords } from '../../worker/participant/core/storage.ts'
import { MemoryRows } from './memory-rows.ts'

const LIMITS = { eventsKept: 20, journalRows: 3 }

type Change = readonly [key: string, value: Json | null]
type Turn = { readonly changes: readonly Change[]; readonly steps: number; readonly restarts: boolean }

const keys = fc.constantFrom(
  'stub',
  'epoch',
  'log/1',
  'log/2',
  'log/10',
  'cell/é😀',
  'cell/\n\t"',
  '.own',
  '.two',
)
const values = fc.oneof(
  fc.constant(null),
  // JSON has a negative zero that it does not write.
  fc.jsonValue({ maxDepth: 2 }).map(value => JSON.parse(JSON.stringify(value)) as Json),
  fc.constantFrom<Json>('{', '"', '', '\t\n', 'é😀\u2028', 0),
)
const turns = fc.array(
  fc.record<Turn>({
    changes: fc.array(fc.tuple(keys, values), { maxLength: 5 }),
    steps: fc.nat(2),
    restarts: fc.boolean(),
  }),
  { maxLength: 40 },
)

const parsed = (rows: MemoryRows) =>
  new Map(Array.from(storedRecords(rows), ([key, text]) => [key, JSON.parse(text) as Json]))

const sorted = <Value>(map: ReadonlyMap<string, Value>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

function stage(storage: Storage, { changes, steps }: Turn, at: number): void {
  for (const [key, value] of changes) {
    if (value === null) storage.delete(key)
    else storage.put(key, value)
  }
  for (let step = 0; step < steps; step++) storage.events.record([eventAt(at + step / 10)], [])
}

const eventAt = (at: number): HistoryEvent => ({ at, participant: 1, type: 'withdrawn', user: 'u' })

function history(storage: Storage): number[] {
  const found: number[] = []
  let cursor: string | null = null
  do {
    const page = storage.events.historyPage(3, cursor)
    found.push(...page.events.map(({ at }) => at))
    cursor = page.cursor
  } while (cursor !== null)
  return found
}

describe('storage holds what a plain map would', () => {
  it('whatever is written, across restarts', () => {
    fc.assert(
      fc.property(turns, sequence => {
        const rows = new MemoryRows()
        const model = new Map<string, Json>()
        const told: number[] = []
        let storage = new Storage(rows, LIMITS)
        for (const [at, turn] of sequence.entries()) {
          stage(storage, turn, at)
          for (let step = 0; step < turn.steps; step++) told.push(at + step / 10)
          storage.commit()
          for (const [key, value] of turn.changes) {
            if (value === null) model.delete(key)
            else model.set(key, JSON.parse(JSON.stringify(value)) as Json)
          }
          if (turn.restarts) storage = new Storage(rows, LIMITS)
          expect(sorted(parsed(rows))).toEqual(sorted(model))
          const own = [...model].filter(([key]) => key.startsWith('.'))
          for (const [key, value] of own) expect(storage.get(key)).toEqual(value)
          const others = new Map([...model].filter(([key]) => !key.startsWith('.')))
          expect(sorted(new Map(storage.protocolRecords()))).toEqual(sorted(others))
        }
        const kept = history(storage)
        expect(kept).toEqual(told.slice(told.length - kept.length))
        expect(kept.length).toBeGreaterThanOrEqual(Math.min(told.length, LIMITS.eventsKept))
      }),
      { numRuns: 300 },
    )
  })

  it('wherever the instance ends: after any statement of any turn, a checkpoint too', () => {
    fc.assert(
      fc.property(turns, fc.nat(200), (sequence, endsAt) => {
        const rows = new MemoryRows()
        let left = endsAt
        let before = parsed(rows)
        let isOver = false
        rows.beforeWrite = () => {
          if (left-- <= 0) throw new Error('the instance ends')
        }
        const storage = new Storage(rows, LIMITS)
        for (const [at, turn] of sequence.entries()) {
          before = parsed(rows)
          stage(storage, turn, at)
          try {
            storage.commit()
          } catch {
            isOver = true
            break
          }
        }
        if (isOver) expect(sorted(parsed(rows))).toEqual(sorted(before))
        rows.beforeWrite = () => {}
        const next = new Storage(rows, LIMITS)
        next.put('after', 1)
        next.commit()
        expect(parsed(rows).get('after')).toBe(1)
      }),
      { numRuns: 300 },
    )
  })
})

describe('what may wait', () => {
  const save = (storage: Storage, key: string, value: Json, mayWait: boolean) => {
    storage.save([{ key, value }], mayWait)
    storage.commit()
  }

  it('is there at once, and on the disk with the next turn that may not wait', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(keys, fc.nat(9), fc.boolean(), fc.boolean())), sequence => {
        const rows = new MemoryRows()
        let onDisk = new Map<string, Json>()
        let inMemory = new Map<string, Json>()
        let storage = new Storage(rows, LIMITS)
        for (const [key, value, mayWait, restarts] of sequence) {
          save(storage, key, value, mayWait)
          inMemory.set(key, value)
          if (!mayWait) onDisk = new Map(inMemory)
          expect(storage.isBehind).toBe(sorted(inMemory).toString() !== sorted(onDisk).toString() || mayWait)
          expect(sorted(parsed(rows))).toEqual(sorted(onDisk))
          if (restarts) {
            storage = new Storage(rows, LIMITS)
            inMemory = new Map(onDisk)
          }
          const others = new Map([...inMemory].filter(([name]) => !name.startsWith('.')))
          expect(sorted(new Map(storage.protocolRecords()))).toEqual(sorted(others))
        }
        storage.flush()
        storage.commit()
        expect(sorted(parsed(rows))).toEqual(sorted(inMemory))
      }),
      { numRuns: 300 },
    )
  })

  it('can be read as history before it is written', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, LIMITS)
    storage.save([{ key: 'stub', value: 1 }], true)
    storage.events.record([eventAt(1)], [])
    storage.commit()
    expect(rows.writes).toBe(0)
    expect(history(storage)).toEqual([1])
    expect(history(new Storage(rows, LIMITS))).toEqual([])
    storage.flush()
    storage.commit()
    expect(history(new Storage(rows, LIMITS))).toEqual([1])
  })

  it('does not wait if the turn is in a hurry', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, LIMITS)
    storage.save([{ key: 'waiter/1', value: 1 }], true)
    storage.hurry()
    storage.commit()
    expect(parsed(rows).get('waiter/1')).toBe(1)
    expect(storage.isBehind).toBe(false)
  })

  it('costs no row of its own', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, LIMITS)
    save(storage, 'log/1', 1, false)
    const before = rows.writes
    save(storage, 'stub', 1, true)
    save(storage, 'cell/a', 1, true)
    expect(rows.writes).toBe(before)
    save(storage, 'log/2', 2, false)
    expect(rows.writes).toBe(before + 1)
  })
})

describe('rows', () => {
  it('one row for a turn needs no transaction, and everything else has one', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 20 })
    let transactions = 0
    const transaction = rows.transaction.bind(rows)
    rows.transaction = run => {
      transactions++
      transaction(run)
    }
    const turn = (value: string): readonly [rows: number, transactions: number] => {
      const before = [rows.writes, transactions] as const
      storage.put('.a', value)
      storage.commit()
      return [rows.writes - before[0], transactions - before[1]]
    }
    expect(turn('first')[1]).toBe(1)
    let folds = 0
    for (let number = 1; number <= 3 * MAX_ROWS; number++) {
      const [written, inTransactions] = turn(`${number}`)
      expect(inTransactions).toBe(written === 1 ? 0 : 1)
      folds += inTransactions
    }
    expect(folds).toBe(3)
    const [written, inTransactions] = turn('x'.repeat(2 * MAX_ROW_LENGTH))
    expect(written).toBeGreaterThan(1)
    expect(inTransactions).toBe(1)
    expect(new Storage(rows, LIMITS).get('.a')).toBe('x'.repeat(2 * MAX_ROW_LENGTH))
  })

  const written = (rows: MemoryRows, run: () => void): number => {
    const before = rows.writes
    run()
    return rows.writes - before
  }

  /** What a `transact` leaves at one participant. */
  function transact(storage: Storage, number: number): void {
    storage.put('stub', { number })
    storage.put(`log/${number}`, { opId: `op-${number}`, operation: ['x'] })
    storage.delete(`log/${number - 100}`)
    storage.put(`result/op-${number}`, { sequence: number })
    storage.delete(`result/op-${number - 500}`)
    storage.put(`cell/${number % 20}`, { value: number })
    storage.events.record([eventAt(number)], [])
    storage.commit()
  }

  it('a turn is one row, whatever it writes', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 100 })
    storage.put('first', 1)
    storage.commit()
    expect(written(rows, () => transact(storage, 1))).toBe(1)
  })

  it('checkpoints add a few hundredths of a row for each turn', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 1_000 })
    for (let number = 1; number <= 3_000; number++) transact(storage, number)
    const rowsPerTurn =
      written(rows, () => {
        for (let number = 3_001; number <= 6_000; number++) transact(storage, number)
      }) / 3_000
    expect(rowsPerTurn).toBeLessThan(1.15)
  })

  it('to wake a participant that has done much takes some dozens of rows', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 1_000 })
    for (let number = 1; number <= 6_000; number++) transact(storage, number)
    let read = 0
    rows.beforeRead = () => read++
    new Storage(rows, { eventsKept: 1_000 })
    expect(read).toBeLessThan(100)
  })

  it('a turn that is too long for the journal is a checkpoint, and so is found again', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 100 })
    const long = 'x'.repeat(400_000)
    for (let number = 1; number <= 20; number++) storage.put(`cell/${number}`, long)
    storage.commit()
    expect(rows.tables.journal.size).toBe(0)
    expect(parsed(rows).size).toBe(20)
    expect(Math.max(...[...rows.tables.segments.values()].map(body => body.length))).toBeLessThan(1_000_000)
  })

  it('what is overwritten again and again does not fill the disk', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 0 })
    for (let number = 1; number <= 20_000; number++) {
      storage.put('cell/a', { value: number, text: 'x'.repeat(200) })
      storage.put(`cell/${number}`, 'y'.repeat(100))
      storage.delete(`cell/${number - 1}`)
      storage.commit()
    }
    const bytes = [...rows.tables.segments.values()].reduce((sum, body) => sum + body.length, 0)
    expect(bytes).toBeLessThan(50_000)
    expect(parsed(rows).size).toBe(2)
  })
})

it('where few steps are kept, few more are there', () => {
  for (const eventsKept of [1, 8, 16, 100]) {
    const storage = new Storage(new MemoryRows(), { eventsKept })
    for (let at = 1; at <= 300; at++) {
      storage.events.record([eventAt(at)], [])
      storage.commit()
      const kept = history(storage).length
      expect(kept).toBeGreaterThanOrEqual(Math.min(at, eventsKept))
      expect(kept).toBeLessThanOrEqual(Math.ceil(eventsKept * 1.25) + 1)
    }
  }
})

describe('layouts', () => {
  function older(): MemoryRows {
    const rows = new MemoryRows()
    rows.tables.records = new Map([
      ['.identity', JSON.stringify({ lock: 'a', id: 1 })],
      ['.missed', '7'],
      ['stub', '{"phase":"idle"}'],
      ['log/1', '{"sequence":1}'],
    ])
    const body = (at: number) => JSON.stringify({ history: [eventAt(at)], changes: [] })
    rows.tables.events = [1, 2, 3].map(at => ({ sequence: 0, body: body(at) }))
    return rows
  }

  it('the first one is taken over whole, once', () => {
    const rows = older()
    const storage = new Storage(rows, { eventsKept: 100 })
    expect(storage.get('.identity')).toEqual({ lock: 'a', id: 1 })
    expect(storage.events.reaches(6)).toBe(false)
    expect(storage.events.reaches(7)).toBe(true)
    expect(history(storage)).toEqual([1, 2, 3])
    const again = new Storage(rows, { eventsKept: 100 })
    expect(new Map(again.protocolRecords())).toEqual(
      new Map<string, Json>([
        ['stub', { phase: 'idle' }],
        ['log/1', { sequence: 1 }],
      ]),
    )
    expect(history(again)).toEqual([1, 2, 3])
  })

  it('a take-over that ends in the middle has changed nothing', () => {
    for (let statement = 0; ; statement++) {
      const rows = older()
      let left = statement
      rows.beforeWrite = () => {
        if (left-- <= 0) throw new Error('the instance ends')
      }
      try {
        new Storage(rows, { eventsKept: 100 })
      } catch {
        expect(rows.tables).toEqual(older().tables)
        continue
      }
      expect(statement).toBeGreaterThan(3)
      return
    }
  })

  it('a version that knows the first one alone finds a record that it cannot read', () => {
    const fresh = new MemoryRows()
    const storage = new Storage(fresh, { eventsKept: 100 })
    storage.put('a', 1)
    storage.commit()
    for (const rows of [fresh, older()]) {
      new Storage(rows, { eventsKept: 100 })
      const found = rows.tables.records.get('.identity')
      expect(found).toBeDefined()
      expect(() => JSON.parse(found!)).toThrow()
      expect(rows.tables.events).toEqual([])
    }
  })

  it('a newer one is refused, and nothing is touched', () => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 100 })
    storage.put('a', 1)
    storage.commit()
    const { layout, ...rest } = JSON.parse(rows.tables.segments.get(0)!) as { layout: number }
    rows.tables.segments.set(0, JSON.stringify({ layout: layout + 2, ...rest }))
    const before = structuredClone(rows.tables)
    expect(() => new Storage(rows, { eventsKept: 100 })).toThrow(`layout ${layout + 2}`)
    expect(structuredClone(rows.tables)).toEqual(before)
  })

  it('that of a lock whose members have changed is refused by versions that know nothing of that', () => {
    const layoutOf = (rows: MemoryRows) =>
      (JSON.parse(rows.tables.segments.get(0)!) as { layout: number }).layout
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 100 })
    storage.put('.a', 1)
    storage.commit()
    const before = layoutOf(rows)
    storage.noteMembers()
    storage.commit()
    expect(layoutOf(rows)).toBe(before + 1)
    const again = new Storage(rows, { eventsKept: 100, journalRows: 1 })
    expect(again.get('.a')).toBe(1)
    again.put('.a', 2)
    again.commit()
    expect(layoutOf(rows)).toBe(before + 1)
  })
})

describe('checkpoints leave few segments', () => {
  it.each<[what: string, key: string, value: Json | null]>([
    ['a short record', 'a', 1],
    ['an empty key', '', ''],
    ['a deleted record', 'a', null],
    ['a key that JSON escapes', '\u0000'.repeat(50), 1],
    ['a key of lone surrogates', '\ud800'.repeat(50), 1],
  ])('with %s', (_, key, value) => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, { eventsKept: 0, journalRows: 1 })
    storage.put('other', 'x'.repeat(1_000))
    for (let turn = 0; turn < 300; turn++) {
      if (value === null) storage.delete(key)
      else storage.put(key, value)
      storage.commit()
    }
    expect(readCheckpoint(rows)!.segments.length).toBeLessThan(8)
  })
})

describe('an instance that keeps no steps leaves no gap between those of the others', () => {
  function turn(rows: MemoryRows, eventsKept: number, sequence: number): void {
    const storage = new Storage(rows, { eventsKept })
    storage.events.record([eventAt(sequence)], [{ event: 'op', sequence, data: { sequence } }])
    storage.put('log', sequence)
    storage.commit()
  }

  // Where 8 are kept each turn is a checkpoint of its own; otherwise the steps are in the journal.
  it.each([8, 1_000])('where the others keep %i', kept => {
    const rows = new MemoryRows()
    for (const [eventsKept, sequence] of [
      [kept, 1],
      [kept, 2],
      [0, 3],
      [0, 4],
      [kept, 5],
    ] as const)
      turn(rows, eventsKept, sequence)
    const storage = new Storage(rows, { eventsKept: kept })
    expect(history(storage)).toEqual([5])
    expect([2, 3, 4, 5].map(since => storage.events.reaches(since))).toEqual([false, false, true, true])
    expect(storage.events.changesPage({ since: 4, afterStep: 0 }, 1_000)!.changes).toHaveLength(1)
  })
})

describe('a storage that is emptied', () => {
  const event = (at: number): HistoryEvent => ({ at, participant: 1, type: 'wipe' })

  /** A lock with a history, some of it in the journal and some in segments and blocks. */
  const filled = (turns: number): MemoryRows => {
    const rows = new MemoryRows()
    const storage = new Storage(rows, LIMITS)
    for (let turn = 0; turn < turns; turn++) {
      storage.put('.identity', { lock: 'a', id: 1 })
      storage.put('.ticket/x', true)
      storage.save([{ key: `cell/${turn}`, value: { value: 'x'.repeat(100) } }])
      storage.events.record([event(turn)], [])
      storage.commit()
    }
    return rows
  }

  it('has nothing but what is kept, and what is written after that, in the same turn or later', () => {
    for (let turns = 1; turns < 12; turns++) {
      const rows = filled(turns)
      const storage = new Storage(rows, LIMITS)
      storage.events.record([event(100)], [])
      storage.empty(['.identity'])
      storage.save([{ key: 'birth', value: { generation: 2 } }])
      storage.commit()
      const left = { '.identity': '{"lock":"a","id":1}', birth: '{"generation":2}' }
      expect(Object.fromEntries(storedRecords(rows)), `${turns} turns`).toEqual(left)
      expect([...rows.tables.segments.values()].join('').includes('cell/')).toBe(false)
      expect([rows.tables.journal.size, rows.tables.steps]).toEqual([0, []])
      const again = new Storage(rows, LIMITS)
      expect([...again.protocolRecords()]).toEqual([['birth', { generation: 2 }]])
      expect([again.get('.ticket/x'), again.events.historyPage(10, null).events]).toEqual([undefined, []])
      again.save([{ key: 'cell/new', value: 1 }])
      again.events.record([event(200)], [])
      again.commit()
      const last = new Storage(rows, LIMITS)
      expect(Object.fromEntries(last.protocolRecords())).toEqual({ birth: { generation: 2 }, 'cell/new': 1 })
      expect(last.events.historyPage(10, null).events).toEqual([event(200)])
    }
  })

  it('is as it was if the transaction fails', () => {
    const rows = filled(5)
    const before = Object.fromEntries(storedRecords(rows))
    const storage = new Storage(rows, LIMITS)
    storage.empty(['.identity'])
    storage.save([{ key: 'birth', value: { generation: 2 } }])
    let writes = 0
    rows.beforeWrite = () => {
      if (++writes === 3) throw new Error('the disk is full')
    }
    expect(() => storage.commit()).toThrow('full')
    rows.beforeWrite = () => {}
    expect(Object.fromEntries(storedRecords(rows))).toEqual(before)
  })
})
