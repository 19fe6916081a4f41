/**
 * One example of every call: what is sent, and what was answered. OpenAPI and the human page show them, and a
 * test runs them against the service: an answer of today has the shape of the one that is written here.
 *
 * `$GRANT` and `$TICKET` stand for the id in an answer before it.
 */
import type { Json } from '../json.ts'
import type { RouteId } from './routes.ts'

export interface RouteExample {
  readonly parameters?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string }
  readonly body?: Json
  readonly headers?: { readonly [name: string]: string }
  readonly status: number
  /** A JSON value, or what is not JSON as it came. */
  readonly answer?: Json
  readonly text?: string
}

const LOCK = 'demo'
const EXPIRES_AT = '2026-11-17T09:30:30.000Z'
const GRANT = {
  id: '1-3-lFY7ktU6OtBTb9a-zCWo4A',
  fence: 3,
  participant: 1,
  epoch: 0,
  expiresAt: EXPIRES_AT,
  ttlMs: 30_000,
}

const participantView = (id: number, location: string, phase: string): Json => {
  const known = { reachable: true, phase, epoch: 0, sequence: 5, owner: 1, queue: 0, suspects: [] }
  return { id, location, ...known }
}

/** Participants record what they do for users, and what they apply. */
const APPLIED: Json = [
  {
    at: 1794907800101,
    participant: 2,
    type: 'invoke',
    sequence: 2,
    fence: 1,
    opId: 'visit-1',
    operation: [{ increment: 'visits' }],
  },
  {
    at: 1794907800101,
    participant: 2,
    type: 'response',
    sequence: 2,
    opId: 'visit-1',
    result: { applied: true, results: [{ value: 1, revision: 2 }] },
  },
]

const EXPORTED = {
  protocol: 'wme-2',
  participants: [
    { id: 1, location: 'weur' },
    { id: 2, location: 'enam' },
    { id: 3, location: 'apac' },
  ],
  ttlMs: 30_000,
  detector: { heartbeatMs: 500, timeoutMs: 2_000 },
  localHandoffs: 1,
} as const

