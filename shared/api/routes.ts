/**
 * Every call of the public contract as data, in the order in which one comes to need them. The router
 * registers its handlers by this table (and would not compile without one for each), and OpenAPI and the
 * human page are made from it: what is documented is what is served.
 */
import type * as z from 'zod'
import * as answers from './answer-schemas.ts'
import { API_LIMITS } from './limits.ts'
import { exportAnswer, importBody } from './moving-schemas.ts'
import type { ProblemCode } from './problems.ts'
import * as requests from './requests.ts'

/** What a key may be allowed to do. */
export const VERBS = ['acquire', 'read', 'watch', 'history', 'configure', 'eject', 'metrics'] as const
export type Verb = (typeof VERBS)[number]

/** The groups of calls, in the order in which one comes to need them. */
export const TAGS = {
  hold: { title: 'Hold a lock', description: 'Acquire a lock, change the state that it guards, and let go.' },
  read: { title: 'Read the state', description: 'Nobody has to hold the lock for this.' },
  look: { title: 'Look at a lock', description: 'Who holds it, who waits, and what its participants know.' },
  operate: { title: 'Operate', description: 'For those who run the service.' },
  service: { title: 'The service', description: 'What the service says about itself.' },
} as const
export type Tag = keyof typeof TAGS

export interface RouteAnswer {
  readonly description: string
  readonly schema?: z.ZodType
  /** If it is not JSON; with a schema too, if it is the one or the other. */
  readonly mediaType?: string
  readonly headers?: { readonly [name: string]: string }
}

export interface Route {
  readonly method: 'get' | 'put' | 'post' | 'delete'
  readonly path: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** What the caller's key must allow; `null`: no key is needed. */
  readonly verb: Verb | null
  readonly parameters: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | null
  /** Default: `API_LIMITS.bodyBytes`. */
  readonly bodyBytes?: number
  /** The handler reads and checks the body as it comes. */
  readonly isStreamed?: true
  readonly answers: { readonly [status: number]: RouteAnswer }
  /** Besides those that every route has. */
  readonly problems: readonly ProblemCode[]
}

const ONCE =
  'Sending the same `opId` again, also under another grant or in a transact, gives the same answer and applies ' +
  'nothing twice; with other ops it is a conflict. A participant that knows the result answers without waiting ' +
  `for the lock. The lock remembers at least its last ${API_LIMITS.resultsKept} operations. After that a new ` +
  'grant or a transact applies the operation anew, and under the old grant its outcome is unknown.'
