/** Participants that answer what a test wants them to, and a router in front of them. */
import type { LockConfiguration, ParticipantPlace } from '../../shared/api/configuration.ts'
import { formatGrantId, formatTicketId } from '../../shared/api/ids.ts'
import type { Json } from '../../shared/json.ts'
import type { LogEntry } from '../../shared/log.ts'
import { answerResponse } from '../../worker/answer-response.ts'
import type {
  ParticipantAnswer,
  ParticipantCall,
  ParticipantRequest,
  ParticipantStatus,
} from '../../worker/participant/calls.ts'
import type { RouterTimes } from '../../worker/router/context.ts'
import { OPEN } from '../../worker/router/keys.ts'
import type { RouterOptions } from '../../worker/router/options.ts'
import { createRouter } from '../../worker/router/router.ts'

export const USER = 'abcdefghijklmnopqrstu-'
export const EXPIRES_AT = '2026-11-16T12:00:00.000Z'
export const GRANT_ID = formatGrantId(1, 1025, USER)
export const TICKET_ID = formatTicketId(1, USER)

export const DEFAULTS: LockConfiguration = {
  number: 1,
  protocol: 'wme-2',
  participants: [place(1, 'weur'), place(2, 'enam'), place(3, 'apac')],
  firstOwner: 1,
  ttlMs: 30_000,
  detector: { heartbeatMs: 500, timeoutMs: 2_000 },
  localHandoffs: 1,
  resource: 'key-value',
}

export function place(id: number, location: string | null, url: string | null = null): ParticipantPlace {
  return { id, location, url }
}

/** Somewhere in Germany, in Virginia, in Hong Kong: next to participants 1, 2 and 3. */
export const NEAR_1 = { latitude: '50.0', longitude: '8.0' }
export const NEAR_2 = { latitude: '38.0', longitude: '-78.0' }
export const NEAR_3 = { latitude: '22.0', longitude: '114.0' }

export interface Asked {
  readonly lock: string
  readonly participant: number
  readonly call: ParticipantCall
  readonly headers: Headers
}

type Reply = ParticipantAnswer | Response
type Behaviour = (call: ParticipantCall, request: Request) => Reply | Promise<Reply>

export class FakeParticipants {
  readonly asked: Asked[] = []
  /** Requests for streams and WebSockets. */
  readonly opened: { readonly participant: number; readonly url: URL; readonly headers: Headers }[] = []
  private readonly behaviours = new Map<number, Behaviour>()

  /** From now on this participant does this. It may also throw, or never answer. */
  on(participant: number, behaviour: Behaviour): this {
    this.behaviours.set(participant, behaviour)
    return this
  }

  onAll(behaviour: Behaviour): this {
    for (let id = 1; id <= 13; id++) this.on(id, behaviour)
    return this
  }

  /** Whom the call was asked of, in order. */
  order(type?: ParticipantCall['type']): number[] {
    return this.asked
      .filter(({ call }) => type === undefined || call.type === type)
      .map(one => one.participant)
  }

  async fetch(lock: string, { id }: ParticipantPlace, request: Request): Promise<Response> {
    const behaviour = this.behaviours.get(id) ?? (call => usualAnswer(call, id))
    const url = new URL(request.url)
    if (url.pathname !== '/call') {
      this.opened.push({ participant: id, url, headers: request.headers })
      return responseOf(await behaviour({ type: 'status' }, request))
    }
    const { call, asItIs } = (await request.clone().json()) as ParticipantRequest
    this.asked.push({ lock, participant: id, call, headers: request.headers })
    return responseOf(await behaviour(call, request), asItIs)
  }
}

function responseOf(reply: Reply, asItIs = false): Response {
  return reply instanceof Response ? reply : answerResponse(reply, asItIs)
}

