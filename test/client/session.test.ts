import { describe, expect, it } from 'vitest'
import { type Clock, createBaton, NetworkError, type SessionEvent, type Socket } from '../../client/index.ts'
import { PING, PONG, type SessionProbe } from '../../shared/api/session.ts'
import { failure } from './harness.ts'

class FakeSocket implements Socket {
  readonly sent: unknown[] = []
  pings = 0
  readonly closed: (number | undefined)[] = []
  readonly #listeners: { type: string; listener: (event: { data?: unknown }) => void }[] = []

  send(data: string): void {
    if (data === PING) this.pings++
    else this.sent.push(JSON.parse(data))
  }
  close(code?: number): void {
    this.closed.push(code)
  }
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.push({ type, listener })
  }
  fire(type: 'open' | 'message' | 'close' | 'error', data?: SessionEvent | SessionProbe): void {
    this.fireText(type, JSON.stringify(data))
  }
  fireText(type: string, data: string): void {
    for (const each of this.#listeners) if (each.type === type) each.listener({ data })
  }
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

async function open(clock?: Clock) {
  const socket = new FakeSocket()
  const opened: unknown[] = []
  const webSocket = (url: string, protocols: string[]): Socket => {
    opened.push({ url, protocols })
    return socket
  }
  const baton = createBaton({
    url: 'https://example.com/mounted',
    key: 'secret',
    webSocket,
    newId: () => 'id',
    ...(clock && { clock }),
  })
  const session = baton.lock('orders').session({ at: 2 })
  await turn()
  return { socket, session, opened }
}

describe('a session', () => {
  it('gives its key as the subprotocol, as browsers must', async () => {
    const { opened } = await open()
    const url = 'wss://example.com/mounted/v1/locks/orders/session?at=2'
    expect(opened).toEqual([{ url, protocols: ['baton', 'baton.key.secret'] }])
  })

  it('that is closing under its feet refuses what is said with an error of its own', async () => {
    const { socket, session } = await open()
    socket.fire('open')
    socket.send = () => {
      throw new TypeError('the socket is not open')
    }
    for (const say of [() => session.try(), () => session.issue([{ get: 'a' }]), () => session.exit()])
      expect(say).toThrow(NetworkError)
  })

  it('speaks the events of a user; what is said early is said once the socket is open', async () => {
    const { socket, session } = await open()
    session.try({ waitMs: 5 })
    expect(socket.sent).toEqual([])
    socket.fire('open')
    expect(session.issue([{ increment: 'n' }])).toBe('id')
    session.exit()
    expect(socket.sent).toEqual([
      { type: 'try', waitMs: 5 },
      { type: 'issue', opId: 'id', ops: [{ increment: 'n' }] },
      { type: 'exit' },
    ])
  })

  it('is an iteration over what the service says, in order, and ends with the socket', async () => {
    const { socket, session } = await open()
    socket.fire('open')
    socket.fire('message', { type: 'crit', fence: 7, epoch: 1, ttlMs: 30_000 })
    const told: string[] = []
    const all = (async () => {
      for await (const event of session) told.push(event.type)
    })()
    await turn()
    expect(told).toEqual(['crit'])
    socket.fire('message', { type: 'ejected', reason: 'operator' })
    socket.fire('message', { type: 'error', code: 'conflict', detail: 'Out of turn.' })
    socket.fire('close')
    await all
    expect(told).toEqual(['crit', 'ejected', 'error'])
    expect(() => session.exit()).toThrow(NetworkError)
  })

  it('gives signs of life while it has a grant, several within its time to live', async () => {
    const slept: number[] = []
    let wake = () => {}
    const sleep: Clock['sleep'] = (ms, { signal } = {}) =>
      new Promise(resolve => {
        slept.push(ms)
        wake = resolve
        signal?.addEventListener('abort', () => resolve())
      })
    const { socket, session } = await open({ now: () => 0, sleep })
    socket.fire('open')
    expect(slept).toEqual([])
    socket.fire('message', { type: 'crit', fence: 7, epoch: 1, ttlMs: 8_000 })
    for (let ping = 1; ping <= 3; ping++) {
      wake()
      await turn()
      expect(socket.pings).toBe(ping)
    }
    expect(Math.max(...slept)).toBeLessThanOrEqual(8_000 / 3)
    socket.fireText('message', PONG)
    socket.fire('message', { type: 'rem' })
    await turn()
    wake()
    await turn()
    expect(socket.pings).toBe(3)
    socket.fire('close')
    const told: string[] = []
    for await (const event of session) told.push(event.type)
    expect(told).toEqual(['crit', 'rem'])
  })

  it('answers a probe of the service, and tells nobody', async () => {
    const { socket, session } = await open()
    socket.fire('open')
    socket.fire('message', { type: 'probe', id: '17' })
    expect(socket.sent).toEqual([{ type: 'probe', id: '17' }])
    socket.fire('close')
    expect(await session[Symbol.asyncIterator]().next()).toMatchObject({ done: true })
  })

  it('that breaks fails, after what came before', async () => {
    const { socket, session } = await open()
    socket.fire('open')
    socket.fire('message', { type: 'rem' })
    socket.fire('error')
    const events = session[Symbol.asyncIterator]()
    expect((await events.next()).value).toEqual({ type: 'rem' })
    expect(await failure(events.next())).toBeInstanceOf(NetworkError)
  })

  it('with two readers gives each of them an event, if there are two', async () => {
    const { socket, session } = await open()
    socket.fire('open')
    const told: string[] = []
    const read = async (reader: string) => {
      await session[Symbol.asyncIterator]().next()
      told.push(reader)
    }
    void read('one')
    void read('two')
    await turn()
    socket.fire('message', { type: 'rem' })
    socket.fire('message', { type: 'rem' })
    await turn()
    expect(told.sort()).toEqual(['one', 'two'])
  })

  it.each(['close', 'error'] as const)('ends for each of its readers: %s', async end => {
    const { socket, session } = await open()
    socket.fire('open')
    const ends: (string | undefined)[] = []
    const read = async () => {
      for await (const { type } of session) ends.push(type)
    }
    for (const _ of ['one', 'two'])
      read().then(
        () => ends.push('end'),
        error => ends.push(error.name),
      )
    await turn()
    socket.fire(end)
    await turn()
    expect(ends).toEqual(Array(2).fill(end === 'close' ? 'end' : 'NetworkError'))
  })

  it('is closed by its end of scope, also before the socket is there', async () => {
    const { socket, session } = await open()
    await session[Symbol.asyncDispose]()
    expect(socket.closed).toEqual([1000])
    expect(await session[Symbol.asyncIterator]().next()).toMatchObject({ done: true })
  })

  it('in a Worker comes with the answer of the binding', async () => {
    const socket = Object.assign(new FakeSocket(), { accept: () => socket.sent.push('accepted') })
    const seen: Request[] = []
    const binding = {
      fetch: async (request: Request) => {
        seen.push(request)
        // Outside of workerd no response can have this status.
        return Object.defineProperties(new Response(null), {
          status: { value: 101 },
          ok: { value: false },
          webSocket: { value: socket },
        })
      },
    }
    const session = createBaton({ binding, key: 'secret' }).lock('orders').session()
    session.try()
    await turn()
    await turn()
    expect(socket.sent).toEqual(['accepted', { type: 'try' }])
    expect(seen[0]!.headers.get('authorization')).toBe('Bearer secret')
  })

  it('that is refused fails with the reason', async () => {
    const binding = {
      fetch: async () => Response.json({ code: 'forbidden', retryable: false }, { status: 403 }),
    }
    const session = createBaton({ binding }).lock('orders').session()
    expect(await failure(session[Symbol.asyncIterator]().next())).toMatchObject({ code: 'forbidden' })
  })
})
