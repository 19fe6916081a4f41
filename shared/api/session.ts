/**
 * What a session's WebSocket carries: the paper's user-stub events as JSON. The service reads the first kind
 * of message with `parseSessionMessage`; the second kind is only a type, because nobody but the service
 * writes it.
 */
import * as z from 'zod'
import type { EjectionReason } from '../history/events.ts'
import type { Json } from '../json.ts'
import type { NotApplied, OpError, OpResult } from '../resource/key-value.ts'
import { explainOps } from './explain-ops.ts'
import { API_LIMITS } from './limits.ts'
import { findOversized, foreignOps, ops } from './ops.ts'
import { component, consistency, key, opId, owner, sessionWaitMs, ttlMs, waitMs } from './primitives.ts'
import type { FieldError, Outcome, ProblemCode } from './problems.ts'
import { readJson } from './read-json.ts'
import { check, summarize } from './validation.ts'

const tryMessage = z.strictObject({
  type: z.literal('try'),
  waitMs: sessionWaitMs.optional(),
  ttlMs: ttlMs.optional(),
  confirm: z
    .boolean()
    .optional()
    .describe(
      'Answer only once a majority knows of the grant, so that what you do outside of Baton is safe at once.',
    ),
  owner: owner.optional(),
})
const issueMessage = z.strictObject({ type: z.literal('issue'), opId, ops })
const foreignIssueMessage = z.strictObject({ type: z.literal('issue'), opId, ops: foreignOps })
const exitMessage = z.strictObject({ type: z.literal('exit') })
/** The same as the call of this name: a user of its own acquires, applies and releases. */
const transact = {
  type: z.literal('transact'),
  opId,
  waitMs: waitMs.default(API_LIMITS.waitMs.default),
  owner: owner.optional(),
}
const transactMessage = z.strictObject({ ...transact, ops })
const foreignTransactMessage = z.strictObject({ ...transact, ops: foreignOps })
const MAX_ID_LENGTH = 64
const getMessage = z.strictObject({
  type: z.literal('get'),
  key,
  consistency: consistency.default('linearizable'),
  id: z
    .string()
    .max(MAX_ID_LENGTH)
    .optional()
    .describe('Comes back in the answer, which is then told from any other.'),
})
/** The service asks whether the client has read everything up to here; the client sends the same back. */
const probeMessage = z.strictObject({
  type: z.literal('probe'),
  id: z.string().max(MAX_ID_LENGTH).describe('As it came.'),
})

const UNKNOWN_TYPE = { error: 'must be one of "try", "issue", "exit", "transact", "get", "probe"' }

export const sessionMessage = component(
  'SessionMessage',
  z.discriminatedUnion(
    'type',
    [tryMessage, issueMessage, exitMessage, transactMessage, getMessage, probeMessage],
    UNKNOWN_TYPE,
  ),
)
const foreignSessionMessage = z.discriminatedUnion(
  'type',
  [tryMessage, foreignIssueMessage, exitMessage, foreignTransactMessage, getMessage, probeMessage],
  UNKNOWN_TYPE,
)

export type SessionMessage =
  | z.output<typeof tryMessage>
  | { readonly type: 'issue'; readonly opId: string; readonly ops: readonly Json[] }
  | z.output<typeof exitMessage>
  | {
      readonly type: 'transact'
      readonly opId: string
      readonly ops: readonly Json[]
      readonly waitMs: number
      readonly owner?: string | undefined
    }
  | z.output<typeof getMessage>
  | SessionProbe

export type SessionProbe = z.output<typeof probeMessage>

/**
 * Signs of life: a client that says nothing else sends the text `ping` a few times within the time to live of
 * its grant, and is answered `pong`. Neither is JSON, so that the platform can answer for a participant that
 * sleeps.
 */
export const PING = 'ping'
export const PONG = 'pong'