/** What a healthy participant of a lock with nothing to it says. */
export function usualAnswer(call: ParticipantCall, participant: number): ParticipantAnswer {
  switch (call.type) {
    case 'acquire':
    case 'ticket': {
      const id = formatGrantId(participant, 1025, call.user)
      return done(200, {
        grant: { id, fence: 1025, participant, epoch: 1, expiresAt: EXPIRES_AT, ttlMs: 30_000 },
      })
    }
    case 'ops':
      return done(200, { sequence: 2, applied: true, results: [{ revision: 2 }] })
    case 'transact':
      return done(200, { fence: 1025, sequence: 2, applied: true, results: [{ revision: 2 }] })
    case 'keepalive':
      return done(200, { expiresAt: EXPIRES_AT })
    case 'withdraw':
      return call.ofWaiter ? done(200, { configuration: DEFAULTS as unknown as Json }) : done(204, null)
    case 'confirm':
    case 'delete':
    case 'release':
      return done(204, null)
    case 'get':
      return done(200, { key: call.key, value: { a: 1 }, revision: 2, sequence: 7 })
    case 'list':
      return done(200, { entries: [{ key: 'a', value: 1, revision: 2 }], cursor: 'a', sequence: 7 })
    case 'status':
      return done(200, statusOf())
    case 'history':
      return done(200, [{ at: 1, participant, type: 'try', user: 'u' }])
    case 'eject':
      return done(200, { epoch: 2 })
    case 'members':
      return done(200, { configuration: DEFAULTS as unknown as Json })
    case 'export':
    case 'import':
      return done(200, {})
    case 'locks':
      return done(200, { entries: [], isLast: true })
    case 'configure':
      return done(200, { created: true, configuration: call.configuration as unknown as Json })
  }
}

export function statusOf(fields: Partial<ParticipantStatus> = {}): Json {
  const status: ParticipantStatus = {
    configuration: DEFAULTS,
    phase: 'idle',
    epoch: 1,
    sequence: 7,
    owner: 1,
    queue: 0,
    suspects: [],
    peerRequests: 0,
    holder: null,
    ...fields,
  }
  return status as unknown as Json
}

export function done(status: 200 | 201 | 202 | 204, body: Json): ParticipantAnswer {
  return { type: 'done', status, body }
}

export function refuse(
  code: Extract<ParticipantAnswer, { type: 'problem' }>['code'],
  more = {},
): ParticipantAnswer {
  return { type: 'problem', code, detail: `it is ${code}`, ...more }
}

export const never = (): Promise<never> => new Promise(() => {})

/** Like the error of a Durable Object's stub. */
export function stubError(marks: {
  retryable?: boolean
  overloaded?: boolean
  durableObjectReset?: boolean
}): Error {
  return Object.assign(new Error('Network connection lost.'), marks)
}

/** Node cannot make an answer with this status; Workers can. */
export function upgraded(webSocket: string, headers: Headers = new Headers()): Response {
  const response = new Response(null, { headers })
  return Object.defineProperties(response, { status: { value: 101 }, webSocket: { value: webSocket } })
}

export function socketOf(response: Response): string {
  return (response as Response & { readonly webSocket: string }).webSocket
}

export interface Harness {
  readonly participants: FakeParticipants
  readonly log: LogEntry[]
  readonly app: ReturnType<typeof createRouter>
  /** Promises that were left to go on after the answer. */
  readonly background: Promise<unknown>[]
  send(method: string, path: string, body?: unknown, options?: SendOptions): Promise<Response>
}

export interface SendOptions {
  readonly headers?: { readonly [name: string]: string }
  readonly cf?: object
  readonly signal?: AbortSignal
}

/** Times are short: a test that waits for a participant that never answers should not wait long itself. */
export const SHORT_TIMES: RouterTimes = {
  answerMs: 600,
  statusMs: 150,
  probeAfterMs: 100,
  probeMs: 100,
  retryMs: 1,
  silenceMs: 1_000,
}

export function createHarness(options: Partial<RouterOptions> = {}): Harness {
  const participants = new FakeParticipants()
  const log: LogEntry[] = []
  const background: Promise<unknown>[] = []
  const app = createRouter({
    participants,
    keys: OPEN,
    defaults: DEFAULTS,
    times: SHORT_TIMES,
    log: entry => log.push(entry),
    ...options,
  })
  const context = {
    waitUntil: (work: Promise<unknown>) => background.push(work),
    passThroughOnException: () => {},
    props: {},
  }
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    { headers = {}, cf, signal }: SendOptions = {},
  ) => {
    const isText = typeof body === 'string' || body instanceof Uint8Array
    const content = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const init = { method, headers: { ...type, ...headers }, ...content, ...(signal && { signal }) }
    const request = Object.assign(new Request(`http://baton.test${path}`, init as RequestInit), { cf })
    return app.fetch(request, {}, context)
  }
  return { participants, log, app, background, send }
}

export type ProblemBody = { readonly [member: string]: Json } & {
  readonly code: string
  readonly errors: { readonly in: string; readonly path: string; readonly message: string }[]
}

export async function problemOf(response: Response): Promise<ProblemBody> {
  return (await response.json()) as ProblemBody
}
