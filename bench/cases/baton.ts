/** Baton as a client uses it: by HTTP, and by a session's WebSocket. */
import { randomUUID } from 'node:crypto'
import { PONG, type SessionEvent, type SessionMessage } from '../../shared/api/session.ts'
import { type Case, type CaseName, inTurn } from '../case.ts'
import { request } from '../http.ts'
import {
  type LockCases,
  type Locking,
  lockCases,
  movingCases,
  type Session,
  sessionCases,
} from './lock-cases.ts'
import { AnsweringSocket } from './socket.ts'

interface Grant {
  readonly id: string
}

/** No grant may expire while a case is measured. */
const TTL_MS = 120_000
const WAIT_MS = 25_000

const ops = () => ({ opId: randomUUID(), ops: [{ put: 'key', value: randomUUID() }] })

export interface BatonLocks extends Locking<Grant> {
  transact(lock: string, at?: number): Promise<unknown>
  configure(lock: string, protocol: string, participants: number): Promise<unknown>
}

export function batonLocks(url: string): BatonLocks {
  const of = (lock: string) => `${url}/v1/locks/${lock}`
  return {
    acquire: async (lock, at) => {
      const body = { waitMs: WAIT_MS, ttlMs: TTL_MS, ...(at && { at }) }
      return (await request<{ grant: Grant }>('POST', `${of(lock)}/acquire`, body)).grant
    },
    write: (lock, { id }) => request('POST', `${of(lock)}/grants/${id}/ops`, ops()),
    release: (lock, { id }) => request('DELETE', `${of(lock)}/grants/${id}`),
    transact: (lock, at) => request('POST', `${of(lock)}/transact`, { ...ops(), ...(at && { at }) }),
    configure: (lock, protocol, participants) =>
      request('PUT', of(lock), { protocol, participants: Array.from({ length: participants }, () => ({})) }),
  }
}

export interface BatonCaseOptions {
  /** How many requests the participants of a lock have sent each other. */
  readonly requests?: (lock: string) => Promise<number>
  readonly manyLocks?: number | undefined
}

export function batonCases(
  url: string,
  name: string,
  participants: number,
  { requests, manyLocks }: BatonCaseOptions,
): LockCases {
  const service = batonLocks(url)
  const lock = `${name}-lock`
  const open = () => openSession(`${url}/v1/locks/${lock}/session`)
  const cases: { [name in CaseName]?: Case } = {
    ...lockCases(service, name, manyLocks),
    ...(participants > 1 && movingCases(service, name, participants)),
    transact: { run: inTurn(() => service.transact(lock, 1)) },
    ...sessionCases(open),
    'session: transact': transactCase(open),
  }
  if (requests === undefined) return cases
  const counted = Object.entries(cases).map(([name, measured]) => [
    name,
    ON_OTHER_LOCKS.includes(name) ? measured : { ...measured, requests: () => requests(lock) },
  ])
  return Object.fromEntries(counted) as LockCases
}

/** These use many locks, whose requests nobody adds up. */
const ON_OTHER_LOCKS = ['50 clients on 100 locks', 'first use of a lock']

interface BatonSession extends Session {
  transact(): Promise<unknown>
}

function transactCase(open: () => Promise<BatonSession>): Case {
  let session: BatonSession
  return {
    prepare: async () => {
      session = await open()
    },
    run: inTurn(() => session.transact()),
    finish: async () => session.close(),
  }
}

async function openSession(url: string): Promise<BatonSession> {
  const socket = await AnsweringSocket.open<SessionMessage, SessionEvent>(url, (data, socket) => {
    if (data === PONG) return null
    const event = JSON.parse(data) as SessionEvent | { readonly type: 'probe' }
    // The service asks now and then whether its client still reads.
    if (event.type === 'probe') socket.send(data)
    return event.type === 'probe' ? null : event
  })
  const ask = async (message: SessionMessage, expected: SessionEvent['type']) => {
    const event = await socket.ask(message)
    if (event.type !== expected) throw new Error(`${expected} was expected, not ${JSON.stringify(event)}`)
  }
  return {
    acquire: () => ask({ type: 'try', waitMs: WAIT_MS, ttlMs: TTL_MS }, 'crit'),
    write: () => ask({ type: 'issue', ...ops() }, 'outcome'),
    release: () => ask({ type: 'exit' }, 'rem'),
    transact: () => ask({ type: 'transact', waitMs: WAIT_MS, ...ops() }, 'outcome'),
    close: () => socket.close(),
  }
}
