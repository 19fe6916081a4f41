/** How a replica takes the state of another one: in parts, and then all at once. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { finishOperation, importOf, PARTS_MISSING, partOperation } from '../../shared/resource/import.ts'
import { keyValue, readKey } from '../../shared/resource/key-value.ts'
import { emptyReplica, invoke, resultOf } from '../../shared/resource/replica.ts'

const RESULTS_KEPT = 4

function replica() {
  const made = emptyReplica(keyValue)
  let sequence = 100
  const say = (opId: string, operation: Json) =>
    invoke(keyValue, made, RESULTS_KEPT, { sequence: ++sequence, opId, operation })
  return { made, say }
}

const stored = (opId: string, sequence: number) => ({
  opId,
  sequence,
  digest: `d-${opId}`,
  result: `r-${opId}`,
})
const cell = (key: string, value: Json, revision: number) => [`=${key}`, { value, revision }] as const
const FIRST = { cells: [cell('a', 1, 7)], results: [stored('one', 7)] }
const SECOND = { cells: [cell('b', [2], 9)], results: [stored('two', 9)] }

describe('an import', () => {
  it('puts an item together that came in pieces', () => {
    const { made, say } = replica()
    const text = JSON.stringify(FIRST)
    const pieces = [text.slice(0, 9), text.slice(9, 20), text.slice(20)]
    pieces.forEach((piece, index) => {
      say(`p${index}`, partOperation(index, { text: piece, isMore: index < 2 }))
    })
    say('p3', partOperation(3, SECOND))
    const { imported } = say('finish', finishOperation(4, 5))
    expect(imported).toEqual([stored('one', 7), stored('two', 9)])
    expect(readKey(made.cells, 'a')).toEqual({ value: 1, revision: 7 })
    expect(Object.keys(made.cells).sort()).toEqual(['=a', '=b'])
  })

  it('shows nothing before it is finished, and everything then', () => {
    const { made, say } = replica()
    say('p0', partOperation(0, FIRST))
    say('p1', partOperation(1, SECOND))
    expect([readKey(made.cells, 'a'), resultOf(made, 'one')]).toEqual([
      { value: null, revision: 0 },
      undefined,
    ])
    expect(made.order).toEqual([])
    const { result, imported } = say('finish', finishOperation(2, 5))
    expect(result).toEqual({ applied: true, results: [] })
    expect(imported).toEqual([stored('one', 7), stored('two', 9)])
    expect(Object.keys(made.cells)).toEqual(['=a', '=b'])
    expect(readKey(made.cells, 'b')).toEqual({ value: [2], revision: 9 })
    expect([made.order, made.droppedThrough]).toEqual([['one', 'two', 'finish'], 5])
  })

  it('answers an operation of before with its result, and forgets the oldest first', () => {
    const { made, say } = replica()
    const results = ['one', 'two', 'three', 'four'].map((opId, index) => stored(opId, index + 1))
    say('p0', partOperation(0, { cells: [], results }))
    expect(say('finish', finishOperation(1, 0)).dropped).toBe('one')
    expect([made.order, made.droppedThrough]).toEqual([['two', 'three', 'four', 'finish'], 1])
    expect(say('two', [{ increment: 'n' }]).result).toEqual({ error: 'conflict' })
  })

  it('of which a part is missing changes nothing', () => {
    const { made, say } = replica()
    say('p1', partOperation(1, SECOND))
    const before = JSON.stringify(made.cells)
    expect(say('finish', finishOperation(2, 5)).result).toEqual(PARTS_MISSING)
    expect([JSON.stringify(made.cells), made.droppedThrough]).toEqual([before, 0])
  })

  it('a part may be said again', () => {
    const { made, say } = replica()
    for (const opId of ['p0', 'p0', 'again']) say(opId, partOperation(0, FIRST))
    say('finish', finishOperation(1, 0))
    expect(made.order).toEqual(['one', 'finish'])
  })

  it('is none of what a client can say', () => {
    for (const operation of [[{ restore: 'finish' }], [], null, 'restore', { put: 'restore' }] as Json[])
      expect(importOf(operation)).toBeNull()
  })
})
