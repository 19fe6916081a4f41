/** Trap D5: every entry of the Durable Object touches its storage before it does anything. */
import { beforeEach, describe, expect, it } from 'vitest'
import { eventually } from './eventually.ts'
import { FakeLock, type FakeObject, requestTo, SUPERSEDED } from './fake-object.ts'

let lock: FakeLock
let object: FakeObject

const acquire = {
  call: { type: 'acquire', user: 'one', waitMs: 0, ttlMs: null, ticket: true, confirm: false },
}
const nothing = { type: 'messages', from: 2, messages: [] }

beforeEach(async () => {
  lock = await FakeLock.create(3)
  object = lock.objects[0]!
  const response = await object.participant.fetch(requestTo('/call', acquire))
  expect(await response.json()).toMatchObject({ type: 'done', status: 200 })
  await Promise.all(lock.objects.flatMap(({ background }) => background))
  object.journal.length = 0
})

/** What wakes a Durable Object, with something to do each time. */
const ENTRIES: readonly [name: string, run: (object: FakeObject) => unknown][] = [
  ['/call', ({ participant }) => participant.fetch(requestTo('/call', acquire))],
  ['/call status', ({ participant }) => participant.fetch(requestTo('/call', { call: { type: 'status' } }))],
  ['/peer', ({ participant }) => participant.fetch(requestTo('/peer', nothing))],
  ['/watch', ({ participant }) => participant.fetch(requestTo('/watch?since=0'))],
  ['/session', ({ participant }) => participant.fetch(requestTo('/session?user=x'))],
  ['alarm', ({ participant }) => participant.alarm()],
  ['webSocketMessage', ({ participant, socket }) => participant.webSocketMessage(socket, '{"type":"try"}')],
  ['webSocketMessage of no use', ({ participant, socket }) => participant.webSocketMessage(socket, 'x')],
  ['webSocketClose', ({ participant, socket }) => participant.webSocketClose(socket)],
  ['webSocketError', ({ participant, socket }) => participant.webSocketError(socket)],
]

describe.each(ENTRIES)('%s', (_, run) => {
  it('ends at once in an instance that was superseded: nothing leaves it', async () => {
    object.isSuperseded = true
    await expect((async () => run(object))()).rejects.toThrow(SUPERSEDED)
    expect(object.journal).toEqual(['storage'])
  })

  it('touches storage first in any other', async () => {
    // A WebSocket is more than Node has: how far a session gets does not matter here.
    await (async () => run(object))().catch(error => expect(String(error)).toContain('WebSocketPair'))
    expect(object.journal[0]).toBe('storage')
  })
})

/** A call that waits for a moment: a timeout ends it, and has an answer to give. */
const waiting = {
  call: { type: 'acquire', user: 'two', waitMs: 800, ttlMs: null, ticket: false, confirm: false },
}

describe('a timeout', () => {
  let answer: Promise<Response>

  beforeEach(async () => {
    answer = object.participant.fetch(requestTo('/call', waiting))
    await eventually(() => expect(object.journal).toContain('storage'))
    await Promise.all(lock.objects.flatMap(({ background }) => background))
    object.journal.length = 0
  })

  it('ends at once in an instance that was superseded: nothing leaves it', async () => {
    object.isSuperseded = true
    let isAnswered = false
    void answer.then(() => {
      isAnswered = true
    })
    await eventually(() => expect(object.journal).not.toEqual([]))
    expect(object.journal).toEqual(['storage'])
    // What left in that turn would have arrived by now.
    await new Promise(resolve => setImmediate(resolve))
    expect(isAnswered).toBe(false)
  })

  it('touches storage first in any other', async () => {
    expect(await (await answer).json()).toMatchObject({ type: 'problem', code: 'locked' })
    expect(object.journal[0]).toBe('storage')
  })
})

it('every handler that the class has is among the entries', async () => {
  const { prototype } = object.participant.constructor
  const handlers = ['fetch', 'alarm', 'webSocketMessage', 'webSocketClose', 'webSocketError']
  const platform = [...handlers, 'connect', 'queue', 'scheduled', 'tail', 'trace', 'test']
  expect(platform.filter(name => Object.hasOwn(prototype, name))).toEqual(handlers)
})

describe('D5 what an instance waits for when it is superseded', () => {
  it('the body of a call: it does nothing with it', async () => {
    let send = (_: string) => {}
    const body = new ReadableStream({
      start: controller => {
        send = text => {
          controller.enqueue(new TextEncoder().encode(text))
          controller.close()
        }
      },
    })
    const { url, headers } = requestTo('/call')
    const request = new Request(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    const answer = object.participant.fetch(request)
    // Nothing is done before the body is there, so nothing need be touched.
    expect(object.journal).toEqual([])
    object.isSuperseded = true
    send(JSON.stringify(acquire))
    await expect(answer).rejects.toThrow(SUPERSEDED)
    expect(object.journal).toEqual(['storage'])
  })

  it('the answer of a peer: it sends nothing on', async () => {
    let open = () => {}
    lock.gate = new Promise(resolve => {
      open = resolve
    })
    const release = {
      call: { type: 'transact', user: 'two', opId: 'a', ops: [{ increment: 'n' }], waitMs: 0 },
    }
    object.background.length = 0
    const ask = object.participant.fetch(requestTo('/call', { call: { type: 'withdraw', user: 'one' } }))
    expect(((await (await ask).json()) as { status: number }).status).toBe(204)
    const answer = object.participant.fetch(requestTo('/call', release)).catch(() => null)
    await eventually(() => expect(object.journal).toContain('send'))
    object.isSuperseded = true
    object.journal.length = 0
    const waiting = [...object.background]
    open()
    const settled = await Promise.allSettled(waiting)
    expect(settled.length).toBeGreaterThan(0)
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
    expect(new Set(object.journal)).toEqual(new Set(['storage']))
    void answer
  })
})
