import { describe, expect, it } from 'vitest'
import { cellOfKey, keyOfCell, keyValue, readKey } from '../../shared/resource/key-value.ts'
import { applied, NOT_APPLIED, refused, Store, storeWith } from './store.ts'

describe('ops and their results', () => {
  it('put answers the revision, which is the sequence', () => {
    const store = storeWith([{ put: 'a', value: { deep: [1, null] } }])
    expect(store.run([{ put: 'a', value: 'x' }])).toEqual(applied({ revision: 2 }))
    expect(store.run([{ get: 'a' }])).toEqual(applied({ value: 'x', revision: 2 }))
  })

  it('put of the same value is a change', () => {
    const store = storeWith([{ put: 'a', value: 1 }], [{ put: 'a', value: 1 }])
    expect(store.read('a')).toEqual({ value: 1, revision: 2 })
  })

  it('get of an absent key answers null and 0; null is a value too', () => {
    const store = storeWith([{ put: 'null', value: null }])
    expect(store.run([{ get: 'a' }, { get: 'null' }])).toEqual(
      applied({ value: null, revision: 0 }, { value: null, revision: 1 }),
    )
    expect(store.run([{ put: 'null', value: 1, ifRevision: 0 }])).toMatchObject({ applied: false })
  })

  it('delete says whether there was something to delete', () => {
    const store = storeWith([{ put: 'a', value: null }])
    expect(store.run([{ delete: 'a' }, { delete: 'a' }, { delete: 'b' }])).toEqual(
      applied({ deleted: true }, { deleted: false }, { deleted: false }),
    )
    expect(store.read('a')).toEqual({ value: null, revision: 0 })
    expect(store.cells).toEqual({})
  })

  it('increment counts from 0, by 1 or by any number', () => {
    const store = storeWith([{ put: 'a', value: 0.5 }])
    expect(store.run([{ increment: 'n' }, { increment: 'n', by: -3 }, { increment: 'a', by: 0.25 }])).toEqual(
      applied({ value: 1, revision: 2 }, { value: -2, revision: 2 }, { value: 0.75, revision: 2 }),
    )
    expect(store.run([{ increment: 'n', by: 0 }])).toEqual(applied({ value: -2, revision: 3 }))
  })

  it('increment never makes a -0, which JSON does not keep', () => {
    const store = storeWith([{ put: 'a', value: -0 }])
    expect(store.run([{ increment: 'a', by: -0 }])).toEqual(applied({ value: 0, revision: 2 }))
    expect(store.read('a')).toEqual({ value: 0, revision: 2 })
  })

  it('append makes the list when absent and answers its length', () => {
    const store = storeWith([{ append: 'list', value: 'x' }])
    expect(
      store.run([
        { append: 'list', value: null },
        { append: 'list', value: ['y'] },
      ]),
    ).toEqual(applied({ length: 2, revision: 2 }, { length: 3, revision: 2 }))
    expect(store.read('list')).toEqual({ value: ['x', null, ['y']], revision: 2 })
  })

  it('an empty batch is applied and changes nothing', () => {
    expect(keyValue.apply({}, [], 1)).toEqual({ result: applied(), changes: [] })
  })
})

describe('conditions', () => {
  it('ifRevision: 0 means "must not exist"', () => {
    const store = storeWith([{ put: 'a', value: 1, ifRevision: 0 }], [{ delete: 'b', ifRevision: 0 }])
    const mismatch = refused({ error: 'revision_mismatch', revision: 1 })
    expect(store.run([{ put: 'a', value: 2, ifRevision: 0 }])).toEqual(mismatch)
    expect(store.run([{ delete: 'a', ifRevision: 0 }])).toEqual(mismatch)
    expect(store.run([{ delete: 'a', ifRevision: 1 }])).toEqual(applied({ deleted: true }))
    expect(store.run([{ put: 'a', value: 3, ifRevision: 0 }])).toEqual(applied({ revision: 6 }))
  })

  it('ifRevision is the revision that the key has, whichever op gave it', () => {
    const store = storeWith([{ increment: 'n' }], [{ append: 'list', value: 1 }])
    expect(
      store.run([
        { put: 'n', value: 5, ifRevision: 1 },
        { delete: 'list', ifRevision: 2 },
      ]),
    ).toEqual(applied({ revision: 3 }, { deleted: true }))
    expect(store.run([{ delete: 'list', ifRevision: 2 }])).toEqual(
      refused({ error: 'revision_mismatch', revision: 0 }),
    )
  })

  it('increment and append fail on a value of another type, also on null', () => {
    const store = storeWith([
      { put: 'text', value: '1' },
      { put: 'null', value: null },
      { put: 'object', value: { length: 0 } },
    ])
    for (const key of ['text', 'null', 'object']) {
      expect(store.run([{ increment: key }])).toEqual(refused({ error: 'not_a_number' }))
      expect(store.run([{ append: key, value: 1 }])).toEqual(refused({ error: 'not_a_list' }))
    }
  })

  it('increment fails where adding would no longer count', () => {
    const max = Number.MAX_SAFE_INTEGER
    const store = storeWith([
      { put: 'max', value: max },
      { put: 'min', value: -max },
      { put: 'huge', value: Number.MAX_VALUE },
    ])
    for (const op of [
      { increment: 'max' },
      { increment: 'min', by: -1 },
      { increment: 'huge', by: -1 },
      { increment: 'huge', by: Number.MAX_VALUE },
      { increment: 'new', by: max + 1 },
    ]) {
      expect(store.run([op])).toEqual(refused({ error: 'out_of_range' }))
    }
    expect(
      store.run([
        { increment: 'max', by: -max },
        { increment: 'new', by: max },
      ]),
    ).toEqual(applied({ value: 0, revision: 7 }, { value: max, revision: 7 }))
  })
})

