/**
 * What sessions and watches send, as schemas: OpenAPI shows them, and tests hold every event against them.
 * The types beside them (session.ts, watch.ts) are what the client uses, which has no use for a validator.
 */
import * as z from 'zod'
import { opResult } from './ops.ts'
import {
  component,
  consistency,
  epoch,
  fence,
  json,
  key,
  opId,
  owner,
  participantId,
  revision,
  sequence,
  timestamp,
  ttlMs,
} from './primitives.ts'
import { PROBLEM_CODES, type ProblemCode } from './problems.ts'

// ---------------------------------------------------------------- session

const applied = z
  .boolean()
  .describe('false if a condition did not hold: then nothing of the batch was applied.')
const outcome = z.enum(['applied', 'not-applied', 'unknown']).describe('What became of the operation.')

export const sessionEvent = component(
  'SessionEvent',
  z.discriminatedUnion('type', [
    z
      .object({
        type: z.literal('crit'),
        fence,
        epoch,
        ttlMs: ttlMs.describe('The grant ends if the client gives no sign of life for so long.'),
      })
      .describe('The lock is yours.'),
    z
      .object({
        type: z.literal('outcome'),
        opId,
        fence: fence.optional().describe('Of the answer to a transact: that of its grant.'),
        sequence,
        applied,
        results: z.array(opResult).describe('One for each op, in their order.'),
      })
      .describe('The answer to an issue or a transact.'),
    z
      .object({ type: z.literal('value'), key, consistency, value: json, revision, sequence })
      .describe('The answer to a get.'),
    z.object({ type: z.literal('rem') }).describe('The lock is released: the answer to an exit.'),
    z
      .object({
        type: z.literal('ejected'),
        reason: z.enum(['suspected', 'operator', 'expired']).describe('Why the lock was lost.'),
        pending: z.object({ opId, outcome }).optional().describe('The operation that was under way.'),
      })
      .describe('The lock is lost.'),
    z
      .object({
        type: z.literal('error'),
        code: z.enum(PROBLEM_CODES as readonly [ProblemCode, ...ProblemCode[]]).describe('As in a Problem.'),
        detail: z.string().describe('What was wrong.'),
        opId: z.string().optional().describe('Of the transact that is refused.'),
        key: z.string().optional().describe('Of the get that is refused.'),
        consistency: consistency.optional().describe('Of the get that is refused.'),
        outcome: outcome.optional(),
        retryable: z.boolean().optional().describe('Whether it makes sense to ask again.'),
        retryAfterSeconds: z.number().optional().describe('When it makes sense to ask again.'),
        lost: z
          .literal(true)
          .optional()
          .describe(
            'The participant began anew: every transact and get that had reached it and was not answered before this never will be. One that was on its way meanwhile still may be.',
          ),
      })
      .describe(
        'A message was out of turn, malformed or refused, or the lock was not granted. The session stays open.',
      ),
    z
      .object({
        type: z.literal('probe'),
        id: z.string().describe('Send it back.'),
      })
      .describe('Answer with the same message, to show that you have read everything before it.'),
  ]),
)

// ---------------------------------------------------------------- watch

const entry = z.object({ key, value: json, revision })

export const watchOp = component(
  'WatchOp',
  z
    .object({
      sequence,
      fence: fence.describe('Of the grant under which it was applied.'),
      opId,
      changes: z
        .array(z.union([entry, z.object({ key, deleted: z.literal(true).describe('The key is gone.') })]))
        .describe('The keys that it changed.'),
    })
    .describe('An operation was applied.'),
)

export const watchHolder = component(
  'WatchHolder',
  z
    .union([
      z.object({
        sequence,
        participant: participantId,
        fence,
        since: timestamp.optional().describe('Since when it is held.'),
        expiresAt: timestamp.optional().describe('When the grant ends unless it is kept alive.'),
        owner: owner.optional().describe('What the holder calls itself, if it said so.'),
      }),
      z.object({
        sequence,
        participant: z
          .null()
          .describe('Nobody holds the lock: it was released, it expired, or it was ended.'),
      }),
    ])
    .describe(
      'The lock went to a user of this participant, or nobody holds it any more. The sequence is that of the grant in the log or, if this is not in the log, of what you were told before.',
    ),
)

export const watchSnapshot = component(
  'WatchSnapshot',
  z
    .object({
      sequence,
      anew: z
        .literal(true)
        .optional()
        .describe(
          'What you have seen may be another lock of this name, which was deleted: sequences begin anew with this.',
        ),
      entries: z.array(entry).describe('All keys and their values.'),
    })
    .describe(
      'What you asked for is no longer kept: this is the whole state instead, and events go on from here.',
    ),
)

/** By the name of the event. */
export const watchEvents = { op: watchOp, holder: watchHolder, snapshot: watchSnapshot }
