/**
 * The key-value map once more, deliberately naive: every op is tried on a copy of the whole map, and the copy
 * is thrown away if one fails. It knows only well-formed ops, and no limits.
 */
import type { Json } from '../../shared/json.ts'
import type { KeyValueOp } from '../../shared/resource/key-value.ts'

export type Model = Map<string, { value: Json; revision: number }>

export function applyToModel(before: Model, ops: readonly KeyValueOp[], sequence: number): [Model, Json] {
  const model: Model = new Map(before)
  const results: Json[] = []
  for (const [index, op] of ops.entries()) {
    const result = applyOp(model, op, sequence)
    if (
      result === 'mismatch' ||
      result === 'not_a_number' ||
      result === 'not_a_list' ||
      result === 'out_of_range'
    ) {
      const failure =
        result === 'mismatch'
          ? { error: 'revision_mismatch', revision: before.get(keyOf(op))?.revision ?? 0 }
          : { error: result }
      return [
        before,
        { applied: false, results: ops.map((_, other) => (other === index ? failure : { applied: false })) },
      ]
    }
    results.push(result)
  }
  return [model, { applied: true, results }]
}

function keyOf(op: KeyValueOp): string {
  return Object.entries(op).find(([field]) => ['put', 'delete'].includes(field))![1] as string
}

function applyOp(model: Model, op: KeyValueOp, sequence: number): Json {
  if ('put' in op) {
    if ('ifRevision' in op && op.ifRevision !== (model.get(op.put)?.revision ?? 0)) return 'mismatch'
    model.set(op.put, { value: op.value, revision: sequence })
    return { revision: sequence }
  }
  if ('delete' in op) {
    if ('ifRevision' in op && op.ifRevision !== (model.get(op.delete)?.revision ?? 0)) return 'mismatch'
    return { deleted: model.delete(op.delete) }
  }
  if ('get' in op) return { ...(model.get(op.get) ?? { value: null, revision: 0 }) }
  if ('increment' in op) {
    const present = model.has(op.increment) ? model.get(op.increment)!.value : 0
    if (typeof present !== 'number') return 'not_a_number'
    const value = present + ('by' in op ? op.by! : 1)
    if (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER) return 'out_of_range'
    model.set(op.increment, { value, revision: sequence })
    return { value, revision: sequence }
  }
  const present = model.has(op.append) ? model.get(op.append)!.value : []
  if (!Array.isArray(present)) return 'not_a_list'
  const value = present.concat([op.value])
  model.set(op.append, { value, revision: sequence })
  return { length: value.length, revision: sequence }
}