describe('batches', () => {
  it('later ops see what earlier ones did', () => {
    const store = storeWith([{ put: 'a', value: 1 }])
    const results = store.run([
      { increment: 'a' },
      { get: 'a' },
      { delete: 'a' },
      { get: 'a' },
      { append: 'a', value: 'x' },
      { put: 'b', value: 1, ifRevision: 0 },
    ])
    expect(results).toEqual(
      applied(
        { value: 2, revision: 2 },
        { value: 2, revision: 2 },
        { deleted: true },
        { value: null, revision: 0 },
        { length: 1, revision: 2 },
        { revision: 2 },
      ),
    )
  })

  it('a failed op makes the whole batch a no-op: it says why, each other that it was not applied', () => {
    const store = storeWith([{ put: 'a', value: 1 }])
    const before = structuredClone(store.cells)
    const batch = [
      { get: 'a' },
      { delete: 'a' },
      { put: 'b', value: 1, ifRevision: 7 },
      { increment: 'a' },
      'nonsense',
    ]
    expect(store.run(batch)).toEqual(
      refused(
        NOT_APPLIED,
        NOT_APPLIED,
        { error: 'revision_mismatch', revision: 0 },
        NOT_APPLIED,
        NOT_APPLIED,
      ),
    )
    expect(store.cells).toEqual(before)
  })

  it('a mismatch tells the revision that the key keeps, not one that never came to be', () => {
    const store = storeWith([{ put: 'a', value: 1 }])
    expect(
      store.run([
        { put: 'a', value: 2 },
        { put: 'a', value: 3, ifRevision: 1 },
      ]),
    ).toEqual(refused(NOT_APPLIED, { error: 'revision_mismatch', revision: 1 }))
  })

  it('changes each cell once, with the last value, and never mentions a key made and deleted within', () => {
    const batch = [{ put: 'a', value: 1 }, { put: 'b', value: 1 }, { increment: 'a' }, { delete: 'b' }]
    expect(keyValue.apply({}, batch, 9).changes).toEqual([
      { cell: cellOfKey('a'), value: { value: 2, revision: 9 } },
    ])
    const cells = { [cellOfKey('a')]: { value: 1, revision: 3 } }
    expect(keyValue.apply(cells, [{ delete: 'a' }], 9).changes).toEqual([
      { cell: cellOfKey('a'), value: null },
    ])
    expect(keyValue.apply(cells, [{ get: 'a' }], 9).changes).toEqual([])
  })

  it('sequence 0 is a defect, because revision 0 means "does not exist"', () => {
    expect(() => keyValue.apply({}, [], 0)).toThrow('sequence 0')
  })
})

describe('keys that objects have by themselves', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', '0', '=']

  it.each(names)('%j is a key like any other', name => {
    const store = storeWith([{ put: 'other', value: 1 }])
    expect(store.run([{ get: name }, { delete: name }])).toEqual(
      applied({ value: null, revision: 0 }, { deleted: false }),
    )
    expect(store.run([{ increment: name }, { put: name, value: { polluted: true }, ifRevision: 3 }])).toEqual(
      applied({ value: 1, revision: 3 }, { revision: 3 }),
    )
    expect(store.read(name)).toEqual({ value: { polluted: true }, revision: 3 })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    const copy = keyValue.restore(JSON.parse(JSON.stringify(keyValue.snapshot(store.cells))))
    expect(readKey(copy, name)).toEqual({ value: { polluted: true }, revision: 3 })
    expect(keyValue.hash(copy)).toBe(keyValue.hash(store.cells))
    expect(store.run([{ delete: name }])).toEqual(applied({ deleted: true }))
    expect(Object.keys(store.cells)).toEqual([cellOfKey('other')])
  })

  it('a cell has the name of its key', () => {
    for (const name of names) expect(keyOfCell(cellOfKey(name))).toBe(name)
  })

  it('an op cannot bring its fields in a prototype', () => {
    const op = JSON.parse('{"put": "a", "__proto__": {"value": 1}}')
    expect(new Store().run([op])).toMatchObject({ applied: false, results: [{ error: 'malformed' }] })
  })
})
