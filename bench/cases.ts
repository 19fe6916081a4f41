/**
 * What is measured. A case is one unit of work that can be repeated; its yardstick is the plain object's way
 * to do the same.
 */
import { randomUUID } from 'node:crypto'
import { request } from './http.ts'

export type Yardstick =
  | 'plain acquire'
  | 'plain acquire+release'
  | 'plain write'
  | 'plain acquire+write+release'
  | 'plain handoff'

export interface Case {
  readonly name: string
  readonly yardstick: Yardstick
  /** How many operations one unit consists of, for the count of requests between objects. */
  readonly units: number
  prepare?(): Promise<unknown>
  run(): Promise<unknown>
  finish?(): Promise<unknown>
}

export interface PlainCase {
  readonly name: Yardstick
  prepare?(): Promise<unknown>
  run(): Promise<unknown>
  finish?(): Promise<unknown>
}

interface Grant {
  readonly id: string
}

const acquire = async (lock: string, at?: number): Promise<Grant> => {
  const { grant } = await request<{ grant: Grant }>('POST', `${lock}/acquire`, {
    waitMs: 25_000,
    ttlMs: 600_000,
    ...(at && { at }),
  })
  return grant
}

const release = (lock: string, grant: Grant) => request('DELETE', `${lock}/grants/${grant.id}`)

const write = (lock: string, grant: Grant) =>
  request('POST', `${lock}/grants/${grant.id}/ops`, {
    opId: randomUUID(),
    ops: [{ put: 'key', value: randomUUID() }],
  })

export function batonCases(lock: string): Case[] {
  let held: Grant | null = null
  let turn = 0
  return [
    {
      name: 'acquire, token here',
      yardstick: 'plain acquire+release',
      units: 1,
      run: async () => release(lock, await acquire(lock, 1)),
    },
    {
      name: 'acquire, token elsewhere',
      yardstick: 'plain acquire+release',
      units: 1,
      run: async () => release(lock, await acquire(lock, (turn++ % 2) + 1)),
    },
    {
      name: 'one operation',
      yardstick: 'plain write',
      units: 1,
      prepare: async () => {
        held = await acquire(lock, 1)
      },
      run: () => write(lock, held!),
      finish: () => release(lock, held!),
    },
    {
      name: 'lock, operation, unlock',
      yardstick: 'plain acquire+write+release',
      units: 1,
      run: async () => {
        const grant = await acquire(lock, 1)
        await write(lock, grant)
        await release(lock, grant)
      },
    },
    {
      name: 'transact',
      yardstick: 'plain acquire+write+release',
      units: 1,
      run: () =>
        request('POST', `${lock}/transact`, {
          opId: randomUUID(),
          ops: [{ put: 'key', value: randomUUID() }],
          at: 1,
        }),
    },
    {
      name: '10 clients in turn',
      yardstick: 'plain handoff',
      units: 10,
      run: () => contend(async () => release(lock, await acquire(lock))),
    },
  ]
}

export function plainCases(url: string): PlainCase[] {
  const call = (path: string, body: object) => request('POST', `${url}/plain/${path}`, body)
  const cycle = async (between?: (token: string) => Promise<unknown>) => {
    const token = randomUUID()
    await acquirePlain(call, token)
    await between?.(token)
    await call('release', { token })
  }
  const put = (token: string) => call('write', { token, key: 'key', value: randomUUID() })
  let token = ''
  return [
    { name: 'plain acquire+release', run: () => cycle() },
    { name: 'plain acquire+write+release', run: () => cycle(put) },
    { name: 'plain handoff', run: () => contend(() => cycle()) },
    {
      name: 'plain write',
      prepare: async () => {
        token = randomUUID()
        await acquirePlain(call, token)
      },
      run: () => put(token),
      finish: () => call('release', { token }),
    },
  ]
}

/** The plain object has no queue: a client that finds it held asks again. */
async function acquirePlain(
  call: (path: string, body: object) => Promise<unknown>,
  token: string,
): Promise<void> {
  for (;;) {
    const answer = (await call('acquire', { token })) as { code?: string }
    if (answer.code !== 'locked') return
    await new Promise(resolve => setTimeout(resolve, 1))
  }
}

async function contend(cycle: () => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: 10 }, cycle))
}
