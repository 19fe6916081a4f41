import { describe, expect, it } from 'vitest'
import { defineResource, type Json, OpRefused, type ReducerState } from '../../shared/resource/define.ts'
import { KEY_VALUE_LIMITS, readKey } from '../../shared/resource/key-value.ts'
import { changeCell } from '../../shared/resource/replica.ts'
import type { Cells } from '../../shared/resource/resource.ts'

/** A state, and what a reducer makes of it: one function for each op of a batch. */
function run(cells: Cells, ...ops: ((state: ReducerState) => unknown)[]): Json {
  const resource = defineResource<number>({
    name: 'test',
    apply: (state, index) => ops[index]!(state) as Json,
  })
  const { result, changes } = resource.apply(cells, [...ops.keys()], 7)
  for (const change of changes) changeCell(cells, change)
  return result
}

const set = (key: string, value: Json) => (state: ReducerState) => {
  state.set(key, value)
  return 'set'
}
const get = (key: string) => (state: ReducerState) => state.get(key) ?? 'absent'
const fail = () => {
  throw new TypeError('a text that may differ')
}

describe('a reducer', () => {
  it('sees what those before it in the batch did, and its keys have revisions', () => {
    const cells: Cells = {}
    expect(run(cells, get('a'), set('a', 1), get('a'))).toEqual({
      applied: true,
      results: ['absent', 'set', 1],
    })
    expect(readKey(cells, 'a')).toEqual({ value: 1, revision: 7 })
  })

  it('deletes, and what a batch made and deleted was never there', () => {
    const cells: Cells = {}
    run(cells, set('a', 1), set('b', null))
    run(cells, state => {
      state.delete('a')
      state.set('c', 1)
      state.delete('c')
      return [state.get('a') ?? 'absent', state.get('b') ?? 'null', state.get('c') ?? 'absent']
    })
    expect(Object.keys(cells)).toEqual(['=b'])
  })

  it('that refuses or throws has changed nothing, and says so in the same way everywhere', () => {
    const cells: Cells = {}
    const refuse = () => {
      throw new OpRefused({ error: 'full', most: 3 })
    }
    const skipped = { applied: false }
    expect(run(cells, set('a', 1), refuse, set('b', 1))).toEqual({
      applied: false,
      results: [skipped, { error: 'full', most: 3 }, skipped],
    })
    expect(run(cells, set('a', 1), fail)).toEqual({
      applied: false,
      results: [skipped, { error: 'operation_failed' }],
    })
    expect(cells).toEqual({})
  })

  it('cannot change the state but by set and delete', () => {
    const cells: Cells = {}
    const list = [1]
    run(cells, set('list', list))
    list.push(2)
    expect(run(cells, state => (state.get('list') as number[]).push(3))).toEqual({
      applied: true,
      results: [2],
    })
    expect(readKey(cells, 'list').value).toEqual([1])
  })

  it.each([
    ['a value that is too heavy', 'too_large', set('a', 'x'.repeat(KEY_VALUE_LIMITS.valueWeight))],
    ['results that are too heavy', 'too_large', () => 'x'.repeat(KEY_VALUE_LIMITS.readWeight)],
    ['a key that is too long', 'malformed', set('x'.repeat(KEY_VALUE_LIMITS.keyLength + 1), 1)],
    ['a key that is not Unicode', 'malformed', set('\ud800', 1)],
    ['no result', 'operation_failed', () => undefined],
    ['what is no JSON', 'operation_failed', () => 1n],
    ['a value that holds itself', 'too_large', set('a', circle())],
  ])('is stopped at %s', (_, error, op) => {
    const cells: Cells = {}
    expect(run(cells, op)).toMatchObject({ applied: false, results: [{ error }] })
    expect(cells).toEqual({})
  })

  it('refuses what is heavier than a row with less', () => {
    const refuse = () => {
      throw new OpRefused({ error: 'x'.repeat(KEY_VALUE_LIMITS.valueWeight) })
    }
    expect(run({}, refuse)).toEqual({ applied: false, results: [{ error: 'too_large' }] })
  })

  it('keeps in memory what storage would give back', () => {
    const cells: Cells = {}
    run(cells, set('a', { nothing: undefined, notANumber: Number.NaN, minusZero: -0 } as unknown as Json))
    expect(readKey(cells, 'a').value).toStrictEqual({ notANumber: null, minusZero: 0 })
  })
})

function circle(): Json {
  const value: { [key: string]: Json } = {}
  value.self = value
  return value
}