export type SessionEvent =
  /** `ttlMs`: the grant is over if the client gives no sign of life for this long. */
  | { readonly type: 'crit'; readonly fence: number; readonly epoch: number; readonly ttlMs: number }
  | {
      readonly type: 'outcome'
      /** Of the answer to a `transact`: the fence of its grant. */
      readonly fence?: number
      readonly opId: string
      readonly sequence: number
      readonly applied: boolean
      readonly results: readonly (OpResult | OpError | NotApplied)[]
    }
  | { readonly type: 'rem' }
  | {
      readonly type: 'ejected'
      readonly reason: EjectionReason
      readonly pending?: { readonly opId: string; readonly outcome: Outcome }
    }
  /** The answer to a `get`. */
  | {
      readonly type: 'value'
      readonly key: string
      readonly consistency: 'linearizable' | 'local'
      /** As it was asked. */
      readonly id?: string
      readonly value: Json
      readonly revision: number
      readonly sequence: number
    }
  | SessionError

/** Out of turn, malformed or refused; the session stays open. */
export interface SessionError extends Partial<SessionQuestion> {
  readonly type: 'error'
  readonly code: ProblemCode
  readonly detail: string
  /** Of a `transact`: what became of its operation. */
  readonly outcome?: Outcome
  /** Of a `transact` or `get`: whether it makes sense to ask again, and when. */
  readonly retryable?: boolean
  readonly retryAfterSeconds?: number
  /**
   * The participant began anew: what had reached it of this session's `transact` and `get`, and was not
   * answered before this, never will be. One that was on its way meanwhile still may be.
   */
  readonly lost?: true
}

/** What an answer is about: the `opId` of a `transact`, or what a `get` asked for. */
export interface SessionQuestion {
  readonly opId: string
  readonly key: string
  readonly consistency: 'linearizable' | 'local'
  readonly id: string
}

export type ParsedSessionMessage =
  | { readonly ok: true; readonly message: SessionMessage }
  | {
      readonly ok: false
      readonly code: 'bad_request' | 'too_large'
      readonly detail: string
      /** What the message was about, as it said. */
      readonly about?: Partial<SessionQuestion>
    }

export function parseSessionMessage(
  data: string | ArrayBuffer,
  resource = 'key-value',
): ParsedSessionMessage {
  if (typeof data !== 'string') return refused('A message is text, not binary.')
  if (data.length > API_LIMITS.bodyBytes)
    return refused(`A message has at most ${API_LIMITS.bodyBytes} characters.`, 'too_large')
  const read = readJson(data)
  const about = questionIn(read.value)
  if (!read.ok) {
    const detail = read.value === undefined ? 'A message is JSON.' : summarize([inBody(read.mistake)], WHOLE)
    return refused(detail, 'bad_request', about)
  }
  const parsed = read.value
  const isKeyValue = resource === 'key-value'
  const oversized = findOversized((parsed as { ops?: unknown } | null)?.ops, isKeyValue)
  if (oversized.length > 0) return refused(summarize(oversized, WHOLE), 'too_large', about)
  if ((about?.key?.length ?? 0) > API_LIMITS.keyLength)
    return refused(`key must have at most ${API_LIMITS.keyLength} characters.`, 'too_large', about)
  const checked = check(isKeyValue ? sessionMessage : foreignSessionMessage, parsed, 'body')
  if (checked.ok) return { ok: true, message: checked.value }
  const errors = isKeyValue
    ? explainOps(checked.errors, (parsed as { ops?: unknown } | null)?.ops)
    : checked.errors
  return refused(summarize(errors, WHOLE), 'bad_request', about)
}

/** So that whoever asked finds the refusal of what it asked, however wrong the rest of it was. */
function questionIn(message: unknown): Partial<SessionQuestion> | undefined {
  const { type, opId, key, consistency, id } = (message ?? {}) as { readonly [field: string]: unknown }
  if (type === 'transact' && typeof opId === 'string') return { opId }
  if (type !== 'get' || typeof key !== 'string') return undefined
  const isId = typeof id === 'string' && id.length <= MAX_ID_LENGTH
  return { key, consistency: consistency === 'local' ? 'local' : 'linearizable', ...(isId && { id }) }
}

const WHOLE = 'The message'

const inBody = (mistake: Omit<FieldError, 'in'>): FieldError => ({ in: 'body', ...mistake })

function refused(
  detail: string,
  code: 'bad_request' | 'too_large' = 'bad_request',
  about?: Partial<SessionQuestion>,
): ParsedSessionMessage {
  return { ok: false, code, detail, ...(about && { about }) }
}
