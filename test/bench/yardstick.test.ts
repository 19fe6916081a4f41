/** The yardsticks do what they stand for: a queue, durable writes, a majority. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { batonLocks } from '../../bench/cases/baton.ts'
import { plainLocks } from '../../bench/cases/plain.ts'
import { AnsweringSocket } from '../../bench/cases/socket.ts'
import { request } from '../../bench/http.ts'
import { type Started, startBehindBaton, startYardsticks } from '../../bench/started.ts'
import type { PlainAnswer, PlainCall } from '../../bench/yardstick/calls.ts'

let running: Started
beforeAll(async () => {
  running = await startYardsticks()
})
afterAll(() => running.stop())

const open = (lock: string) =>
  AnsweringSocket.open<PlainCall, PlainAnswer>(
    `${running.url}/plain/${lock}`,
    data => JSON.parse(data) as PlainAnswer,
  )

/** In the order in which they got the lock. */
async function queue(lock: string, clients: readonly string[], first: string): Promise<string[]> {
  const { acquire, release } = plainLocks(running.url)
  const held = await acquire(lock)
  const order: string[] = [first]
  const waiting: Promise<unknown>[] = []
  for (const client of clients) {
    const work = async () => {
      const token = await acquire(lock)
      order.push(client)
      await release(lock, token)
    }
    waiting.push(work())
    // One after the other, so that there is an order to keep.
    await new Promise(done => setTimeout(done, 200))
  }
  expect(order).toEqual([first])
  await release(lock, held)
  await Promise.all(waiting)
  return order
}

describe('the plain object', () => {
  it('lets those who wait in first come, first served', async () => {
    expect(await queue('queue', ['b', 'c', 'd'], 'a')).toEqual(['a', 'b', 'c', 'd'])
  })

  it('has one lock for each name', async () => {
    const { acquire, release } = plainLocks(running.url)
    const [one, other] = await Promise.all([acquire('one'), acquire('other')])
    await Promise.all([release('one', one), release('other', other)])
  })

  it('refuses writes and releases of anybody but its holder', async () => {
    const { acquire, write, release } = plainLocks(running.url)
    const token = await acquire('held')
    await expect(write('held', 'somebody')).rejects.toThrow('410')
    await expect(release('held', 'somebody')).rejects.toThrow('410')
    await write('held', token)
    await release('held', token)
    await expect(write('held', token)).rejects.toThrow('410')
  })

  it('is the same by WebSocket, with one queue for both', async () => {
    const socket = await open('both')
    expect(await socket.ask({ type: 'acquire', token: 's' })).toEqual({ ok: true })
    const { acquire, release } = plainLocks(running.url)
    const waiting = acquire('both')
    expect(await socket.ask({ type: 'write', token: 's', key: 'key', value: 'v' })).toEqual({ ok: true })
    expect(await socket.ask({ type: 'release', token: 's' })).toEqual({ ok: true })
    const token = await waiting
    expect(await socket.ask({ type: 'write', token: 's', key: 'key', value: 'v' })).toEqual({ ok: false })
    const next = socket.ask({ type: 'acquire', token: 't' })
    await release('both', token)
    expect(await next).toEqual({ ok: true })
    socket.close()
  })
})

describe('the replicated write', () => {
  it.each([1, 2])('is answered with %i peers asked', async peers => {
    const body = { key: 'key', value: 'value' }
    expect(await request('POST', `${running.url}/floor/write?peers=${peers}`, body)).toEqual({ ok: true })
  })
})

describe('the layers', () => {
  it.each(['anew', 'rpc'] as const)('have the same object behind a Worker that reads (%s)', async way => {
    const { acquire, write, release } = plainLocks(running.url, way)
    const token = await acquire(way)
    await expect(write(way, 'somebody')).rejects.toThrow('410')
    await write(way, token)
    await release(way, token)
    await expect(write(way, token)).rejects.toThrow('410')
  })

  it.each(['behind', 'replicated'])("have the object behind Baton's Worker (%s)", async lock => {
    const behind = await startBehindBaton()
    try {
      const { acquire, write, release } = batonLocks(behind.url)
      const grant = await acquire(lock, 1)
      let isIn = false
      const next = acquire(lock).then(other => {
        isIn = true
        return release(lock, other)
      })
      await write(lock, grant)
      expect(isIn).toBe(false)
      await release(lock, grant)
      await next
    } finally {
      await behind.stop()
    }
  })
})
