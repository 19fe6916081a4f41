/** What clients send: bodies and queries. Unknown fields are refused, so that a misspelt option is not taken for none. */
import * as z from 'zod'
import { API_LIMITS } from './limits.ts'
import { operation } from './ops.ts'
import {
  at,
  between,
  component,
  consistency,
  fence,
  grantId,
  heartbeatMs,
  key,
  listLimit,
  localHandoffs,
  location,
  lockName,
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

const cursor = z.string().max(API_LIMITS.cursorLength).optional().describe('From the page before.')
export const noQuery = z.strictObject({})
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
export const historyQuery = z.strictObject({
  limit: between(API_LIMITS.historyLimit)
    .default(API_LIMITS.historyLimit.default)
    .describe('At most so many events of each participant.'),
  cursor,
})
export const watchQuery = z.strictObject({
  since: sequence.optional().describe('Replays what is still kept after this sequence; 0 for all.'),
  at: at.optional(),
})
export const metricsQuery = z.strictObject({
  lock: z
    .string()
    .refine(areLockNames, {
      error: `up to ${API_LIMITS.locksPerScrape} names of locks, with commas between them`,
    })
    .optional()
    .describe(
      'Also what the participants of these locks count: names with commas between them. It wakes them.',
    ),
})
export const sessionQuery = z.strictObject({ at: at.optional() })

/** A query holds nothing but text; these parameters are numbers. */
export const NUMERIC_PARAMETERS: ReadonlySet<string> = new Set(['waitMs', 'limit', 'since', 'at'])

// ---------------------------------------------------------------- bodies

export const configureBody = component(
  'Configure',
  z.strictObject({
    protocol: protocolName.optional(),
    options: protocolOptions.optional(),
    participants: z
      .array(z.strictObject({ location: location.optional() }))
      .min(API_LIMITS.participants.least)
      .max(API_LIMITS.participants.most)
      .optional(),
    ttlMs: ttlMs.optional(),
    detector: z
      .strictObject({ heartbeatMs: heartbeatMs.optional(), timeoutMs: timeoutMs.optional() })
      .optional(),
    localHandoffs: localHandoffs.optional(),
  }),
)

export const acquireBody = component(
  'Acquire',
  z.strictObject({
    waitMs: waitMs.default(API_LIMITS.waitMs.default),
    ttlMs: ttlMs.optional().meta({
      description: `How long the grant lasts without a keepalive. Without it: as configured, else ${API_LIMITS.ttlMs.default}.`,
    }),
    ticket: z
      .boolean()
      .default(false)
      .describe('Not granted in time: keep the place in the queue and answer with a ticket.'),
    at: at.optional(),
    mode: z.enum(['exclusive', 'shared']).default('exclusive'),
    confirm: z
      .boolean()
      .default(false)
      .describe(
        'Answer only once a majority holds the grant, so that effects outside of the lock are safe at once.',
      ),
    waiter: waiter.optional(),
  }),
)

export const opsBody = component('Operation', z.strictObject(operation))

export const transactBody = component(
  'Transact',
  z.strictObject({ ...operation, waitMs: waitMs.default(API_LIMITS.waitMs.default), at: at.optional() }),
)

export const keepaliveBody = component(
  'Keepalive',
  z.strictObject({
    ttlMs: ttlMs.optional(),
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
        'Only if the holder has this fence. So it can be said again without harm to the next holder.',
    }),
  }),
)

export const participantsBody = component(
  'ParticipantsChange',
  z.union([
    z.strictObject({ add: z.strictObject({ location: location.optional() }) }),
    z.strictObject({ remove: participantId }),
    z.strictObject({ replace: participantId, location: location.optional() }),
  ]),
)
