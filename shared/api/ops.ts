/** Ops of the built-in resource and their results, as the public contract has them. */
import * as z from 'zod'
import type { Json } from '../json.ts'
import { weight } from '../resource/canonical.ts'
import type { KeyValueOp } from '../resource/key-value.ts'
import { API_LIMITS } from './limits.ts'
import { component, json, key, opId, revision } from './primitives.ts'
import type { FieldError } from './problems.ts'

const value = json as unknown as z.ZodType<Json>
const ifRevision = z
  .int()
  .min(0)
  .optional()
  .describe('Only if the key has this revision; 0: only if it does not exist.')

const shapes = component(
  'Op',
  z.union([
    z.strictObject({ put: key, value, ifRevision }),
    z.strictObject({ delete: key, ifRevision }),
    z.strictObject({ get: key }),
    z.strictObject({ increment: key, by: z.number().optional() }),
    z.strictObject({ append: key, value }),
  ]),
)

/**
 * zod cannot say that an optional field is absent rather than `undefined`; after `JSON.parse` it always is.
 */
export const op = shapes as z.ZodType<unknown> as z.ZodType<KeyValueOp>

export const ops = z.array(op).min(1).meta({ maxItems: API_LIMITS.opsPerBatch })

/** Ops of a registered resource: what they are made of is between the client and that resource. */
export const foreignOps = z.array(value).min(1)

export const opResult = component(
  'OpResult',
  z.union([
    z.object({ value, revision }).describe('Of get (null and 0 when absent) and increment.'),
    z.object({ length: z.int().min(0), revision }).describe('Of append.'),
    z.object({ revision }).describe('Of put.'),
    z.object({ deleted: z.boolean() }).describe('Of delete.'),
    z
      .object({
        error: z.enum([
          'revision_mismatch',
          'not_a_number',
          'not_a_list',
          'out_of_range',
          'too_large',
          'malformed',
        ]),
        revision: revision.optional(),
        detail: z.string().optional(),
      })
      .describe('Of the op that failed: nothing of its batch was applied.'),
    z.object({ applied: z.literal(false) }).describe('Of the other ops of a batch that failed.'),
  ]),
)

/** The body of every call that applies something. */
export const operation = { opId, ops }

const KEY_FIELDS = ['put', 'delete', 'get', 'increment', 'append'] as const

/**
 * What part of a batch is over its limit. This is checked first, because it costs nothing then: the schema
 * would walk through a hundred thousand ops to say what is wrong with each.
 */
export function findOversized(ops: unknown, isKeyValue: boolean): FieldError[] {
  if (!Array.isArray(ops)) return []
  if (ops.length > API_LIMITS.opsPerBatch)
    return [oversized('ops', `more than ${API_LIMITS.opsPerBatch} ops`)]
  const errors = isKeyValue ? ops.flatMap((one: Json, index) => findOversizedIn(one, `ops.${index}`)) : []
  if (errors.length === 0 && weight(ops as Json, API_LIMITS.batchWeight) > API_LIMITS.batchWeight) {
    errors.push(
      oversized('ops', `heavier than ${API_LIMITS.batchWeight}, or nested deeper than ${API_LIMITS.depth}`),
    )
  }
  return errors.slice(0, API_LIMITS.errorsListed)
}

function findOversizedIn(one: Json, path: string): FieldError[] {
  if (typeof one !== 'object' || one === null) return []
  const fields = one as { readonly [field: string]: Json }
  const errors: FieldError[] = []
  for (const field of KEY_FIELDS) {
    const named = fields[field]
    if (typeof named === 'string' && named.length > API_LIMITS.keyLength) {
      errors.push(oversized(`${path}.${field}`, `longer than ${API_LIMITS.keyLength}`))
    }
  }
  if (fields.value !== undefined && weight(fields.value, API_LIMITS.valueWeight) > API_LIMITS.valueWeight) {
    const message = `heavier than ${API_LIMITS.valueWeight}, or nested deeper than ${API_LIMITS.depth}`
    errors.push(oversized(`${path}.value`, message))
  }
  return errors
}

function oversized(path: string, message: string): FieldError {
  return { in: 'body', path, message }
}
