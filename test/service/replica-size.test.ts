/** The weight of a replica is updated step by step; here it is compared with weighing everything anew. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { type KeyValueOp, keyValue } from '../../shared/resource/key-value.ts'
import { emptyReplica, type Invocation, invoke, type Replica } from '../../shared/resource/replica.ts'
import { ReplicaSize } from '../../worker/participant/core/replica-size.ts'

const HEAVY = 'x'.repeat(128_000)

function run(replica: Replica, size: ReplicaSize, invocation: Invocation, resultsKept = 10): void {
  const { changes } = invoke(keyValue, replica, resultsKept, invocation)
  size.applied(invocation.opId, changes)
}

function filled(entries: number): { replica: Replica; size: ReplicaSize } {
  const replica = emptyReplica(keyValue)
  const size = new ReplicaSize(keyValue, () => replica)
  for (let index = 1; index <= entries; index++)
    run(replica, size, putOf(index, [{ put: `key/${index}`, value: HEAVY }]))
  return { replica, size }
}

const putOf = (sequence: number, operation: readonly KeyValueOp[]): Invocation => ({
  sequence,
  opId: `op/${sequence}`,
  operation,
})

const FULL = Math.floor(API_LIMITS.stateWeight / (HEAVY.length + 50))

describe('the weight of a replica', () => {
  const key = fc.constantFrom('a', 'b', 'c')
  const op: fc.Arbitrary<KeyValueOp> = fc.oneof(
    fc.record({ put: key, value: fc.jsonValue() }) as fc.Arbitrary<KeyValueOp>,
    fc.record({ delete: key }),
    fc.record({ increment: key }),
    fc.record({ get: key }),
    fc.record({ append: key, value: fc.string() }),
  )

  it('is the same kept step by step as weighed at once, also of the results', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30), fc.array(op, { minLength: 1 }))), batches => {
        const replica = emptyReplica(keyValue)
        const kept = new ReplicaSize(keyValue, () => replica)
        batches.forEach(([opId, operation], index) => {
          run(replica, kept, { sequence: index + 1, opId: String(opId), operation })
          const anew = new ReplicaSize(keyValue, () => replica)
          expect([kept.weight, kept.weightOfResults]).toEqual([anew.weight, anew.weightOfResults])
        })
      }),
    )
  })

  it('grows with what is put and is nothing when all is deleted', () => {
    const { replica, size } = filled(3)
    expect(size.weight).toBeGreaterThan(3 * HEAVY.length)
    run(replica, size, putOf(4, [{ delete: 'key/1' }, { delete: 'key/2' }, { delete: 'key/3' }]))
    expect(size.weight).toBe(0)
  })
})

describe('what is too much', () => {
  it('is what makes a full state heavier, and nothing that makes it lighter', () => {
    const { size } = filled(FULL)
    const ops = (...operation: KeyValueOp[]) => size.isTooMuch(putOf(FULL + 1, operation), [])
    expect(ops({ put: 'another', value: HEAVY })).toBe(true)
    expect(ops({ put: 'key/1', value: HEAVY })).toBe(false)
    expect(ops({ delete: 'key/1' })).toBe(false)
    expect(ops({ delete: 'key/1' }, { put: 'another', value: HEAVY })).toBe(false)
  })

  it('depends on what is on the way', () => {
    const next = putOf(FULL + 2, [{ put: 'another', value: HEAVY }])
    const removal = putOf(FULL + 1, [{ delete: 'key/1' }])
    expect(filled(FULL).size.isTooMuch(next, [removal])).toBe(false)
    const addition = putOf(FULL + 1, [{ put: 'more', value: HEAVY }])
    const { replica, size } = filled(FULL - 1)
    expect(size.isTooMuch(next, [])).toBe(false)
    expect(size.isTooMuch(next, [addition])).toBe(true)
    // Looking ahead changes nothing.
    expect(Object.keys(replica.cells)).toHaveLength(FULL - 1)
  })

  it('is not what a batch would write that fails', () => {
    const { size } = filled(FULL)
    const failing = putOf(FULL + 1, [{ put: 'another', value: HEAVY, ifRevision: 5 }])
    expect(size.isTooMuch(failing, [])).toBe(false)
  })
})
