/**
 * What clients send: bodies and queries. Unknown fields are refused, so that a misspelt option is not
 * silently ignored.
 */
import * as z from 'zod'
import { API_LIMITS } from './limits.ts'
import { operation } from './ops.ts'
import {
  at,
  between,
  component,
  consistency,
  fence,
  follow,
  grantId,
  heartbeatMs,
  key,
  listLimit,
  localHandoffs,
  location,
  lockName,
  owner,
  participantId,
  sequence,
  ticketId,
  timeoutMs,
  ttlMs,
  waiter,
  waitMs,
} from './primitives.ts'
import { protocolName, protocolOptions } from './protocol-options.ts'

// ---------------------------------------------------------------- paths

export const noPath = z.strictObject({})
export const lockPath = z.strictObject({ lock: lockName })
export const ticketPath = z.strictObject({ lock: lockName, id: ticketId })
export const waiterPath = z.strictObject({ lock: lockName, waiter })
export const grantPath = z.strictObject({ lock: lockName, id: grantId })
export const keyPath = z.strictObject({ lock: lockName, key })

// ---------------------------------------------------------------- queries

function areLockNames(text: string): boolean {
  const names = text.split(',')
  return names.length <= API_LIMITS.locksPerScrape && names.every(name => lockName.safeParse(name).success)
}

const cursor = z.string().max(API_LIMITS.cursorLength).optional().describe('The cursor of the page before.')
export const noQuery = z.strictObject({})
export const deleteQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whoever holds the lock, or gets it before it is deleted, is ejected.'),
  generation: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Ends only the lock that is, or was, this one of all locks with its name: its status says which. ' +
        'With it the call can be repeated after a lost answer, and never ends a lock that was created since.',
    ),
})
export const ticketQuery = z.strictObject({ waitMs: waitMs.default(0) })
export const stateQuery = z.strictObject({
  consistency: consistency.default('linearizable'),
  at: at.optional(),
})
export const listQuery = z.strictObject({
  prefix: z.string().max(API_LIMITS.keyLength).default('').describe('Only keys that begin with this.'),
  limit: listLimit.default(API_LIMITS.listLimit.default),
  cursor,
  consistency: consistency.default('linearizable'),
  at: at.optional(),
})
export const locksQuery = z.strictObject({
  prefix: z.string().max(API_LIMITS.lockNameLength).default('').describe('Only names that begin with this.'),
  limit: listLimit.default(API_LIMITS.listLimit.default),
  cursor,
})
export const historyQuery = z.strictObject({
  limit: between(API_LIMITS.historyLimit)
    .default(API_LIMITS.historyLimit.default)
    .describe('How many events of each participant a page has at most.'),
  cursor,
})
export const watchQuery = z.strictObject({
  since: sequence
    .optional()
    .describe(
      'Replay what is still kept after this sequence; 0 for everything. Default: only what happens from now on.',
    ),
  at: at.optional(),
})
export const metricsQuery = z.strictObject({
  lock: z
    .string()
    .refine(areLockNames, {
      error: `must be up to ${API_LIMITS.locksPerScrape} names of locks, with commas between them`,
    })
    .optional()
    .describe(
      'Ask the participants of these locks too: names with commas between them. This wakes locks that are idle.',
    ),
})
export const sessionQuery = z.strictObject({ at: at.optional() })

/** A query holds nothing but text; these parameters are numbers. */
export const NUMERIC_PARAMETERS: ReadonlySet<string> = new Set([
  'waitMs',
  'limit',
  'since',
  'at',
  'generation',
])

// ---------------------------------------------------------------- bodies

