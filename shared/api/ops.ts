/** Ops of the built-in resource and their results, as the public contract has them. */
import * as z from 'zod'
import type { Json } from '../json.ts'
import { MAX_DEPTH, weight } from '../resource/canonical.ts'
import type { KeyValueOp } from '../resource/key-value.ts'
import { API_LIMITS, OP_DEPTH } from './limits.ts'
import { component, json, key, opId, revision } from './primitives.ts'
import type { FieldError } from './problems.ts'

const value = json as unknown as z.ZodType<Json>
const ifRevision = z
  .int()
  .min(0)
  .optional()
  .describe('Only if the key has this revision; 0: only if it does not exist.')

/** By the field that says what the op does. */
export const OP_SHAPES = {
  put: z.strictObject({ put: key.describe('The key to set.'), value, ifRevision }).describe('Set a key.'),
  delete: z
    .strictObject({ delete: key.describe('The key to delete.'), ifRevision })
    .describe('Delete a key.'),
  get: z.strictObject({ get: key.describe('The key to read.') }).describe('Read a key.'),
  increment: z
    .strictObject({
      increment: key.describe('The key whose number is changed; an absent one counts as 0.'),
      by: z.number().optional().describe('What is added. Default: 1.'),
    })
    .describe('Add to a number.'),
  append: z
    .strictObject({ append: key.describe('The key whose list grows; an absent one becomes a list.'), value })
    .describe('Append a value to a list.'),
}
export const OP_NAMES = Object.keys(OP_SHAPES) as readonly (keyof typeof OP_SHAPES)[]

const { put, delete: del, get, increment, append } = OP_SHAPES
const shapes = component('Op', z.union([put, del, get, increment, append]))

/**
 * zod cannot say that an optional field is absent rather than `undefined`; after `JSON.parse` it always is.
 */
export const op = shapes as z.ZodType<unknown> as z.ZodType<KeyValueOp>

export const ops = z.array(op).min(1).meta({
  maxItems: API_LIMITS.opsPerBatch,
  description: 'What to do, in this order: all of it, or nothing.',
})

/** Ops of a registered resource: what they are made of is between the client and that resource. */
export const foreignOps = z.array(value).min(1)

export const opResult = component(
  'OpResult',
  z.union([
    z.object({ value, revision }).describe('Of get (null and 0 when absent) and increment.'),
    z
      .object({ length: z.int().min(0).describe('How long the list is now.'), revision })
      .describe('Of append.'),
    z.object({ revision }).describe('Of put.'),
    z.object({ deleted: z.boolean().describe('false if there was no such key.') }).describe('Of delete.'),
    z
      .object({
        error: z
          .enum(['revision_mismatch', 'not_a_number', 'not_a_list', 'out_of_range', 'too_large', 'malformed'])
          .describe('Why the op failed.'),
        revision: revision.optional(),
        detail: z.string().optional().describe('More about it.'),
      })
      .describe('Of the op that failed: nothing of its batch was applied.'),
    z.object({ applied: z.literal(false) }).describe('Of the other ops of a batch that failed.'),
  ]),
)

/** The body of every call that applies something. */
export const operation = { opId, ops }

/**
 * What part of a batch is over its limit. This is checked first, because it costs nothing then: the schema
 * would walk through a hundred thousand ops to say what is wrong with each.
 */
export function findOversized(ops: unknown, isKeyValue: boolean): FieldError[] {
  if (!Array.isArray(ops)) return []
  if (ops.length > API_LIMITS.opsPerBatch)
    return [oversized('ops', `must have at most ${API_LIMITS.opsPerBatch} ops`)]
  const errors = isKeyValue ? ops.flatMap((one: Json, index) => findOversizedIn(one, `ops.${index}`)) : []
  if (errors.length === 0 && weight(ops as Json, API_LIMITS.batchWeight) > API_LIMITS.batchWeight) {
    errors.push(
      oversized(
        'ops',
        `must weigh at most ${API_LIMITS.batchWeight} units, and be nested at most ${MAX_DEPTH} levels deep`,
      ),
    )
  }
  return errors.slice(0, API_LIMITS.errorsListed)
}

function findOversizedIn(one: Json, path: string): FieldError[] {
  if (typeof one !== 'object' || one === null) return []
  const fields = one as { readonly [field: string]: Json }
  const errors: FieldError[] = []
  for (const field of OP_NAMES) {
    const named = fields[field]
    if (typeof named === 'string' && named.length > API_LIMITS.keyLength) {
      errors.push(oversized(`${path}.${field}`, `must have at most ${API_LIMITS.keyLength} characters`))
    }
  }
  const { value } = fields
  if (value !== undefined && weight(value, API_LIMITS.valueWeight, OP_DEPTH) > API_LIMITS.valueWeight) {
    const message = `must weigh at most ${API_LIMITS.valueWeight} units, and be nested at most ${API_LIMITS.depth} levels deep`
    errors.push(oversized(`${path}.value`, message))
  }
  return errors
}

function oversized(path: string, message: string): FieldError {
  return { in: 'body', path, message }
}