const HANDED_OVER =
  'A client that has gone while it waited for half a second or longer holds nothing afterwards. Before it hands over such a grant, the service ' +
  'writes the first bytes of the answer and sees whether the connection breaks; if so, the grant is withdrawn at once, and if the answer ' +
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
  transact: {
    method: 'post',
    path: '/v1/locks/{lock}/transact',
    tag: 'hold',
    summary: 'Acquire, apply and release in one call',
    description: ONCE,
    verb: 'acquire',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.transactBody,
    answers: { 200: { description: 'The outcome.', schema: answers.transactAnswer } },
    problems: ['no_such_lock', 'locked', 'conflict', ...GRANT_OVER, 'not_supported'],
  },
  acquire: {
    method: 'post',
    path: '/v1/locks/{lock}/acquire',
    tag: 'hold',
    summary: 'Acquire the lock',
    description:
      'The answer is a grant. Its `id` is how you use the lock. Its `fence` grows from grant to grant: a database ' +
      `that remembers the highest fence that it has seen can refuse a holder that comes too late. ${HANDED_OVER}`,
    verb: 'acquire',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.acquireBody,
    answers: { 200: granted, 202: waiting },
    problems: ['no_such_lock', 'locked', 'conflict', 'not_supported'],
  },
  ops: {
    method: 'post',
    path: '/v1/locks/{lock}/grants/{id}/ops',
    tag: 'hold',
    summary: 'Apply a batch of ops to the guarded state',
    description: `The batch is applied as a whole, or not at all. ${ONCE}`,
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
    tag: 'hold',
    summary: 'Keep a grant alive',
    description: 'The grant lasts for another `ttlMs` from now on.',
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
    tag: 'hold',
    summary: 'Release the lock',
    verb: 'acquire',
    parameters: requests.grantPath,
    query: requests.noQuery,
    body: null,
    answers: { 204: { description: 'Released.' } },
    problems: GRANT_OVER,
  },
  ticket: {
    method: 'get',
    path: '/v1/locks/{lock}/tickets/{id}',
    tag: 'hold',
    summary: 'Wait for a ticket to become a grant',
    description:
      'An acquire with `ticket: true` that is not granted in time answers with a ticket. It keeps its place in the ' +
      `queue as long as somebody asks for it at least every ${API_LIMITS.ticketMs / 1_000} s.`,
    verb: 'acquire',
    parameters: requests.ticketPath,
    query: requests.ticketQuery,
    body: null,
    answers: { 200: granted, 202: waiting },
    problems: ['no_such_lock', 'no_such_ticket', ...GRANT_OVER],
  },
  withdraw: {
    method: 'delete',
    path: '/v1/locks/{lock}/tickets/{id}',
    tag: 'hold',
    summary: 'Give a ticket up',
    description: 'If the ticket has become a grant meanwhile, that is released.',
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
    tag: 'hold',
    summary: 'Withdraw an acquire by the name that its client gave it',
    description:
      'It no longer waits anywhere, and what it was granted is released. An acquire that comes after its withdrawal ' +
      `is refused with a conflict, for ${API_LIMITS.withdrawnMs / 1000} s. If a participant does not answer, ask again.`,
    verb: 'acquire',
    parameters: requests.waiterPath,
    query: requests.noQuery,
    body: null,
    answers: { 204: { description: 'Withdrawn, whether or not it waited.' } },
    problems: [],
  },
  session: {
    method: 'get',
    path: '/v1/locks/{lock}/session',
    tag: 'hold',
    summary: 'Hold the lock for as long as a WebSocket is open, transact and read',
    description:
      'The client sends a SessionMessage, the service a SessionEvent, each as JSON. The grant ends with the socket, ' +
      'and also when the client gives no sign of life for `ttlMs`: any message is one, and so is the text `ping`, ' +
      'which is answered `pong`. A client answers a `probe` with the same message, to show that it reads. A browser, ' +
      'which cannot set headers, offers the subprotocols `baton` and `baton.key.<key>`. A `transact` and a `get` are the ' +
      'calls of these names, with the same answers; each says by its `opId` or `key` what it is about. A `get` needs a ' +
      'key with the verb `read`.',
    verb: 'acquire',
    parameters: requests.lockPath,
    query: requests.sessionQuery,
    body: null,
    answers: { 101: { description: 'The WebSocket.' } },
    problems: [],
  },
  get: {
    method: 'get',
    path: '/v1/locks/{lock}/state/{key}',
    tag: 'read',
    summary: 'Read a key',
    description:
      'Write the key percent-encoded. The `ETag` stands for its revision and its value: with `If-None-Match` an ' +
      'unchanged key is answered with `304`.',
    verb: 'read',
    parameters: requests.keyPath,
    query: requests.stateQuery,
    body: null,
    answers: {
      200: {
        description: 'The value.',
        schema: answers.stateAnswer,
        headers: { ETag: 'The revision of the key and a digest of its value, as a weak validator.' },
      },
      304: { description: 'The key still has the revision and the value of If-None-Match.' },
    },
    problems: ['no_such_lock', 'no_such_key', 'too_large', 'not_supported'],
  },
  list: {
    method: 'get',
    path: '/v1/locks/{lock}/state',
    tag: 'read',
    summary: 'List keys and their values',
    description: 'Page by page, in the order of the keys.',
    verb: 'read',
    parameters: requests.lockPath,
    query: requests.listQuery,
    body: null,
    answers: { 200: { description: 'A page of keys in order.', schema: answers.listAnswer } },
    problems: ['no_such_lock', 'not_supported'],
  },
  watch: {
    method: 'get',
    path: '/v1/locks/{lock}/watch',
    tag: 'read',
    summary: 'Follow operations and holders as they happen',
    description:
      'Server-Sent Events named `op`, `holder` and `snapshot`; the id of each is its sequence. The header ' +
      '`Last-Event-ID`, which a browser sends when it reconnects, counts for more than `since`. A comment line every ' +
      '15 s keeps the stream open. A `holder` event tells who holds the lock, or that nobody does any more, whichever ' +
      'participant is watched: at the beginning, if somebody holds it, and at each change. It comes once more, without ' +
      'an id, when the participant that is watched has asked that of the holder who it is.',
    verb: 'watch',
    parameters: requests.lockPath,
    query: requests.watchQuery,
    body: null,
    answers: { 200: { description: 'Server-Sent Events.', mediaType: 'text/event-stream' } },
    problems: ['no_such_lock', 'not_supported'],
  },
  status: {
    method: 'get',
    path: '/v1/locks/{lock}',
    tag: 'look',
    summary: 'See who holds the lock, and what each participant knows',
    description:
      'A participant that does not answer is reported as unreachable; it never fails the call. The `explanation` is for ' +
      'people. A lock that nobody has used or configured does not come to be by this.',
    verb: 'read',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: null,
    answers: { 200: { description: 'The views of all participants.', schema: answers.statusAnswer } },
    problems: ['no_such_lock'],
  },
  locks: {
    method: 'get',
    path: '/v1/locks',
    tag: 'look',
    summary: 'List the locks',
    description:
      'Page by page, in the order of their names. A page may have fewer locks than `limit`: only one without a `cursor` is ' +
      'the last. A key that is good for some locks is told of those. The list is kept apart from the locks: a lock is in it, or ' +
      'gone from it, a moment after it was created or deleted, or later if the list is not reachable then.',
    verb: 'read',
    parameters: requests.noPath,
    query: requests.locksQuery,
    body: null,
    answers: { 200: { description: 'A page of locks.', schema: answers.locksAnswer } },
    problems: ['no_quorum'],
  },
  history: {
    method: 'get',
    path: '/v1/locks/{lock}/history',
    tag: 'look',
    summary: 'Read what each participant has recorded',
    description:
      'A checker can judge from it whether the lock kept its promises. The oldest events come first. Later pages list ' +
      'the participants that had more, or did not answer.',
    verb: 'history',
    parameters: requests.lockPath,
    query: requests.historyQuery,
    body: null,
    answers: { 200: { description: 'A page of events, newest last.', schema: answers.historyAnswer } },
    problems: ['no_such_lock'],
  },
  configure: {
    method: 'put',
    path: '/v1/locks/{lock}',
    tag: 'operate',
    summary: 'Configure a lock before its first use',
    description:
      'A field that is left out has its default. A lock that exists keeps the configuration that it was created ' +
      'with: its first acquire, transact or session creates it with the defaults.',
    verb: 'configure',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.configureBody,
    answers: {
      200: { description: 'The lock had this configuration already.', schema: answers.configurationAnswer },
      201: { description: 'Created.', schema: answers.configurationAnswer },
    },
    problems: ['conflict'],
  },
  delete: {
    method: 'delete',
    path: '/v1/locks/{lock}',
    tag: 'operate',
    summary: 'Delete a lock, with the state that it guards',
    description:
      'It is refused (`409 locked`) while the lock is held, unless it is forced with `?force=true`: then the holder is ejected and hears what became of its ' +
      'pending operation. Whoever waits for the lock is told that it is gone. Afterwards its participants keep nothing but ' +
      'a few numbers, so that the fences of a later lock of this name are higher. A participant that is away learns of it ' +
      'when it is back.',
    verb: 'configure',
    parameters: requests.lockPath,
    query: requests.deleteQuery,
    body: null,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['no_such_lock', 'locked', 'conflict', 'not_supported'],
  },
  eject: {
    method: 'post',
    path: '/v1/locks/{lock}/eject',
    tag: 'operate',
    summary: 'Force the present holder out',
    description:
      'With a `fence`, only the holder that has it is ejected: if another one does, the answer is `409 conflict`. ' +
      'Without a `fence`, a call that is repeated may force out a second holder.',
    verb: 'eject',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.ejectBody,
    answers: { 200: { description: 'The holder is out.', schema: answers.ejectAnswer } },
    problems: ['no_such_lock', 'conflict'],
  },
  exportLock: {
    method: 'get',
    path: '/v1/locks/{lock}/export',
    tag: 'operate',
    summary: 'Save everything that counts of a lock',
    description:
      'One consistent point: the state with its revisions, the results of operations that are remembered, the configuration, ' +
      'and where fences, epochs and sequences have come to. It has everything that was answered before it was asked for. The lock ' +
      'goes on; delete it, or let nobody use it any more, if it is to go on elsewhere.',
    verb: 'configure',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: null,
    answers: { 200: { description: 'The lock, for an import.', schema: exportAnswer } },
    problems: ['no_such_lock', 'not_supported'],
  },
  importLock: {
    method: 'post',
    path: '/v1/locks/{lock}/import',
    tag: 'operate',
    summary: 'Make a lock from an export, here or at another service',
    description:
      'There must be no lock of this name yet. The new lock has the state, its revisions and the results, all at once or not at ' +
      'all, so that an operation that was applied before is not applied again. Its fences and sequences begin above those of the ' +
      `export. The body may have ${API_LIMITS.importBytes} bytes. If no answer comes, see with the status whether the lock is there.`,
    verb: 'configure',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: importBody,
    bodyBytes: API_LIMITS.importBytes,
    isStreamed: true,
    answers: { 201: { description: 'Created.', schema: answers.configurationAnswer } },
    problems: ['conflict', 'locked', 'not_supported', 'ejected', 'expired', 'released'],
  },
  participants: {
    method: 'post',
    path: '/v1/locks/{lock}/participants',
    tag: 'operate',
    summary: 'Add, remove or replace participants',
    description:
      'The lock stays in use meanwhile. A new participant gets a copy of everything before it counts; a majority of the ' +
      'present ones decides. Whoever holds the lock at a participant that goes is given time to finish, and whoever waits ' +
      'there goes on waiting elsewhere. The call says what the lock is to have: said again, it changes nothing more. ' +
      '`200` says that a majority of the new participants has everything, so those that were removed are no longer needed. ' +
      '`202` says that it is under way, and that these are the participants so far: ask again, or look at the lock. After a ' +
      '`409` the lock has other participants than this change was made for, and `participants` says which.',
    verb: 'configure',
    parameters: requests.lockPath,
    query: requests.noQuery,
    body: requests.participantsBody,
    answers: {
      200: { description: 'The lock has these participants.', schema: answers.participantsAnswer },
      202: {
        description: 'Under way.',
        schema: answers.participantsAnswer,
        headers: { Location: 'Where the lock says what it is doing.' },
      },
    },
    problems: ['no_such_lock', 'conflict', 'not_supported', 'no_quorum'],
  },
  home: {
    method: 'get',
    path: '/',
    tag: 'service',
    summary: 'See what is here',
    description: 'A browser gets a page, everybody else a short answer with links.',
    verb: null,
    parameters: requests.noPath,
    query: requests.noQuery,
    body: null,
    answers: {
      200: { description: 'What is here.', schema: answers.homeAnswer, mediaType: 'text/html' },
    },
    problems: [],
  },
  health: {
    method: 'get',
    path: '/healthz',
    tag: 'service',
    summary: 'Ask whether the service runs',
    description:
      'A process that keeps participants behind a `url` says in `ledger` whether it has found out what it lost, and in ' +
      'how many locks it is not back yet. Before you replace another machine, every process must say `healed: true` ' +
      'and `unfinishedLocks: 0`.',
    verb: null,
    parameters: requests.noPath,
    query: requests.noQuery,
    body: null,
    answers: { 200: { description: 'The router runs.', schema: answers.healthAnswer } },
    problems: [],
  },
  metrics: {
    method: 'get',
    path: '/metrics',
    tag: 'service',
    summary: 'Scrape the metrics of this router, and of the locks that you name',
    description:
      'Text for Prometheus. Participants are asked only for the locks that are named in `lock`, because asking an idle ' +
      'lock wakes it. A participant that does not answer has `baton_participant_up` 0 and nothing more.',
    verb: 'metrics',
    parameters: requests.noPath,
    query: requests.metricsQuery,
    body: null,
    answers: { 200: { description: 'Prometheus text.', mediaType: 'text/plain' } },
    problems: ['no_such_lock'],
  },
  openapi: {
    method: 'get',
    path: '/openapi.json',
    tag: 'service',
    summary: 'Read this description as OpenAPI',
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
    tag: 'service',
    summary: 'Read this description as a page',
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
  if (route.path.includes('{lock}')) codes.add('no_quorum')
  if (route.path.includes('{lock}') && route !== ROUTES.status) codes.add('too_many')
  return [...codes.add('misconfigured').add('internal')]
}
