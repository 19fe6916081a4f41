/** The yardsticks as a client uses them: the plain object by HTTP and WebSocket, and the replicated write. */
import { randomUUID } from 'node:crypto'
import { inTurn } from '../case.ts'
import { request } from '../http.ts'
import type { PlainAnswer, PlainCall } from '../yardstick/calls.ts'
import { type LockCases, type Locking, lockCases, type Session, sessionCases } from './lock-cases.ts'
import { AnsweringSocket } from './socket.ts'

/** How the Worker asks the object: see ../yardstick/worker.ts. */
export type Way = 'plain' | 'anew' | 'rpc'

export function plainLocks(url: string, way: Way = 'plain'): Locking<string> {
  const call = (lock: string, body: PlainCall) => request('POST', `${url}/${way}/${lock}`, body)
  return {
    acquire: async lock => {
      const token = randomUUID()
      await call(lock, { type: 'acquire', token })
      return token
    },
    write: (lock, token) => call(lock, { type: 'write', token, key: 'key', value: randomUUID() }),
    release: (lock, token) => call(lock, { type: 'release', token }),
  }
}

export const plainCases = (url: string, name: string, manyLocks?: number): LockCases => ({
  ...lockCases(plainLocks(url), name, manyLocks),
  ...sessionCases(() => openSocket(`${url}/plain/${name}-lock`)),
})

async function openSocket(url: string): Promise<Session> {
  const socket = await AnsweringSocket.open<PlainCall, PlainAnswer>(
    url,
    data => JSON.parse(data) as PlainAnswer,
  )
  const token = randomUUID()
  const ask = async (call: PlainCall) => {
    const { ok } = await socket.ask(call)
    if (!ok) throw new Error(`the plain object refused: ${JSON.stringify(call)}`)
  }
  return {
    acquire: () => ask({ type: 'acquire', token }),
    write: () => ask({ type: 'write', token, key: 'key', value: randomUUID() }),
    release: () => ask({ type: 'release', token }),
    close: () => socket.close(),
  }
}

/** `asked` peers of two: both of them, or the one that a majority needs. */
export const replicatedWriteCases = (url: string, asked: 1 | 2): LockCases => ({
  'one operation': {
    run: inTurn(() =>
      request('POST', `${url}/floor/write?peers=${asked}`, { key: 'key', value: randomUUID() }),
    ),
  },
})
