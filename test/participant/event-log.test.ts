/** The history in pages: together they are all of it, and none is longer than it may be. */
import { expect, it } from 'vitest'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { MAX_ROW_BYTES } from '../../worker/participant/core/event-log.ts'
import { Storage } from '../../worker/participant/core/storage.ts'
import { MemoryRows } from './memory-rows.ts'

const event = (at: number, length = 1): HistoryEvent => ({
  at,
  participant: 1,
  type: 'withdrawn',
  user: 'u'.repeat(length),
})

function recorded(steps: readonly (readonly HistoryEvent[])[]) {
  const storage = new Storage(new MemoryRows(), { eventsKept: 10_000, journalRows: 7 })
  for (const step of steps) {
    storage.events.record(step, [])
    storage.commit()
  }
  return storage.events
}

function pages(events: ReturnType<typeof recorded>, limit: number): HistoryEvent[][] {
  const all: HistoryEvent[][] = []
  let cursor: string | null = null
  do {
    const page = events.historyPage(limit, cursor)
    all.push([...page.events])
    cursor = page.cursor
  } while (cursor !== null)
  return all
}

it.each([1, 2, 3, 7, 100, 1_000])('pages of %i events are all of it', limit => {
  const steps = Array.from({ length: 120 }, (_, step) =>
    Array.from({ length: step % 4 }, (_, index) => event(step * 10 + index)),
  )
  const events = recorded(steps)
  const found = pages(events, limit)
  expect(found.flat()).toEqual(steps.flat())
  expect(Math.max(...found.map(page => page.length))).toBe(Math.min(limit, steps.flat().length))
  expect(found.slice(0, -1).every(page => page.length === limit)).toBe(true)
})

it('a page of long events ends earlier', () => {
  const steps = Array.from({ length: 10 }, (_, step) => [event(step, 300_000)])
  const found = pages(recorded(steps), 1_000)
  expect(found.flat()).toHaveLength(10)
  expect(found.every(page => page.length <= 2)).toBe(true)
})

it('what was forgotten between two pages is left out, and the rest follows', () => {
  const storage = new Storage(new MemoryRows(), { eventsKept: 10, journalRows: 2 })
  const add = (at: number) => {
    storage.events.record([event(at)], [])
    storage.commit()
  }
  for (let at = 1; at <= 10; at++) add(at)
  const { cursor } = storage.events.historyPage(3, null)
  for (let at = 11; at <= 16; at++) add(at)
  const rest = storage.events.historyPage(100, cursor).events.map(({ at }) => at)
  expect(rest).toEqual([7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
})

it('a place in the history stays the same when a checkpoint writes it down', () => {
  const storage = new Storage(new MemoryRows(), { eventsKept: 100, journalRows: 9 })
  const add = (at: number) => {
    storage.events.record([event(at), event(at + 0.5)], [])
    storage.commit()
  }
  for (let at = 1; at <= 7; at++) add(at)
  const { cursor } = storage.events.historyPage(5, null)
  for (let at = 8; at <= 12; at++) add(at)
  expect(storage.events.historyPage(4, cursor).events.map(({ at }) => at)).toEqual([3.5, 4, 4.5, 5])
})

it('an instance that begins anew finds what its predecessor recorded', () => {
  const rows = new MemoryRows()
  for (let at = 1; at <= 30; at++) {
    const storage = new Storage(rows, { eventsKept: 100, journalRows: 9 })
    storage.events.record([event(at)], [])
    storage.commit()
  }
  const { events } = new Storage(rows, { eventsKept: 100 })
  expect(pages(events, 7).flat()).toHaveLength(30)
})

it('an empty history is one empty page', () => {
  expect(pages(recorded([]), 5)).toEqual([[]])
})

it('where no events are kept, no change is known to be there', () => {
  const { events } = new Storage(new MemoryRows(), { eventsKept: 0 })
  expect(events.changesPage({ since: 0, afterStep: 0 }, 1_000)).toBeNull()
})

it('a page of events reads few rows at a time, since each may be long', () => {
  const rows = new MemoryRows()
  const limits: number[] = []
  const { page } = rows.steps
  Object.assign(rows.steps, {
    page: (first: number, afterSequence: number, limit: number) => {
      limits.push(limit)
      return page(first, afterSequence, limit)
    },
  })
  const storage = new Storage(rows, { eventsKept: 10_000, journalRows: 1 })
  for (let at = 1; at <= 10; at++) {
    storage.events.record([event(at)], [])
    storage.commit()
  }
  expect(storage.events.historyPage(100, null).events).toHaveLength(10)
  expect(limits.length).toBeGreaterThan(3)
  expect(Math.max(...limits) * MAX_ROW_BYTES).toBeLessThan(8_000_000)
})
