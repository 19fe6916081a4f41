/**
 * What the service answers. These schemas describe and do not filter: the client's types come from them,
 * OpenAPI shows them, and tests check every answer against them. A client must accept members that it does
 * not know.
 */
import * as z from 'zod'
import { opResult } from './ops.ts'
import {
  component,
  epoch,
  fence,
  follow,
  grantId,
  heartbeatMs,
  json,
  key,
  localHandoffs,
  lockName,
  owner,
  participantId,
  position,
  queueLength,
  revision,
  sequence,
  ticketId,
  timeoutMs,
  timestamp,
  ttlMs,
} from './primitives.ts'
import { PROBLEM_CODES, type ProblemCode } from './problems.ts'

export const holder = component(
  'Holder',
  z.object({
    participant: participantId.describe('The participant that the holder uses.'),
    fence,
    expiresAt: timestamp.describe('When the grant ends unless it is kept alive.'),
    since: timestamp.describe('Since when it is held.'),
    owner: owner.optional().describe('What the holder calls itself, if it said so.'),
  }),
)

export const waiting = component(
  'WaitingUsers',
  z.object({
    count: queueLength.describe('How many wait, at all participants that answered.'),
    since: timestamp.nullable().describe('Since when the first of them waits; null if nobody does.'),
  }),
)

