/**
 * What the service answers. These schemas describe and do not filter: the types of the client come from them, OpenAPI shows
 * them, and tests hold every answer against them. A client must live with members that it does not know.
 */
import * as z from 'zod'
import { opResult } from './ops.ts'
import {
  component,
  epoch,
  fence,
  grantId,
  json,
  key,
  localHandoffs,
  lockName,
  participantId,
  position,
  queueLength,
  revision,
  sequence,
  ticketId,
  timestamp,
  ttlMs,
} from './primitives.ts'
import { PROBLEM_CODES, type ProblemCode } from './problems.ts'

export const holder = component(
  'Holder',
  z.object({ participant: participantId, fence, expiresAt: timestamp }),
)

export const grant = component(
  'Grant',
  z.object({
    id: grantId.describe('Whoever knows it can use the grant.'),
    fence,
    participant: participantId,
    epoch,
    expiresAt: timestamp,
    ttlMs: ttlMs.optional(),
    confirmMs: z
      .int()
      .optional()
      .describe(
        'Only if the acquire named its waiter, and had to wait: the grant is over after so long unless it is used. A keepalive will do.',
      ),
  }),
)

export const ticket = component(
  'Ticket',
  z.object({ id: ticketId, position: position.describe('1: next.'), expiresAt: timestamp }),
)

export const grantAnswer = component('Granted', z.object({ grant }))
export const ticketAnswer = component('Waiting', z.object({ ticket }))

const applied = {
  sequence,
  applied: z.boolean().describe('false: a condition did not hold, and nothing of the batch was applied.'),
  results: z.array(opResult),
}
export const opsAnswer = component('Applied', z.object(applied))
export const transactAnswer = component('Transacted', z.object({ fence, ...applied }))
export const keepaliveAnswer = component('KeptAlive', z.object({ expiresAt: timestamp }))

export const stateAnswer = component('State', z.object({ key, value: json, revision, sequence }))
export const listAnswer = component(
  'StatePage',
  z.object({
    entries: z.array(z.object({ key, value: json, revision })),
    cursor: z.string().nullable().describe('For the next page; null on the last one.'),
    sequence,
  }),
)

const location = z.string().nullable().describe('A Cloudflare location hint; null for wherever.')
const placeView = z.object({ id: participantId, location })
export const configurationAnswer = component(
  'Configuration',
  z.object({
    lock: lockName,
    protocol: z.string(),
    participants: z.array(placeView),
    ttlMs,
    detector: z.object({ heartbeatMs: z.int(), timeoutMs: z.int() }),
    localHandoffs,
    options: z.looseObject({}).optional().describe("The lock's choice among the variants of its protocol."),
  }),
)

export const participantView = component(
  'Participant',
  z.object({
    id: participantId,
    location,
    reachable: z.boolean().describe('false: it did not answer, and what follows is null.'),
    phase: z.string().nullable(),
    epoch: epoch.nullable(),
    sequence: sequence.nullable(),
    owner: z.int().nullable().describe('Who has the token, as far as this participant knows.'),
    queue: queueLength.nullable().describe('How many users wait here.'),
    suspects: z.array(participantId).nullable(),
  }),
)
export const statusAnswer = component(
  'Status',
  z.object({
    lock: lockName,
    protocol: z.string(),
    participants: z.array(participantView),
    holder: holder.nullable(),
  }),
)

export const historyAnswer = component(
  'History',
  z.object({
    lock: lockName,
    protocol: z.string(),
    resource: z.string(),
    participants: z.array(
      z.object({
        id: participantId,
        reachable: z.boolean(),
        events: z
          .array(z.looseObject({ at: z.number(), type: z.string() }))
          .describe('User-stub and stub-resource events, newest last.'),
      }),
    ),
    cursor: z.string().nullable().describe('For the next page; null on the last one.'),
  }),
)

export const ejectAnswer = component('Ejected', z.object({ epoch }))
export const participantsAnswer = component(
  'Membership',
  z.object({ participants: z.array(placeView), configuration: z.int() }),
)
export const healthAnswer = component(
  'Health',
  z.object({
    status: z.literal('ok'),
    ledger: z.object({ healed: z.boolean(), unfinishedLocks: z.int().min(0) }).optional(),
  }),
)

export const problemAnswer = component(
  'Problem',
  z.looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(PROBLEM_CODES as readonly [ProblemCode, ...ProblemCode[]]),
    retryable: z.boolean(),
    outcome: z
      .enum(['applied', 'not-applied', 'unknown'])
      .optional()
      .describe(
        'What became of the operation at stake. not-applied: this request has not applied it and never will. After an earlier ' +
          'request without an answer, which may have applied it, that says nothing of the earlier one, unless settled is true.',
      ),
    settled: z
      .boolean()
      .optional()
      .describe('true: the outcome is that of the operation under its grant, whatever request brought it.'),
    errors: z
      .array(
        z.object({ in: z.enum(['body', 'query', 'path', 'header']), path: z.string(), message: z.string() }),
      )
      .optional(),
    holder: holder.optional(),
    requestId: z.string().optional(),
  }),
)
