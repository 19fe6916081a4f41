/**
 * The small schemas that bodies, queries and answers are made of. They are the one source of what is
 * accepted, of its types and of what OpenAPI says about it.
 *
 * Every file imports zod as a namespace: `import { z }` would put all of its translations into the bundle
 * (440 KB, not 80).
 */
import * as z from 'zod'
import { GRANT_ID_PATTERN, parseGrantId, TICKET_ID_PATTERN, WAITER_PATTERN } from './ids.ts'
import { API_LIMITS, LOCATIONS } from './limits.ts'

/** Schemas with a name of their own in OpenAPI. */
export const COMPONENTS = z.registry<{ readonly id: string }>()

export function component<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  COMPONENTS.add(schema, { id })
  return schema
}

export function between(range: { readonly least: number; readonly most: number }): z.ZodInt {
  return z.int().min(range.least).max(range.most)
}

/** As JSON the end of a range is the largest safe integer: above it numbers are no longer told apart. */
const count = z.int().min(0)

export const lockName = z
  .string()
  .regex(new RegExp(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,${API_LIMITS.lockNameLength - 1}}$`), {
    error: 'must be 1 to 64 letters, digits, _ . : or -, and begin with a letter or a digit',
  })
  .describe(
    'The name of the lock. Its first acquire, transact or session creates it; looking at it does not.',
  )

export const participantId = between(API_LIMITS.participantNumber).describe(
  'The number of a participant, from 1 on. No number is used twice.',
)
export const at = participantId.describe(
  'The participant that serves the request; by default the nearest one that answers.',
)

const NOT_A_GRANT = { error: 'is not the id of a grant' }
export const grantId = z
  .string()
  .regex(GRANT_ID_PATTERN, { ...NOT_A_GRANT, abort: true })
  .refine(id => parseGrantId(id) !== null, NOT_A_GRANT)
  .describe('The id of the grant.')
export const waiter = z
  .string()
  .regex(WAITER_PATTERN, { error: 'must be 22 letters, digits, _ or -' })
  .describe(
    'Names who waits: 128 random bits of the client’s own making, in base64url, and others for each acquire. With it the client ' +
      'can withdraw an acquire whose answer it has not seen; whoever knows it can do so too.',
  )
export const ticketId = z
  .string()
  .regex(TICKET_ID_PATTERN, { error: 'is not the id of a ticket' })
  .describe('The id of the ticket.')

const LONE_SURROGATE = /\p{Surrogate}/u
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text)

/**
 * Its length is checked separately (`findOversized`), because too long is a different problem than malformed.
 */
export const key = z
  .string()
  .min(1)
  .refine(isWellFormed, { error: 'must be well-formed Unicode' })
  .meta({ maxLength: API_LIMITS.keyLength, description: 'A key of the guarded map.' })

export const opId = z
  .string()
  .min(1)
  .max(API_LIMITS.opIdLength)
  .refine(isWellFormed, { error: 'must be well-formed Unicode' })
  .describe('Your name for the operation. Sent again, it is answered again and applied only once.')

/** A terminal would obey control characters that somebody else has written. */
const CONTROL = /\p{Cc}/u
const isOwner = (text: string): boolean =>
  isWellFormed(text) && !CONTROL.test(text) && [...text].length <= API_LIMITS.ownerLength
export const owner = z
  .string()
  .min(1)
  .refine(isOwner, {
    error: `must have at most ${API_LIMITS.ownerLength} characters, be well-formed Unicode and have no control characters`,
  })
  .meta({
    maxLength: API_LIMITS.ownerLength,
    description: 'What whoever asks calls itself: others are told, so that they know who holds the lock.',
  })

export const waitMs = between(API_LIMITS.waitMs).describe(
  'How long to wait for the lock. With 0 the call waits only for the token to come from another participant, which ' +
    'takes a second at most.',
)
export const sessionWaitMs = between(API_LIMITS.sessionWaitMs).describe(
  'How long to wait for the lock; without it, as long as the socket is open.',
)
export const ttlMs = between(API_LIMITS.ttlMs).describe('How long the grant lasts without a keepalive.')
export const heartbeatMs = between(API_LIMITS.heartbeatMs).describe(
  'How often, at least, a participant that waits asks the one with the token whether it is there.',
)
export const timeoutMs = between(API_LIMITS.timeoutMs).describe(
  'How long the one with the token may be silent before it is suspected, if nothing was heard of it for ten ' +
    'seconds. If something was, a quarter of this. Once its round trips are known it follows them, down to ' +
    '250 ms or an eighth of this, whichever is longer.',
)
export const follow = z
  .boolean()
  .describe(
    'Whether the participants go where the work is: if for five minutes most grants were asked for from a place without a ' +
      'participant, the one that is farthest from there is replaced by one there. At most one move in a quarter of an hour. Default: false.',
  )

export const localHandoffs = between(API_LIMITS.localHandoffs).describe(
  'How many users of one participant may follow each other while another participant waits.',
)
export const listLimit = between(API_LIMITS.listLimit).describe('How many keys a page has at most.')

export const location = z
  .enum(LOCATIONS)
  .nullable()
  .describe('Where the participant is to live: a Cloudflare location hint, or null for anywhere.')

export const sequence = count.describe('The place of an operation in the order of all.')
export const revision = count.describe('The sequence of the operation that last changed the key.')
export const fence = count.describe('Strictly increases from grant to grant.')
export const epoch = count.describe('Rises when the others go on without the participant that had the token.')
export const queueLength = count
export const position = count

/** By the clock of the participant that says it. */
export const timestamp = z.iso.datetime().describe('By the clock of the participant.')

/** Any JSON. It came out of `readJson` or goes into `JSON.stringify`, so there is nothing more to check. */
export const json = z.unknown().describe('Any JSON value.')

export const consistency = z
  .enum(['linearizable', 'local'])
  .describe(
    'linearizable: everything that was applied before the call. local: what the participant has, which may be older.',
  )
