/**
 * A service in memory that keeps the part of the public contract that the client uses. It reads requests with
 * the schemas of the real one, so a client that says something the contract does not know is refused here
 * too.
 */
import { type Context, Hono } from 'hono'
import type * as z from 'zod'
import type { Clock, Fetch } from '../../client/index.ts'
import {
  formatCursor,
  formatGrantId,
  formatTicketId,
  parseCursor,
  parseGrantId,
  parseTicketId,
  userOfWaiter,
} from '../../shared/api/ids.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { PROBLEM_MEDIA_TYPE, type Problem, problem } from '../../shared/api/problems.ts'
import * as requests from '../../shared/api/requests.ts'
import { check, summarize } from '../../shared/api/validation.ts'
import type { Json } from '../../shared/json.ts'
import { keyOfCell, readKey } from '../../shared/resource/key-value.ts'
import { type FakeGrant, FakeLock, type Refused } from './fake-lock.ts'
import { streamEvents } from './fake-watch.ts'

const DEFAULT_TTL_MS = 30_000
const TICKET_MS = 60_000

export interface FakeServer {
  readonly fetch: Fetch
  lock(name: string): FakeLock
}

export interface FakeServerOptions {
  readonly clock: Clock
  /** Without it, the service is open. */
  readonly key?: string
}