export const configureBody = component(
  'Configure',
  z.strictObject({
    protocol: protocolName.optional(),
    options: protocolOptions.optional().describe('The variants of the protocol, if it has any.'),
    participants: z
      .array(z.strictObject({ location: location.optional() }))
      .min(API_LIMITS.participants.least)
      .max(API_LIMITS.participants.most)
      .optional()
      .describe('Where the replicas live. Default: as the service is deployed.'),
    ttlMs: ttlMs
      .optional()
      .describe(`How long a grant lasts if its acquire does not say. Default: ${API_LIMITS.ttlMs.default}.`),
    detector: z
      .strictObject({ heartbeatMs: heartbeatMs.optional(), timeoutMs: timeoutMs.optional() })
      .optional()
      .describe('How the loss of a participant is noticed.'),
    localHandoffs: localHandoffs.optional(),
    follow: follow.optional(),
  }),
)

export const acquireBody = component(
  'Acquire',
  z.strictObject({
    waitMs: waitMs.default(API_LIMITS.waitMs.default),
    ttlMs: ttlMs.optional().meta({
      description: `How long the grant lasts without a keepalive. Default: as the lock is configured, else ${API_LIMITS.ttlMs.default}.`,
    }),
    ticket: z
      .boolean()
      .default(false)
      .describe('If the lock is not granted in time, keep the place in the queue and answer with a ticket.'),
    at: at.optional(),
    mode: z
      .enum(['exclusive', 'shared'])
      .default('exclusive')
      .describe(
        'Several holders can share the lock for reading, if its protocol can do that: ricart-agrawala.',
      ),
    confirm: z
      .boolean()
      .default(false)
      .describe(
        'Answer only once a majority knows of the grant, so that what you do outside of Baton is safe at once.',
      ),
    waiter: waiter.optional(),
    owner: owner.optional(),
  }),
)

export const opsBody = component('Operation', z.strictObject(operation))

export const transactBody = component(
  'Transact',
  z.strictObject({
    ...operation,
    waitMs: waitMs.default(API_LIMITS.waitMs.default),
    at: at.optional(),
    owner: owner.optional(),
  }),
)

export const keepaliveBody = component(
  'Keepalive',
  z.strictObject({
    ttlMs: ttlMs.optional().describe('How long the grant lasts from now on. Default: as before.'),
    waitMs: waitMs
      .default(0)
      .describe(
        'Answer only after so long, or as soon as the grant is over: so its holder hears at once that it lost it.',
      ),
  }),
)

export const ejectBody = component(
  'Eject',
  z.strictObject({
    fence: fence.optional().meta({
      description:
        'Eject only the holder with this fence. Then the call can be repeated without harm to the next holder.',
    }),
  }),
)

const onlyFor = z
  .int()
  .min(0)
  .optional()
  .describe(
    'Only if this is the number of the present configuration. With it, the same change can be asked for twice, and counts twice.',
  )

const CHANGES = ['add', 'remove', 'replace', 'participants'] as const

/** Of a body that says nothing of what is to change, or more than one thing. */
function notOneChange(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  if (CHANGES.filter(name => Object.hasOwn(body, name)).length === 1) return undefined
  return (
    'must be one of {"add": {"location"?: …}}, {"remove": number}, {"replace": number, "location"?: …} and ' +
    '{"participants": [{"id": number} or {"location"?: …}, …]}, each with "configuration"?: number'
  )
}

const newPlace = z.strictObject({ location: location.optional() })

export const participantsBody = component(
  'ParticipantsChange',
  z.union(
    [
      z.strictObject({ add: newPlace.describe('A participant to add.'), configuration: onlyFor }),
      z.strictObject({
        remove: participantId.describe('The participant to remove.'),
        configuration: onlyFor,
      }),
      z.strictObject({
        replace: participantId.describe('The participant to replace by a new one.'),
        location: location.optional(),
        configuration: onlyFor,
      }),
      z.strictObject({
        participants: z
          .array(z.union([z.strictObject({ id: participantId }), newPlace]))
          .min(API_LIMITS.participants.least)
          .max(API_LIMITS.participants.most)
          .describe(
            'All that the lock is to have: those with these numbers stay, and at each location that is named there is one, an old or a new one.',
          ),
        configuration: onlyFor,
      }),
    ],
    { error: ({ input }) => notOneChange(input) },
  ),
)
