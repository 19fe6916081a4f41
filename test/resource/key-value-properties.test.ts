import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import { canonical } from '../../shared/resource/canonical.ts'
import {
  cellOfKey,
  type KeyValueOp,
  type KeyValueResult,
  keyOfCell,
  keyValue,
} from '../../shared/resource/key-value.ts'
import type { Cells } from '../../shared/resource/resource.ts'
import { applyToModel, type Model } from './model.ts'
import { change, Store } from './store.ts'

// Few keys and revisions, so that ops meet each other.
const key = fc.constantFrom('a', 'b', '__proto__', 'constructor')
const value: fc.Arbitrary<Json> = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom<Json>(null, 'text', [], ['x'], { inner: [1] }, Number.MAX_SAFE_INTEGER, -0),
)
const ifRevision = fc.nat({ max: 4 })
const op: fc.Arbitrary<KeyValueOp> = fc.oneof(
  fc.record({ put: key, value, ifRevision }, { requiredKeys: ['put', 'value'], noNullPrototype: true }),
  fc.record({ delete: key, ifRevision }, { requiredKeys: ['delete'], noNullPrototype: true }),
  fc.record({ get: key }, { noNullPrototype: true }),
  fc.record(
    { increment: key, by: fc.constantFrom(0, 1, -2, 0.5, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE) },
    { requiredKeys: ['increment'], noNullPrototype: true },
  ),
  fc.record({ append: key, value }, { noNullPrototype: true }),
)
const batch = fc.array(op, { maxLength: 4 })
const batches = fc.array(batch, { maxLength: 12 })

const anyJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
/** Almost ops: the right fields with any values, together with any others. */
const nearlyOp = fc.dictionary(
  fc.constantFrom(
    'put',
    'delete',
    'get',
    'increment',
    'append',
    'value',
    'ifRevision',
    'by',
    '__proto__',
    'x',
  ),
  fc.oneof(key as fc.Arbitrary<Json>, fc.nat({ max: 3 }), anyJson),
  { maxKeys: 3, noNullPrototype: true },
) as fc.Arbitrary<Json>
const anyOperation = fc.oneof(
  anyJson,
  fc.array(fc.oneof(op as fc.Arbitrary<Json>, nearlyOp, anyJson), { maxLength: 4 }),
)

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}

function storeAfter(operations: readonly Json[]): Store {
  const store = new Store()
  for (const operation of operations) store.run(operation)
  return store
}

describe('against the model', () => {
  it('gives the same results and the same state, for any batches', () => {
    const seen = new Map<string, number>()
    fc.assert(
      fc.property(batches, operations => {
        const store = new Store()
        let model: Model = new Map()
        for (const operation of operations) {
          const result = store.run(operation)
          const [next, expected] = applyToModel(model, operation, store.sequence)
          model = next
          expect(canonical(result)).toBe(canonical(expected))
          expect(stateOf(store.cells)).toBe(
            canonical([...model].sort(byKey).map(([key, cell]) => [key, cell])),
          )
          for (const kind of kindsOf(operation, result)) seen.set(kind, (seen.get(kind) ?? 0) + 1)
        }
      }),
      { numRuns: 2_000 },
    )
    // A run in which nothing interesting happened has proved nothing.
    const kinds = [
      'applied',
      'revision_mismatch',
      'not_a_number',
      'not_a_list',
      'out_of_range',
      'condition held',
    ]
    for (const kind of kinds) expect(seen.get(kind), kind).toBeGreaterThan(10)
  })
})

