/** A session whose service has gone silent, without a word, ends within its time to live. */
import { expect, it } from 'vitest'
import { type Clock, createBaton, TimeoutError } from '../../client/index.ts'
import type { SessionEvent } from '../../shared/api/session.ts'
import { FakeSocket, turn } from './fake-socket.ts'

class MovingClock implements Clock {
  time = 0
  readonly #sleeping = new Set<{ readonly at: number; readonly wake: () => void }>()
  now = () => this.time
  sleep: Clock['sleep'] = (ms, { signal } = {}) =>
    new Promise(resolve => {
      const one = { at: this.time + ms, wake: resolve }
      this.#sleeping.add(one)
      signal?.addEventListener('abort', () => {
        this.#sleeping.delete(one)
        resolve()
      })
    })
  async advance(ms: number): Promise<void> {
    const end = this.time + ms
    for (;;) {
      const [next] = [...this.#sleeping].sort((a, b) => a.at - b.at)
      if (next === undefined || next.at > end) break
      this.#sleeping.delete(next)
      this.time = next.at
      next.wake()
      await turn()
    }
    this.time = end
  }
}

interface Silence {
  readonly onPing?: (socket: FakeSocket) => void
  /** What the service says to the `try`, if anything. */
  readonly answer?: SessionEvent
  readonly isNeverOpen?: boolean
}

const CRIT: SessionEvent = { type: 'crit', fence: 1, epoch: 0, ttlMs: 10_000 }

/** Somebody wants the lock, and a minute goes by. How does its session end? */
async function endAfterAMinute({ onPing = () => {}, answer, isNeverOpen }: Silence): Promise<unknown> {
  const socket = new FakeSocket()
  socket.send = data => {
    if (data === 'ping') onPing(socket)
  }
  const clock = new MovingClock()
  const baton = createBaton({ url: 'https://example.com', webSocket: () => socket, clock })
  const session = baton.lock('orders').session()
  await turn()
  if (!isNeverOpen) socket.fire('open')
  session.try({ ttlMs: 10_000 })
  if (answer !== undefined) socket.says(answer)
  let ended: unknown = 'never'
  void (async () => {
    for await (const _ of session);
  })().catch(error => {
    ended = error
  })
  await clock.advance(60_000)
  return ended
}

it('a holder whose service has gone silent is told within its time to live', async () => {
  expect(await endAfterAMinute({ answer: CRIT })).toBeInstanceOf(TimeoutError)
})

it('so is whoever waits, also before the socket is open', async () => {
  expect(await endAfterAMinute({})).toBeInstanceOf(TimeoutError)
  expect(await endAfterAMinute({ isNeverOpen: true })).toBeInstanceOf(TimeoutError)
})

it.each([{ answer: CRIT }, {}])('one whose service answers its pings is left alone: %o', async silence => {
  expect(await endAfterAMinute({ ...silence, onPing: socket => socket.pong() })).toBe('never')
})

it('one that waits no more pings no more', async () => {
  const answer: SessionEvent = { type: 'error', code: 'locked', detail: 'Not granted in time.' }
  let pings = 0
  expect(await endAfterAMinute({ answer, onPing: () => pings++ })).toBe('never')
  expect(pings).toBe(1)
})

it('one that waits is not given up because its process stood still', async () => {
  const socket = new FakeSocket()
  const clock = new MovingClock()
  const baton = createBaton({ url: 'https://example.com', webSocket: () => socket, clock })
  const session = baton.lock('orders').session()
  await turn()
  socket.send = () => {}
  socket.fire('open')
  session.try()
  clock.time += 600_000
  socket.send = data => {
    if (data === 'ping') socket.pong()
  }
  await clock.advance(60_000)
  expect(socket.isClosed).toBe(false)
  socket.says(CRIT)
  for await (const event of session) {
    expect(event).toEqual(CRIT)
    break
  }
})

const NOT_IN_TIME: SessionEvent = { type: 'error', code: 'locked', detail: 'Not granted in time.' }
const EJECTED: SessionEvent = { type: 'ejected', reason: 'expired' }

it.each([
  { before: [CRIT], last: { type: 'rem' } },
  { before: [CRIT], last: EJECTED },
  { before: [], last: NOT_IN_TIME },
] satisfies { before: SessionEvent[]; last: SessionEvent }[])(
  'one that asked again before it heard $last.type is told that its service has gone silent',
  async ({ before, last }) => {
    const socket = new FakeSocket()
    socket.send = () => {}
    const clock = new MovingClock()
    const session = createBaton({ url: 'https://example.com', webSocket: () => socket, clock })
      .lock('orders')
      .session()
    await turn()
    socket.fire('open')
    session.try()
    for (const event of before) socket.says(event)
    session.try()
    socket.says(last)
    await clock.advance(60_000)
    expect(socket.isClosed).toBe(true)
  },
)

it('one that was refused, asked again, and had the lock, pings no more', async () => {
  const socket = new FakeSocket()
  let pings = 0
  socket.send = data => {
    if (data === 'ping') pings++
  }
  const clock = new MovingClock()
  const session = createBaton({ url: 'https://example.com', webSocket: () => socket, clock })
    .lock('orders')
    .session()
  await turn()
  socket.fire('open')
  session.try()
  socket.says({ type: 'error', code: 'no_quorum', detail: 'Ask again.' })
  session.try()
  socket.says(CRIT)
  socket.says({ type: 'rem' })
  await clock.advance(60_000)
  expect({ pings, isClosed: socket.isClosed }).toEqual({ pings: 1, isClosed: false })
})
