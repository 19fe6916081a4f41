/** A session whose service has gone silent, without a word, ends within its time to live. */
import { expect, it } from 'vitest'
import { type Clock, createBaton, type Socket, TimeoutError } from '../../client/index.ts'
import type { SessionEvent } from '../../shared/api/session.ts'

class FakeSocket implements Socket {
  readonly sent: { readonly type: string; readonly [field: string]: unknown }[] = []
  isClosed = false
  readonly #listeners: { type: string; listener: (event: { data?: unknown }) => void }[] = []

  send(data: string): void {
    this.sent.push(JSON.parse(data))
  }
  close(): void {
    this.isClosed = true
  }
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.push({ type, listener })
  }
  fire(type: 'open' | 'message' | 'close' | 'error', event?: SessionEvent): void {
    for (const each of this.#listeners) if (each.type === type) each.listener({ data: JSON.stringify(event) })
  }
  pong(): void {
    for (const each of this.#listeners) if (each.type === 'message') each.listener({ data: 'pong' })
  }
  says(event: SessionEvent): void {
    this.fire('message', event)
  }
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

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

it('a holder whose service has gone silent is told within its time to live', async () => {
  const socket = new FakeSocket()
  socket.send = () => {}
  const clock = new MovingClock()
  const session = createBaton({ url: 'https://example.com', webSocket: () => socket, clock })
    .lock('orders')
    .session()
  await turn()
  socket.fire('open')
  session.try({ ttlMs: 10_000 })
  socket.says({ type: 'crit', fence: 1, epoch: 0, ttlMs: 10_000 })
  let ended: unknown = 'never'
  const reading = (async () => {
    for await (const _ of session);
  })().catch(error => {
    ended = error
  })
  // The network is gone without a word: no pong, and no close.
  await clock.advance(60_000)
  expect(ended).toBeInstanceOf(TimeoutError)
  await reading
})

it('one whose service answers its pings is left alone', async () => {
  const socket = new FakeSocket()
  const clock = new MovingClock()
  socket.send = data => {
    if (data === 'ping') socket.pong()
  }
  const session = createBaton({ url: 'https://example.com', webSocket: () => socket, clock })
    .lock('orders')
    .session()
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
  expect(ended).toBe('never')
})