export const EXAMPLES: { readonly [Id in RouteId]: RouteExample } = {
  transact: {
    parameters: { lock: LOCK },
    body: { opId: 'visit-1', ops: [{ increment: 'visits' }] },
    status: 200,
    answer: { fence: 1, sequence: 2, applied: true, results: [{ value: 1, revision: 2 }] },
  },
  acquire: {
    parameters: { lock: LOCK },
    body: { waitMs: 5_000, ttlMs: 30_000, owner: 'checkout-7' },
    status: 200,
    answer: { grant: GRANT },
  },
  ops: {
    parameters: { lock: LOCK, id: '$GRANT' },
    body: { opId: 'visit-2', ops: [{ increment: 'visits' }, { put: 'last', value: { name: 'Ann' } }] },
    status: 200,
    answer: { sequence: 4, applied: true, results: [{ value: 2, revision: 4 }, { revision: 4 }] },
  },
  keepalive: {
    parameters: { lock: LOCK, id: '$GRANT' },
    body: { ttlMs: 60_000 },
    status: 200,
    answer: { expiresAt: EXPIRES_AT },
  },
  release: { parameters: { lock: LOCK, id: '$GRANT' }, status: 204 },
  ticket: {
    parameters: { lock: LOCK, id: '$TICKET' },
    query: { waitMs: '20000' },
    status: 200,
    answer: { grant: { ...GRANT, id: '1-5-8DEpoLkRbPJ-XR1wDiA2hg', fence: 5 } },
  },
  withdraw: { parameters: { lock: LOCK, id: '$TICKET' }, status: 204 },
  withdrawWaiter: { parameters: { lock: LOCK, waiter: 'q0Tb1wqDnJH3mVbXo2kZ5g' }, status: 204 },
  session: {
    parameters: { lock: LOCK },
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
    status: 101,
  },
  get: {
    parameters: { lock: LOCK, key: 'visits' },
    status: 200,
    answer: { key: 'visits', value: 2, revision: 4, sequence: 4 },
  },
  list: {
    parameters: { lock: LOCK },
    query: { prefix: 'v', limit: '10' },
    status: 200,
    answer: { entries: [{ key: 'visits', value: 2, revision: 4 }], cursor: null, sequence: 4 },
  },
  watch: {
    parameters: { lock: LOCK },
    query: { since: '0' },
    status: 200,
    text: `: baton

id: 1
event: holder
data: {"sequence":1,"participant":1,"fence":1,"since":"2026-11-17T09:30:00.042Z","expiresAt":"2026-11-17T09:31:00.042Z"}

id: 2
event: op
data: {"sequence":2,"fence":1,"opId":"visit-1","changes":[{"key":"visits","value":1,"revision":2}]}
`,
  },
  status: {
    parameters: { lock: LOCK },
    status: 200,
    answer: {
      lock: LOCK,
      protocol: 'wme-2',
      generation: 1,
      participants: [
        participantView(1, 'weur', 'cs-idle'),
        participantView(2, 'enam', 'idle'),
        participantView(3, 'apac', 'idle'),
      ],
      holder: {
        participant: 1,
        fence: 5,
        expiresAt: EXPIRES_AT,
        since: '2026-11-17T09:30:00.000Z',
        owner: 'checkout-7',
      },
      waiting: { count: 0, since: null },
      explanation: 'held by checkout-7 at 1 (weur) for 41 s, expires in 19 s',
    },
  },
  locks: {
    query: { prefix: 'de', limit: '10' },
    status: 200,
    answer: {
      locks: [{ lock: LOCK, protocol: 'wme-2', participants: 3, generation: 1 }],
      cursor: null,
    },
  },
  history: {
    parameters: { lock: LOCK },
    query: { limit: '2' },
    status: 200,
    answer: {
      lock: LOCK,
      protocol: 'wme-2',
      resource: 'key-value',
      participants: [
        {
          id: 1,
          reachable: true,
          events: [
            { at: 1794907800042, participant: 1, type: 'try', user: '1/~nd7Rf0V' },
            {
              at: 1794907800042,
              participant: 1,
              type: 'crit',
              user: '1/~nd7Rf0V',
              fence: 1,
              epoch: 0,
              expiresAt: 1794907860042,
            },
          ],
        },
        { id: 2, reachable: true, events: APPLIED },
        { id: 3, reachable: false, events: [] },
      ],
      cursor: 'eyIxIjoiMi4wIiwiMiI6IjIuMCIsIjMiOiIyLjAifQ',
    },
  },
  configure: {
    parameters: { lock: 'europe' },
    body: { participants: [{ location: 'weur' }, { location: 'eeur' }, { location: 'weur' }], ttlMs: 10_000 },
    status: 201,
    answer: {
      lock: 'europe',
      protocol: 'wme-2',
      participants: [
        { id: 1, location: 'weur' },
        { id: 2, location: 'eeur' },
        { id: 3, location: 'weur' },
      ],
      ttlMs: 10_000,
      detector: { heartbeatMs: 500, timeoutMs: 2_000 },
      localHandoffs: 1,
    },
  },
  delete: { parameters: { lock: 'europe' }, query: { force: 'false' }, status: 204 },
  eject: { parameters: { lock: LOCK }, body: {}, status: 200, answer: { epoch: 0 } },
  exportLock: {
    parameters: { lock: LOCK },
    status: 200,
    answer: {
      format: 1,
      lock: LOCK,
      resource: 'key-value',
      epoch: 2,
      sequence: 4,
      droppedThrough: 0,
      cells: [
        { cell: '=visits', value: { value: 2, revision: 4 } },
        { cell: '=last', value: { value: { name: 'Ann' }, revision: 4 } },
      ],
      results: [
        {
          opId: 'visit-1',
          sequence: 2,
          digest: '0f3c1a7d5be94b1c8f6d2e4a9b7c5d30',
          result: { applied: true, results: [{ value: 1, revision: 2 }] },
          fence: 1,
        },
        {
          opId: 'visit-2',
          sequence: 4,
          digest: '7a1e4c9b0d2f86354e1c7b9a0f3d5c21',
          result: { applied: true, results: [{ value: 2, revision: 4 }, { revision: 4 }] },
          fence: 3,
        },
      ],
      configuration: EXPORTED,
    },
  },
  importLock: {
    parameters: { lock: 'copy' },
    body: {
      format: 1,
      lock: LOCK,
      resource: 'key-value',
      epoch: 2,
      sequence: 4,
      droppedThrough: 0,
      cells: [{ cell: '=visits', value: { value: 2, revision: 4 } }],
      results: [],
      configuration: EXPORTED,
    },
    status: 201,
    answer: { lock: 'copy', ...EXPORTED },
  },
  participants: {
    parameters: { lock: LOCK },
    body: { add: { location: 'oc' } },
    status: 200,
    answer: {
      participants: [
        { id: 1, location: 'weur' },
        { id: 2, location: 'enam' },
        { id: 3, location: 'apac' },
        { id: 4, location: 'oc' },
      ],
      configuration: 2_049,
    },
  },
  home: {
    status: 200,
    answer: {
      service: 'baton',
      version: '0.1.0',
      status: 'ok',
      protocol: 'wme-2',
      participants: [
        { id: 1, location: 'weur' },
        { id: 2, location: 'enam' },
        { id: 3, location: 'apac' },
      ],
      links: { docs: '/docs', openapi: '/openapi.json', health: '/healthz', metrics: '/metrics' },
    },
  },
  health: { status: 200, answer: { status: 'ok' } },
  metrics: {
    query: { lock: LOCK },
    status: 200,
    text: `# HELP baton_requests_total Requests by route, method and status, since this instance of the router began.
# TYPE baton_requests_total counter
baton_requests_total{route="/v1/locks/{lock}/transact",method="POST",status="200"} 1
`,
  },
  openapi: { status: 200 },
  docs: { status: 200 },
}
