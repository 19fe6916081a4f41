/**
 * A turn: touch, run, write, send. If anything in it throws, the instance is over before anything leaves it.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_ROWS } from '../../worker/participant/core/journal.ts'
import { Storage, storedRecords } from '../../worker/participant/core/storage.ts'
import { InstanceOver, Turns } from '../../worker/participant/core/turns.ts'
import type { Runtime } from '../../worker/participant/runtime.ts'
import { MemoryRows, READ_ONLY } from './memory-rows.ts'

const now = 1_000_000
let rows: MemoryRows
let storage: Storage
let turns: Turns
let log: string[]
let aborts: string[]

beforeEach(() => {
  rows = new MemoryRows()
  log = []
  aborts = []
  storage = new Storage(rows, { eventsKept: 100 })
  // The first row of all has company.
  storage.put('first', 1)
  storage.commit()
  const runtime = { rows, now: () => now, log: () => {}, abort: (reason: string) => aborts.push(reason) }
  turns = new Turns(runtime as unknown as Runtime, storage)
  turns.finish = () => log.push('finish')
  rows.touch = () => {
    log.push('touch')
    return now
  }
  rows.beforeWrite = () => log.push('write')
})

const leave = (what: string) => turns.afterwards(() => log.push(what))
const fail = () => {
  throw new Error('a defect')
}
const stored = () => Array.from(storedRecords(rows), ([key]) => key).filter(key => key !== 'first')

it('touches, runs, reacts, writes and sends, in this order', () => {
  const result = turns.run(() => {
    log.push('run')
    leave('answer')
    turns.react(() => {
      log.push('reaction')
      turns.react(() => log.push('reaction to it'))
      storage.put('b', 2)
    })
    storage.put('a', 1)
    return 7
  })
  expect(result).toBe(7)
  expect(log).toEqual(['touch', 'run', 'reaction', 'reaction to it', 'write', 'answer', 'finish'])
  expect(stored()).toEqual(['a', 'b'])
})

it('a record that is deleted is gone, in this turn and later; what is put back stays', () => {
  turns.run(() => {
    storage.put('a', 1)
    storage.put('b', 1)
  })
  turns.run(() => {
    storage.delete('a')
    expect(storage.get('a')).toBeUndefined()
    storage.delete('b')
    storage.put('b', 2)
    expect(storage.get('b')).toBe(2)
  })
  expect(stored()).toEqual(['b'])
  expect(storage.get('a')).toBeUndefined()
})

it('writes nothing if nothing has changed', () => {
  turns.run(() => leave('answer'))
  expect(log).toEqual(['touch', 'answer', 'finish'])
})

it('keeps what its first turn wants to send until it is woken', () => {
  turns.begin(() => {
    storage.put('boots', 1)
    leave('message')
  })
  expect(log).toEqual(['touch', 'write'])
  turns.run(() => leave('answer'))
  expect(log).toEqual(['touch', 'write', 'touch', 'message', 'answer', 'finish'])
})

it.each<[string, () => void]>([
  ['react', () => turns.react(() => {})],
  ['afterwards', () => turns.afterwards(() => {})],
])('%s is for a turn', (_, use) => {
  expect(use).toThrow('in a turn only')
})

/** Where it throws. The storage is as it was before, and nothing has left. */
const DEFECTS: readonly [where: string, arrange: () => void, body: () => void][] = [
  ['the touch', () => Object.assign(rows, { touch: fail }), () => {}],
  [
    'the touch, which tells that the clock was set back,',
    () => {
      turns.run(() => {})
      log.length = 0
      rows.touch = () => now - 3_600_000
    },
    () => {},
  ],
  ['the body', () => {}, fail],
  ['a reaction', () => {}, () => turns.react(fail)],
  ['a turn in the turn', () => {}, () => turns.run(() => {})],
  ['the save on a disk that is read-only', () => Object.assign(rows, { isReadOnly: true }), () => {}],
  [
    'the checkpoint, after the journal',
    () => {
      for (let turn = 2; turn < MAX_ROWS; turn++) turns.run(() => storage.put('first', turn))
      log.length = 0
      let writes = 0
      rows.beforeWrite = () => {
        if (++writes === 2) fail()
      }
    },
    () => storage.events.record([{ at: 1, participant: 1, type: 'withdrawn', user: '1/u' }], []),
  ],
]

describe.each(DEFECTS)('a throw in %s', (_, arrange, body) => {
  it('ends the instance: nothing leaves, nothing is written, nothing runs any more', () => {
    arrange()
    const turn = () =>
      turns.run(() => {
        leave('answer')
        storage.put('a', 1)
        storage.delete('z')
        body()
        leave('message')
      })
    expect(turn).toThrow()
    expect(log.filter(what => what !== 'touch' && what !== 'write')).toEqual([])
    expect(stored()).toEqual([])
    expect(new Storage(rows, { eventsKept: 100 }).events.historyPage(1, null).events).toEqual([])
    expect(aborts).toHaveLength(1)
    expect(turns.isOver).toBe(true)
    log.length = 0
    expect(() => turns.run(() => leave('later'))).toThrow(InstanceOver)
    expect(log).toEqual([])
    expect(aborts).toHaveLength(1)
  })
})

it('a throw while it sends ends the instance too: the rest stays here', () => {
  const turn = () =>
    turns.run(() => {
      storage.put('a', 1)
      turns.afterwards(fail)
      leave('message')
    })
  expect(turn).toThrow('a defect')
  expect(log).toEqual(['touch', 'write'])
  expect(aborts).toEqual(['a defect'])
})

it('says why: the reason of the abort is that of the throw', () => {
  rows.isReadOnly = true
  expect(() => turns.run(() => storage.put('a', 1))).toThrow(READ_ONLY)
  expect(aborts).toEqual([READ_ONLY])
})