export function createFakeServer({ clock, key }: FakeServerOptions): FakeServer {
  const locks = new Map<string, FakeLock>()
  const configurations = new Map<string, string>()
  const lockNamed = (name: string): FakeLock => {
    const lock = locks.get(name) ?? new FakeLock(clock)
    locks.set(name, lock)
    return lock
  }
  let users = 0
  const newUser = (): string => String(++users).padStart(22, 'u')

  const app = new Hono().basePath('/v1/locks/:lock')
  const lockOf = (c: Context): FakeLock => lockNamed(c.req.param('lock')!)

  app.use(async (c, next) => {
    if (key !== undefined && c.req.header('authorization') !== `Bearer ${key}`) {
      return refuse(problem('unauthenticated', 'No such key.'))
    }
    await next()
  })

  // ---- acquiring

  app.post('/acquire', async c => {
    const body = await readBody(c, requests.acquireBody)
    const lock = lockOf(c)
    const user = body.waiter === undefined ? newUser() : userOfWaiter(body.waiter)
    if (lock.withdrawn.has(user)) return refuse(problem('conflict', 'This waiter was withdrawn.'))
    const { ttlMs = DEFAULT_TTL_MS } = body
    const confirm = body.waiter === undefined ? {} : { confirmMs: API_LIMITS.untakenMs }
    lock.enqueue({ user, ttlMs, ...confirm })
    const grant = await waitFor(lock, user, body.waitMs, c.req.raw.signal)
    if (grant !== undefined) return c.json({ grant: describeGrant(lock, grant) })
    if (body.ticket) return c.json(describeTicket(lock, user), 202)
    lock.withdraw(user)
    return refuse(lockedProblem(lock))
  })

  app.get('/tickets/:id', async c => {
    const { waitMs } = readQuery(c, requests.ticketQuery)
    const lock = lockOf(c)
    const user = parseTicketId(c.req.param('id'))!.user
    const isKnown = lock.grantOf(user) !== undefined || lock.queue.some(waiting => waiting.user === user)
    if (!isKnown) return refuse(lock.refusal(user)?.refused ?? problem('no_such_ticket', 'No such ticket.'))
    const grant = await waitFor(lock, user, waitMs, new AbortController().signal)
    return grant === undefined
      ? c.json(describeTicket(lock, user), 202)
      : c.json({ grant: describeGrant(lock, grant) })
  })

  app.delete('/tickets/:id', c => {
    lockOf(c).withdraw(parseTicketId(c.req.param('id'))!.user)
    return c.body(null, 204)
  })

  app.delete('/waiters/:waiter', c => {
    const lock = lockOf(c)
    const user = userOfWaiter(c.req.param('waiter'))
    lock.withdrawn.add(user)
    lock.withdraw(user)
    return c.body(null, 204)
  })

  // ---- inside

  app.post('/grants/:id/ops', async c => {
    const { opId, ops } = await readBody(c, requests.opsBody)
    return answer(lockOf(c).operate(userOf(c), opId, ops as unknown as Json))
  })

  app.post('/grants/:id/keepalive', async c => {
    const { ttlMs, waitMs } = await readBody(c, requests.keepaliveBody)
    const lock = lockOf(c)
    const user = userOf(c)
    const refusal = lock.refusal(user)
    if (refusal !== undefined) return answer(refusal)
    const expiresAt = iso(lock.keepAlive(ttlMs))
    if (waitMs > 0) await untilOver(lock, user, waitMs)
    const over = lock.refusal(user)
    return over === undefined ? c.json({ expiresAt }) : answer(over)
  })

  app.delete('/grants/:id', c => {
    const lock = lockOf(c)
    const refusal = lock.refusal(userOf(c))
    if (refusal !== undefined) return answer(refusal)
    lock.end('released')
    return c.body(null, 204)
  })

  app.post('/transact', async c => {
    const { opId, ops, waitMs } = await readBody(c, requests.transactBody)
    const lock = lockOf(c)
    const user = newUser()
    lock.enqueue({ user, ttlMs: DEFAULT_TTL_MS })
    const grant = await waitFor(lock, user, waitMs, c.req.raw.signal)
    if (grant === undefined) {
      lock.withdraw(user)
      return refuse(problem('locked', 'Not granted in time.', { outcome: 'not-applied' }))
    }
    const result = lock.operate(user, opId, ops as unknown as Json)
    lock.withdraw(user)
    return answer(isRefused(result) ? result : { fence: grant.fence, ...(result as object) })
  })

  // ---- reading

  app.get('/state', c => {
    const { prefix, limit, cursor } = readQuery(c, requests.listQuery)
    const { cells, sequence } = lockOf(c)
    const after = cursor === undefined ? null : parseCursor(cursor)
    const keys = Object.keys(cells).map(keyOfCell).sort()
    const rest = keys.filter(key => key.startsWith(prefix) && (after === null || key > after))
    const entries = rest.slice(0, limit).map(key => ({ key, ...readKey(cells, key) }))
    return c.json({
      entries,
      cursor: rest.length > limit ? formatCursor(entries.at(-1)!.key) : null,
      sequence,
    })
  })

  app.get('/state/:key', c => {
    readQuery(c, requests.stateQuery)
    const { cells, sequence } = lockOf(c)
    const key = c.req.param('key')
    const read = readKey(cells, key)
    return read.revision === 0
      ? refuse(problem('no_such_key', 'No such key.'))
      : c.json({ key, ...read, sequence })
  })

  app.get('/watch', c => {
    const { since } = readQuery(c, requests.watchQuery)
    const last = c.req.header('last-event-id') ?? since
    return streamEvents(lockOf(c), last === undefined ? undefined : Number(last), c.req.raw.signal)
  })

  // ---- the lock itself

  app.put('/', async c => {
    const body = await readBody(c, requests.configureBody)
    const name = c.req.param('lock')!
    const before = configurations.get(name)
    if (before !== undefined && before !== JSON.stringify(body)) {
      return refuse(problem('conflict', 'The lock is configured otherwise.'))
    }
    configurations.set(name, JSON.stringify(body))
    const { protocol = 'wme-2', ttlMs = DEFAULT_TTL_MS, localHandoffs = 0 } = body
    const detector = { heartbeatMs: 1_000, timeoutMs: 5_000, ...body.detector }
    const participants = (body.participants ?? [{}]).map(({ location }, index) => ({
      id: index + 1,
      location: location ?? null,
    }))
    const configuration = { lock: name, protocol, participants, ttlMs, detector, localHandoffs }
    return c.json(configuration, before === undefined ? 201 : 200)
  })

  app.get('/', c => {
    const { epoch, sequence, queue, holder } = lockOf(c)
    const phase = holder === null ? 'idle' : 'cs-idle'
    const known = { id: 1, location: null, reachable: true, phase, epoch, sequence, owner: 1 }
    return c.json({
      lock: c.req.param('lock'),
      protocol: 'wme-2',
      generation: 1,
      participants: [{ ...known, queue: queue.length, suspects: [] }],
      holder: holder && describeHolder(holder),
      waiting: { count: queue.length, since: null },
      explanation: holder === null ? 'free' : 'held',
    })
  })

  app.get('/history', c => {
    readQuery(c, requests.historyQuery)
    const participants = [{ id: 1, reachable: true, events: [] }]
    const about = { lock: c.req.param('lock'), protocol: 'wme-2', resource: 'key-value' }
    return c.json({ ...about, participants, cursor: null })
  })

  app.post('/eject', async c => {
    const lock = lockOf(c)
    const { fence } = await c.req.json<{ fence?: number }>()
    if (fence !== undefined && lock.holder !== null && lock.holder.fence !== fence)
      return refuse(problem('conflict', 'The holder has another fence.'))
    lock.end('ejected')
    return c.json({ epoch: ++lock.epoch })
  })

  app.notFound(() => refuse(problem('no_such_route', 'Nothing here.')))
  app.onError(error => (error instanceof Refusal ? refuse(error.problem) : Promise.reject(error)))
  return { fetch: request => app.fetch(request), lock: lockNamed }
}

