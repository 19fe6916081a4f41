/**
 * Every call of the public contract as data. The router registers its handlers by this table (and would not compile without
 * one for each), and OpenAPI and the human page are made from it: what is documented is what is served.
 */
import type * as z from 'zod'
import * as answers from './answers.ts'
import { API_LIMITS } from './limits.ts'
import type { ProblemCode } from './problems.ts'
import * as requests from './requests.ts'

/** What a key may be allowed to do. */
export const VERBS = ['acquire', 'read', 'watch', 'history', 'configure', 'eject', 'metrics'] as const
export type Verb = (typeof VERBS)[number]

export interface RouteAnswer {
  readonly description: string
  readonly schema?: z.ZodType
  /** If it is not JSON. */
  readonly mediaType?: string
  readonly headers?: { readonly [name: string]: string }
}

export interface Route {
  readonly method: 'get' | 'put' | 'post' | 'delete'
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** What the caller's key must allow; `null`: no key is needed. */
  readonly verb: Verb | null
  readonly parameters: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | null
  readonly answers: { readonly [status: number]: RouteAnswer }
  /** Besides those that every route has. */
  readonly problems: readonly ProblemCode[]
}

const ONCE =
  'The same opId again, also under another grant or in a transact, gives the same answer and applies nothing twice; with other ' +
  `ops it is a conflict. It waits for nobody if the participant knows the result. This lasts for at least the last ` +
  `${API_LIMITS.resultsKept} operations of the lock: after that a new grant or a transact applies it anew, and under the old ` +
  'grant the outcome is unknown.'
const HANDED_OVER =
  'A client that has gone while it waited holds nothing afterwards. Before it hands over a grant that was waited for, the service ' +
  'writes one byte of the answer and sees whether the connection breaks; if so, the grant is withdrawn at once, and if the answer ' +
  `cannot be handed over at all, the grant ends after ${API_LIMITS.untakenMs / 1000} s. Whoever has the answer need not do anything: ` +
  'the grant lasts until `expiresAt`. A client that names its `waiter` does not rely on this: it can withdraw an acquire by that ' +
  'name, and confirms a grant that it had to wait for within `confirmMs`, with an operation or a keepalive.'
const GRANT_OVER = ['ejected', 'released', 'expired'] as const
const granted = { description: 'Granted.', schema: answers.grantAnswer }
const waiting = {
  description: 'Not yet granted; the place in the queue is kept.',
  schema: answers.ticketAnswer,
}

