/**
 * From the result of an operation to what its client is told. The built-in resource and those made with
 * `defineResource` answer a batch with `{applied, results}`. Any other resource may answer anything: then
 * that is the one result of the whole batch, and one with an `error` says that nothing was applied.
 */
import type { Json } from '../../../shared/json.ts'
import { isList } from '../../../shared/resource/canonical.ts'
import { OPERATION_CONFLICT } from '../../../shared/resource/replica.ts'

export type OutcomeBody = { readonly applied: boolean; readonly results: readonly Json[] }

/**
 * `null`: the `opId` belongs to another operation. Known by identity: a resource may have a conflict of its
 * own to tell of.
 */
export function outcomeBody(result: Json): OutcomeBody | null {
  if (result === OPERATION_CONFLICT) return null
  if (isBatchResult(result)) return result
  return { applied: !hasError(result), results: [result ?? null] }
}

function isBatchResult(result: Json): result is OutcomeBody {
  const { applied, results } = (result ?? {}) as { readonly [member: string]: Json }
  return typeof applied === 'boolean' && results !== undefined && isList(results)
}

function hasError(result: Json): boolean {
  return (result as { readonly error?: Json } | null)?.error !== undefined
}