// ---------------------------------------------------------------- waiting

async function waitFor(
  lock: FakeLock,
  user: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<FakeGrant | undefined> {
  const over = new AbortController()
  const withdraw = (): void => lock.withdraw(user)
  signal.addEventListener('abort', withdraw)
  const timer = waitMs > 0 ? lock.clock.sleep(waitMs, { signal: over.signal }) : Promise.resolve()
  const isOver = timer.then(() => over.abort())
  while (lock.grantOf(user) === undefined && !over.signal.aborted && !signal.aborted) {
    await Promise.race([lock.changed(over.signal), isOver])
  }
  over.abort()
  signal.removeEventListener('abort', withdraw)
  return lock.grantOf(user)
}

async function untilOver(lock: FakeLock, user: string, waitMs: number): Promise<void> {
  const time = new AbortController()
  const isOver = lock.clock.sleep(waitMs, { signal: time.signal, background: true }).then(() => time.abort())
  while (lock.refusal(user) === undefined && !time.signal.aborted)
    await Promise.race([lock.changed(time.signal), isOver])
  time.abort()
}

// ---------------------------------------------------------------- describing

function describeHolder({ fence, expiresAt, ttlMs }: FakeGrant) {
  return { participant: 1, fence, expiresAt: iso(expiresAt), since: iso(expiresAt - ttlMs) }
}

function describeGrant(lock: FakeLock, { fence, user, expiresAt, confirmBy, confirmMs }: FakeGrant) {
  return {
    id: formatGrantId(1, fence, user),
    fence,
    participant: 1,
    epoch: lock.epoch,
    expiresAt: iso(expiresAt),
    ...(confirmBy !== null && { confirmMs }),
  }
}

function describeTicket(lock: FakeLock, user: string) {
  const position = lock.queue.findIndex(waiting => waiting.user === user) + 1
  return { ticket: { id: formatTicketId(1, user), position, expiresAt: iso(lock.clock.now() + TICKET_MS) } }
}

function lockedProblem({ holder }: FakeLock): Problem {
  if (holder === null) return problem('locked', 'Not granted in time.')
  const more = { holder: describeHolder(holder) }
  return problem('locked', 'Not granted in time.', { more })
}

const iso = (ms: number): string => new Date(ms).toISOString()
const userOf = (c: Context): string => parseGrantId(c.req.param('id')!)!.user

// ---------------------------------------------------------------- reading and answering

class Refusal extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

function refuse(problem: Problem): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'content-type': PROBLEM_MEDIA_TYPE },
  })
}

const isRefused = (result: object | Json): result is Refused =>
  typeof result === 'object' && result !== null && 'refused' in result

function answer(result: object | Json): Response {
  return isRefused(result) ? refuse(result.refused) : Response.json(result)
}

async function readBody<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.output<Schema>> {
  return validated(schema, await c.req.json(), 'body')
}

function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  const query = Object.entries(c.req.query()).map(([name, text]) =>
    requests.NUMERIC_PARAMETERS.has(name) ? [name, Number(text)] : [name, text],
  )
  return validated(schema, Object.fromEntries(query), 'query')
}

function validated<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  place: 'body' | 'query',
): z.output<Schema> {
  const checked = check(schema, input, place)
  if (checked.ok) return checked.value
  throw new Refusal(problem('bad_request', summarize(checked.errors), { errors: checked.errors }))
}
