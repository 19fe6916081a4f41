/** A session whose service has gone silent, without a word, ends within its time to live. */
import { expect, it } from 'vitest'
import { type Clock, createBaton, TimeoutError } from '../../client/index.ts'
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

/** Somebody holds the lock for a minute. How does its session end? */
async function endAfterAMinute(onPing: (socket: FakeSocket) => void): Promise<unknown> {
  const socket = new FakeSocket()
  socket.send = data => {
    if (data === 'ping') onPing(socket)
  }
  const clock = new MovingClock()
  const baton = createBaton({ url: 'https://example.com', webSocket: () => socket, clock })
  const session = baton.lock('orders').session()
  await turn()
  socket.fire('open')
  session.try({ ttlMs: 10_000 })
  socket.says({ type: 'crit', fence: 1, epoch: 0, ttlMs: 10_000 })
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
  expect(await endAfterAMinute(() => {})).toBeInstanceOf(TimeoutError)
})

it('one whose service answers its pings is left alone', async () => {
  expect(await endAfterAMinute(socket => socket.pong())).toBe('never')
})