function byKey([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}

function stateOf(cells: Cells): string {
  return canonical(
    Object.entries(cells)
      .map(([cell, content]): [string, Json] => [keyOfCell(cell), content])
      .sort(byKey),
  )
}

function kindsOf(operation: readonly KeyValueOp[], result: KeyValueResult): string[] {
  if (!result.applied) return result.results.flatMap(one => ('error' in one ? [one.error] : []))
  return operation.some(op => 'ifRevision' in op && op.ifRevision! > 0)
    ? ['applied', 'condition held']
    : ['applied']
}

describe('any operation', () => {
  it('never throws, never changes its arguments, and answers with one result for each op', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(batches, anyOperation, (operations, operation) => {
        const { cells, sequence } = storeAfter(operations)
        const before = canonical([cells, operation])
        const { result, changes } = keyValue.apply(deepFreeze(cells), deepFreeze(operation), sequence + 1)
        expect(canonical([cells, operation])).toBe(before)
        const { applied, results } = result as KeyValueResult
        expect(results).toHaveLength(Array.isArray(operation) ? operation.length : 1)
        expect(results.filter(one => 'error' in one)).toHaveLength(applied ? 0 : 1)
        if (!applied) expect(changes).toEqual([])
        for (const one of results) seen.add('error' in one ? one.error : `${applied}`)
      }),
      { numRuns: 5_000 },
    )
    expect([...seen]).toEqual(expect.arrayContaining(['true', 'false', 'malformed', 'revision_mismatch']))
  })

  it('gives the same answer again, and after everything went through JSON', () => {
    fc.assert(
      fc.property(batches, anyOperation, (operations, operation) => {
        const { cells, sequence } = storeAfter(operations)
        const first = canonical({ ...keyValue.apply(cells, operation, sequence + 1) } as unknown as Json)
        const second = keyValue.apply(cells, operation, sequence + 1)
        const copies = JSON.parse(JSON.stringify({ cells, operation }))
        const third = keyValue.apply(copies.cells, copies.operation, sequence + 1)
        expect(canonical(second as unknown as Json)).toBe(first)
        expect(canonical(third as unknown as Json)).toBe(first)
      }),
      { numRuns: 2_000 },
    )
  })

  it('pollutes no prototype', () => {
    const before = Reflect.ownKeys(Object.prototype)
    fc.assert(fc.property(fc.array(anyOperation), operations => void storeAfter(operations)))
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before)
  })
})

describe('snapshot, restore and hash', () => {
  it('a restored replica has the same hash and goes on in the same way', () => {
    fc.assert(
      fc.property(batches, batches, (operations, more) => {
        const store = storeAfter(operations)
        const snapshot = JSON.stringify(keyValue.snapshot(store.cells))
        const copy = new Store()
        copy.cells = keyValue.restore(JSON.parse(snapshot))
        copy.sequence = store.sequence
        expect(keyValue.hash(copy.cells)).toBe(keyValue.hash(store.cells))
        // As text, because JSON does not keep a -0.
        for (const operation of more)
          expect(canonical(copy.run(operation))).toBe(canonical(store.run(operation)))
        expect(keyValue.hash(copy.cells)).toBe(keyValue.hash(store.cells))
      }),
    )
  })

  it('a snapshot stays as it is while the replica goes on, and so does the replica restored from it', () => {
    fc.assert(
      fc.property(batches, batches, (operations, more) => {
        const store = storeAfter(operations)
        const snapshot = keyValue.snapshot(store.cells)
        const before = canonical(snapshot)
        const copy = keyValue.restore(snapshot)
        for (const operation of more) store.run(operation)
        expect(canonical(snapshot)).toBe(before)
        change(copy, [{ cell: cellOfKey('a'), value: { value: 'changed', revision: 99 } }])
        expect(canonical(snapshot)).toBe(before)
      }),
    )
  })

  it('the hash does not depend on the order of writing, and differs between states that differ', () => {
    fc.assert(
      fc.property(batches, batches, (left, right) => {
        const cells = storeAfter(left).cells
        const others = storeAfter(right).cells
        expect(keyValue.hash(Object.fromEntries(Object.entries(cells).reverse()))).toBe(keyValue.hash(cells))
        expect(keyValue.hash(cells) === keyValue.hash(others)).toBe(stateOf(cells) === stateOf(others))
      }),
    )
  })

  it('what is not a snapshot is refused', () => {
    const bad: Json[] = [
      null,
      [],
      'text',
      { a: { value: 1, revision: 1 } },
      { '=a': null },
      { '=a': 1 },
      { '=a': { value: 1 } },
      { '=a': { revision: 1 } },
      { '=a': { value: 1, revision: -1 } },
      JSON.parse('{"__proto__": {"value": 1, "revision": 1}}'),
    ]
    for (const snapshot of bad) expect(() => keyValue.restore(snapshot)).toThrow('snapshot')
  })
})
