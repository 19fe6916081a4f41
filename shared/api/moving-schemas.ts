/** What an export holds, and an import takes. */
import * as z from 'zod'
import type { Json } from '../json.ts'
import { API_LIMITS } from './limits.ts'
import {
  component,
  fence,
  follow,
  heartbeatMs,
  isWellFormed,
  localHandoffs,
  lockName,
  participantId,
  sequence,
  timeoutMs,
  ttlMs,
} from './primitives.ts'
import { protocolName, protocolOptions } from './protocol-options.ts'

/** How deep and how large it may be is checked by whoever reads it. */
const anything = z.unknown() as z.ZodType<Json>

const location = z.string().nullable().describe('A Cloudflare location hint; null for anywhere.')

const configuration = z
  .strictObject({
    protocol: protocolName,
    participants: z
      .array(z.strictObject({ id: participantId, location }))
      .min(API_LIMITS.participants.least)
      .max(API_LIMITS.participants.most)
      .describe('Where the replicas lived.'),
    ttlMs,
    detector: z
      .strictObject({ heartbeatMs, timeoutMs })
      .describe('How the loss of a participant is noticed.'),
    localHandoffs,
    follow: follow.optional(),
    options: protocolOptions.optional().describe('The variants of the protocol, if it has any.'),
  })
  .describe('What the lock was made of.')

const result = z.strictObject({
  opId: z
    .string()
    .max(4 * API_LIMITS.opIdLength)
    .describe('Of the operation.'),
  sequence,
  digest: z.string().max(API_LIMITS.opIdLength).describe('Of what the operation said.'),
  result: anything.describe('What it answered.'),
  fence: fence.optional(),
})

/** Far above all that a lock can reach; the fences after it are safe integers for ever. */
const MOST = 2 ** 40

const isCell = (text: string): boolean => text.startsWith('=') && isWellFormed(text)

const fields = {
  format: z.literal(1).describe('The format of this export.'),
  lock: lockName,
  resource: z.string().max(API_LIMITS.opIdLength).describe('What the lock guards.'),
  configuration,
  epoch: z
    .int()
    .min(0)
    .max(MOST)
    .describe('A lock that is made from this begins in this epoch, or in a later one.'),
  sequence: sequence.max(MOST).describe('A lock that is made from this goes on after this place of the log.'),
  droppedThrough: z.int().min(0).describe('The sequence of the newest result that was forgotten.'),
  cells: z
    .array(
      z.strictObject({
        cell: z
          .string()
          .max(1 + API_LIMITS.keyLength)
          .refine(isCell, { error: 'must be = and a key, in well-formed Unicode' })
          .meta({ pattern: '^=' })
          .describe('Of the built-in resource: `=` and the key.'),
        value: z
          .strictObject({
            value: anything.describe('What is under the key.'),
            revision: sequence.describe('The sequence of the operation that wrote it.'),
          })
          .describe('The value and its revision.'),
      }),
    )
    .describe('The state that the lock guards.'),
  results: z
    .array(result)
    .max(API_LIMITS.resultsKept)
    .describe('Those that are remembered, the oldest first.'),
}

export const exportAnswer = component('Export', z.object(fields))
export const importBody = component('Import', z.strictObject(fields))