export const ROUTES = {
  configure: {
    method: 'put',
    path: '/v1/locks/{lock}',
    summary: 'Configure a lock before its first use',
    description:
      'What is left out has its default. A lock that exists keeps the configuration that it was born with.',
    verb: 'configure',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.configureBody,
    answers: {
      200: { description: 'It had this configuration already.', schema: answers.configurationAnswer },
      201: { description: 'Created.', schema: answers.configurationAnswer },
    },
    problems: ['conflict'],
  },
  status: {
    method: 'get',
    path: '/v1/locks/{lock}',
    summary: 'What each participant knows',
    description: 'A participant that does not answer is reported as such; it never fails the call.',
    verb: 'read',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: null,
    answers: { 200: { description: 'The views of all participants.', schema: answers.statusAnswer } },
    problems: [],
  },
  acquire: {
    method: 'post',
    path: '/v1/locks/{lock}/acquire',
    summary: 'Enter the critical section',
    description: HANDED_OVER,
    verb: 'acquire',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.acquireBody,
    answers: { 200: granted, 202: waiting },
    problems: ['locked', 'conflict', 'not_supported'],
  },
  ticket: {
    method: 'get',
    path: '/v1/locks/{lock}/tickets/{id}',
    summary: 'Ask whether a ticket has become a grant',
    verb: 'acquire',
    parameters: requests.ticketPath,
    query: requests.ticketQuery,
    body: null,
    answers: { 200: granted, 202: waiting },
    problems: ['no_such_ticket', ...GRANT_OVER],
  },
  withdraw: {
    method: 'delete',
    path: '/v1/locks/{lock}/tickets/{id}',
    summary: 'Give up waiting',
    verb: 'acquire',
    parameters: requests.ticketPath,
    query: requests.noQuery,
    body: null,
    answers: { 204: { description: 'Withdrawn.' } },
    problems: ['no_such_ticket'],
  },
  withdrawWaiter: {
    method: 'delete',
    path: '/v1/locks/{lock}/waiters/{waiter}',
    summary: 'Withdraw an acquire by the name that its client gave it',
    description:
      'It no longer waits anywhere, and what it was granted is released. An acquire that comes after its withdrawal is refused ' +
      `with a conflict, for ${API_LIMITS.withdrawnMs / 1000} s. If a participant does not answer, ask again.`,
    verb: 'acquire',
    parameters: requests.waiterPath,
    query: requests.noQuery,
    body: null,
    answers: { 204: { description: 'Withdrawn, whether or not it waited.' } },
    problems: [],
  },
  ops: {
    method: 'post',
    path: '/v1/locks/{lock}/grants/{id}/ops',
    summary: 'Apply a batch of ops to the guarded state',
    description: `All of the batch or nothing. ${ONCE}`,
    verb: 'acquire',
    parameters: requests.grantPath,
    query: requests.noQuery,
    body: requests.opsBody,
    answers: { 200: { description: 'The outcome.', schema: answers.opsAnswer } },
    problems: ['conflict', ...GRANT_OVER, 'not_supported'],
  },
  keepalive: {
    method: 'post',
    path: '/v1/locks/{lock}/grants/{id}/keepalive',
    summary: 'Keep a grant',
    verb: 'acquire',
    parameters: requests.grantPath,
    query: requests.noQuery,
    body: requests.keepaliveBody,
    answers: { 200: { description: 'Kept.', schema: answers.keepaliveAnswer } },
    problems: GRANT_OVER,
  },
  release: {
    method: 'delete',
    path: '/v1/locks/{lock}/grants/{id}',
    summary: 'Leave the critical section',
    verb: 'acquire',
    parameters: requests.grantPath,
    query: requests.noQuery,
    body: null,
    answers: { 204: { description: 'Released.' } },
    problems: GRANT_OVER,
  },
  transact: {
    method: 'post',
    path: '/v1/locks/{lock}/transact',
    summary: 'Acquire, apply and release in one call',
    description: ONCE,
    verb: 'acquire',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.transactBody,
    answers: { 200: { description: 'The outcome.', schema: answers.transactAnswer } },
    problems: ['locked', 'conflict', ...GRANT_OVER, 'not_supported'],
  },
  list: {
    method: 'get',
    path: '/v1/locks/{lock}/state',
    summary: 'List keys',
    verb: 'read',
    parameters: requests.lockPath,
    query: requests.listQuery,
    body: null,
    answers: { 200: { description: 'A page of keys in order.', schema: answers.listAnswer } },
    problems: ['not_supported'],
  },
  get: {
    method: 'get',
    path: '/v1/locks/{lock}/state/{key}',
    summary: 'Read a key',
    description: 'A key is given percent-encoded. The ETag is its revision; `If-None-Match` is understood.',
    verb: 'read',
    parameters: requests.keyPath,
    query: requests.stateQuery,
    body: null,
    answers: {
      200: {
        description: 'The value.',
        schema: answers.stateAnswer,
        headers: { ETag: 'The revision of the key, as a weak validator.' },
      },
      304: { description: 'The key still has the revision of If-None-Match.' },
    },
    problems: ['no_such_key', 'too_large', 'not_supported'],
  },
  watch: {
    method: 'get',
    path: '/v1/locks/{lock}/watch',
    summary: 'Follow operations and holders as they happen',
    description:
      'Events op, holder and snapshot; their id is the sequence. `Last-Event-ID` counts for more than `since`. ' +
      'A comment line every 15 s keeps it open.',
    verb: 'watch',
    parameters: requests.lockPath,
    query: requests.watchQuery,
    body: null,
    answers: { 200: { description: 'Server-Sent Events.', mediaType: 'text/event-stream' } },
    problems: ['not_supported'],
  },
  session: {
    method: 'get',
    path: '/v1/locks/{lock}/session',
    summary: 'A WebSocket that speaks try, crit, issue, outcome, exit, rem and ejected',
    description:
      'Client: SessionMessage. The grant ends with the socket, and when the client gives no sign of life for its ' +
      '`ttlMs`: any message is one, and so is the text `ping`, answered `pong`. A client answers `probe` with the same ' +
      'message, to say that it reads. A browser, which cannot set headers, offers the subprotocols `baton` and ' +
      '`baton.key.<key>`.',
    verb: 'acquire',
    parameters: requests.lockPath,
    query: requests.sessionQuery,
    body: null,
    answers: { 101: { description: 'The WebSocket.' } },
    problems: [],
  },
  history: {
    method: 'get',
    path: '/v1/locks/{lock}/history',
    summary: 'The recorded events of each participant, for the checker',
    description:
      'In pages: the oldest events that are kept first. Later pages list the participants that had more, or did not answer.',
    verb: 'history',
    parameters: requests.lockPath,
    query: requests.historyQuery,
    body: null,
    answers: { 200: { description: 'A page of events, newest last.', schema: answers.historyAnswer } },
    problems: [],
  },
  eject: {
    method: 'post',
    path: '/v1/locks/{lock}/eject',
    summary: 'Force the present holder out',
    description:
      'With `fence` only the holder that has it: `409 conflict` if another one does, and nobody is ejected. Without it, a call ' +
      'that is repeated may force out a second holder.',
    verb: 'eject',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.ejectBody,
    answers: { 200: { description: 'The holder is out.', schema: answers.ejectAnswer } },
    problems: ['conflict'],
  },
  participants: {
    method: 'post',
    path: '/v1/locks/{lock}/participants',
    summary: 'Add, remove or replace a participant',
    verb: 'configure',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.participantsBody,
    answers: { 200: { description: 'Changed.', schema: answers.participantsAnswer } },
    problems: ['conflict', 'not_supported'],
  },
  health: {
    method: 'get',
    path: '/healthz',
    summary: 'Whether the router runs',
    description:
      'A process that keeps participants of locks behind a `url` says in `ledger` whether it has found out what it lost, and in ' +
      'how many locks it is not back yet. Before another machine is replaced, all must say `healed` and `unfinishedLocks` 0.',
    verb: null,
    parameters: requests.noPath,
    query: requests.noQuery,
    body: null,
    answers: { 200: { description: 'It does.', schema: answers.healthAnswer } },
    problems: [],
  },
  metrics: {
    method: 'get',
    path: '/metrics',
    summary: 'Counters of this instance of the router and of the participants of some locks, for Prometheus',
    description:
      'Participants are asked only for the locks that are named: to ask an idle lock would cost something. One that does not ' +
      'answer has `baton_participant_up` 0 and nothing more.',
    verb: 'metrics',
    parameters: requests.noPath,
    query: requests.metricsQuery,
    body: null,
    answers: { 200: { description: 'Prometheus text.', mediaType: 'text/plain' } },
    problems: [],
  },
  openapi: {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description',
    verb: null,
    parameters: requests.noPath,
    query: requests.noQuery,
    body: null,
    answers: { 200: { description: 'OpenAPI 3.1.' } },
    problems: [],
  },
  docs: {
    method: 'get',
    path: '/docs',
    summary: 'This description for humans',
    verb: null,
    parameters: requests.noPath,
    query: requests.noQuery,
    body: null,
    answers: { 200: { description: 'A page.', mediaType: 'text/html' } },
    problems: [],
  },
} as const satisfies { readonly [id: string]: Route }

export type RouteId = keyof typeof ROUTES
export const ROUTE_IDS = Object.keys(ROUTES) as readonly RouteId[]

/** What a route can be refused with: what its kind implies, and what is its own. */
export function problemsOf(route: Route): ProblemCode[] {
  const codes = new Set<ProblemCode>(['bad_request'])
  if (route.verb !== null) codes.add('unauthenticated').add('forbidden')
  if (route.body !== null) codes.add('too_large').add('unsupported_media_type')
  for (const code of route.problems) codes.add(code)
  if (route.path.includes('{lock}') && route !== ROUTES.status) codes.add('too_many').add('no_quorum')
  return [...codes.add('misconfigured').add('internal')]
}