export const grant = component(
  'Grant',
  z.object({
    id: grantId.describe('Whoever knows it can use the grant.'),
    fence,
    participant: participantId.describe('Where the grant lives. Its id says so too.'),
    epoch,
    expiresAt: timestamp.describe('When the grant ends unless it is kept alive.'),
    ttlMs,
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
  z.object({
    id: ticketId,
    position: position.describe('The place in the queue of its participant; 1 is next.'),
    expiresAt: timestamp.describe('When the ticket ends unless somebody asks for it.'),
  }),
)

export const grantAnswer = component('Granted', z.object({ grant }))
export const ticketAnswer = component('Waiting', z.object({ ticket }))

const applied = {
  sequence,
  applied: z.boolean().describe('false if a condition did not hold: then nothing of the batch was applied.'),
  results: z.array(opResult).describe('One for each op, in their order.'),
}
export const opsAnswer = component('Applied', z.object(applied))
export const transactAnswer = component('Transacted', z.object({ fence, ...applied }))
export const keepaliveAnswer = component(
  'KeptAlive',
  z.object({ expiresAt: timestamp.describe('When the grant ends now unless it is kept alive again.') }),
)

const cursor = z.string().nullable().describe('Give it back for the next page; null on the last one.')

export const stateAnswer = component('State', z.object({ key, value: json, revision, sequence }))
export const listAnswer = component(
  'StatePage',
  z.object({
    entries: z.array(z.object({ key, value: json, revision })).describe('In the order of the keys.'),
    cursor,
    sequence,
  }),
)

const location = z.string().nullable().describe('A Cloudflare location hint; null for anywhere.')
const protocol = z.string().describe('The protocol by which the participants agree.')
const placeView = z.object({ id: participantId, location })
export const configurationAnswer = component(
  'Configuration',
  z.object({
    lock: lockName,
    protocol,
    participants: z.array(placeView).describe('Where the replicas live.'),
    ttlMs,
    detector: z.object({ heartbeatMs, timeoutMs }).describe('How the loss of a participant is noticed.'),
    localHandoffs,
    follow: follow.optional(),
    options: z.looseObject({}).optional().describe("The lock's choice among the variants of its protocol."),
  }),
)

export const participantView = component(
  'Participant',
  z.object({
    id: participantId,
    location,
    reachable: z.boolean().describe('false if it did not answer: then the rest is null.'),
    phase: z.string().nullable().describe('What it is doing, in the words of its protocol.'),
    epoch: epoch.nullable().describe('The epoch that it is in.'),
    sequence: sequence.nullable().describe('The length of its log.'),
    owner: z.int().nullable().describe('The participant with the token, as far as this one knows.'),
    queue: queueLength.nullable().describe('How many users wait here for the lock.'),
    suspects: z.array(participantId).nullable().describe('The participants that it takes for gone.'),
  }),
)
export const statusAnswer = component(
  'Status',
  z.object({
    lock: lockName,
    protocol,
    generation: z
      .number()
      .int()
      .describe('1 for the first lock of this name; one more for each that was deleted before.'),
    participants: z.array(participantView).describe('The view of each participant.'),
    holder: holder
      .nullable()
      .describe('Who holds the lock; null if nobody does, or nobody who answers knows.'),
    waiting: waiting.describe('Who waits for the lock.'),
    movedAt: z
      .string()
      .nullable()
      .optional()
      .describe(
        'Of a lock that follows its work: when its participants last changed; null if never. The history says how.',
      ),
    explanation: z.string().describe('What the lock waits for, in words.'),
  }),
)

export const locksAnswer = component(
  'Locks',
  z.object({
    locks: z
      .array(
        z.object({
          lock: lockName,
          protocol: z.string().describe('As it was configured.'),
          participants: z.number().int().describe('How many it was created with.'),
          generation: z
            .number()
            .int()
            .describe('1 for the first lock of this name; one more for each that was deleted before.'),
        }),
      )
      .describe('In the order of their names.'),
    cursor: z.string().nullable().describe('For the next page; null if this was the last.'),
  }),
)

export const historyAnswer = component(
  'History',
  z.object({
    lock: lockName,
    protocol,
    resource: z.string().describe('What the lock guards.'),
    participants: z
      .array(
        z.object({
          id: participantId,
          reachable: z.boolean().describe('false if it did not answer.'),
          events: z
            .array(
              z.looseObject({
                at: z.number().describe('By the clock of the participant, in milliseconds.'),
                type: z
                  .string()
                  .describe(
                    'What happened: try, crit, issue, invoke, response and so on; members when the participants of the lock changed.',
                  ),
              }),
            )
            .describe('User-stub and stub-resource events and changes of the participants, newest last.'),
        }),
      )
      .describe('What each participant recorded.'),
    cursor,
  }),
)

export const ejectAnswer = component('Ejected', z.object({ epoch }))
export const participantsAnswer = component(
  'Membership',
  z.object({
    participants: z.array(placeView).describe('The participants of the lock at present.'),
    configuration: z
      .int()
      .describe(
        'The number of this set of participants: higher than that of all before, also of earlier locks of this name.',
      ),
  }),
)
const health = {
  status: z.literal('ok').describe('The router runs.'),
  ledger: z
    .object({
      healed: z.boolean().describe('Whether the process knows what it has lost, if anything.'),
      unfinishedLocks: z.int().min(0).describe('In how many locks it is not back yet.'),
    })
    .optional()
    .describe('Only of a process whose participants have a url.'),
}
export const healthAnswer = component('Health', z.object(health))

const link = (what: string) => z.string().describe(`The path of ${what}.`)
export const homeAnswer = component(
  'Home',
  z.object({
    service: z.literal('baton'),
    version: z.string().describe('The version of this interface.'),
    ...health,
    protocol,
    participants: z.array(placeView).describe('Where a lock lives that nobody has configured.'),
    links: z
      .object({
        docs: link('the description for humans'),
        openapi: link('the description for programs'),
        health: link('the health check'),
        metrics: link('the metrics'),
      })
      .describe('Where to read on.'),
  }),
)

export const problemAnswer = component(
  'Problem',
  z.looseObject({
    type: z.string().describe('A name for the kind of problem: urn:baton:problem:<code>.'),
    title: z.string().describe('The kind of problem in words.'),
    status: z.int().describe('The HTTP status.'),
    detail: z.string().describe('What happened this time, and what to do about it.'),
    code: z.enum(PROBLEM_CODES as readonly [ProblemCode, ...ProblemCode[]]).describe('For programs.'),
    retryable: z.boolean().describe('true if the same request may succeed later.'),
    outcome: z
      .enum(['applied', 'not-applied', 'unknown'])
      .optional()
      .describe(
        'What became of the operation at stake. not-applied means that this request has not applied it and never ' +
          'will. An earlier request that got no answer may have applied it all the same, unless settled is true.',
      ),
    settled: z
      .boolean()
      .optional()
      .describe('true if the outcome holds for every request that brought this operation under this grant.'),
    errors: z
      .array(
        z.object({
          in: z.enum(['body', 'query', 'path', 'header']).describe('Where it is.'),
          path: z.string().describe('Names and indices, joined by dots; empty for the whole.'),
          message: z.string().describe('What is wrong there.'),
        }),
      )
      .optional()
      .describe('What is wrong with the request.'),
    holder: holder.optional().describe('Of locked: who holds the lock, if anybody who answers knows.'),
    waiting: waiting.optional().describe('Of locked: who waits for the lock.'),
    requestId: z.string().optional().describe('The id of the request, as in X-Request-Id and in the log.'),
  }),
)
