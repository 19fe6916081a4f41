/**
 * `transact` and `get` of a session: each answer finds whoever asked, and nobody is told what is not known.
 */
import { describe, expect, it } from 'vitest'
import {
  AbortedError,
  BatonError,
  type Clock,
  ConflictError,
  createBaton,
  LockedError,
  NetworkError,
  NoQuorumError,
  TimeoutError,
  TooLargeError,
} from '../../client/index.ts'
import type { ProblemCode } from '../../shared/api/problems.ts'
import { parseSessionMessage, type SessionEvent } from '../../shared/api/session.ts'
import { FakeSocket, turn } from './fake-socket.ts'
import { failure } from './harness.ts'

class FakeClock implements Clock {
  readonly #sleeping: { readonly ms: number; readonly wake: () => void }[] = []
  now = () => 0
  sleep: Clock['sleep'] = (ms, { signal } = {}) =>
    new Promise(resolve => {
      this.#sleeping.push({ ms, wake: resolve })
      signal?.addEventListener('abort', () => resolve())
    })
  /** Everybody who sleeps for at least so long. */
  wake(leastMs: number): void {
    for (const { ms, wake } of this.#sleeping) if (ms >= leastMs) wake()
  }
}

async function open() {
  const socket = new FakeSocket()
  const clock = new FakeClock()
  let ids = 0
  const baton = createBaton({
    url: 'https://example.com',
    webSocket: () => socket,
    newId: () => `id-${++ids}`,
    clock,
  })
  const session = baton.lock('orders').session()
  await turn()
  socket.fire('open')
  return { socket, clock, session }
}

const outcome = (opId: string, fence: number): SessionEvent => ({
  type: 'outcome',
  opId,
  fence,
  sequence: 4,
  applied: true,
  results: [{ value: 1, revision: 4 }],
})

/** The answer to the `get` that the session sent as its first, second, ... */
const valueIs = (value: number, nth = 1): SessionEvent => ({
  ...{ type: 'value', key: 'n', consistency: 'linearizable', id: String(nth) },
  ...{ value, revision: 4, sequence: 9 },
})

const ADD = [{ increment: 'n' }] as const

describe('transact', () => {
  it('resolves with the answer to its opId, in whatever order answers come', async () => {
    const { socket, session } = await open()
    const [first, second] = [session.transact(ADD), session.transact(ADD, { opId: 'mine', waitMs: 5 })]
    await turn()
    expect(socket.sent).toEqual([
      { type: 'transact', opId: 'id-1', ops: ADD, waitMs: 10_000 },
      { type: 'transact', opId: 'mine', ops: ADD, waitMs: 5 },
    ])
    socket.says(outcome('mine', 8))
    socket.says(outcome('id-1', 7))
    expect(await second).toMatchObject({ fence: 8, applied: true, results: [{ value: 1 }] })
    const { type: _, opId: __, ...answer } = outcome('id-1', 7) as SessionEvent & { readonly opId: string }
    expect(await first).toEqual(answer)
  })

  it('leaves the outcome of an issue to the reader of the events', async () => {
    const { socket, session } = await open()
    session.issue(ADD, { opId: 'same' })
    const pending = session.transact(ADD, { opId: 'same' })
    await turn()
    const { fence: _, ...issued } = outcome('same', 7) as { fence: number } & SessionEvent
    socket.says(issued as SessionEvent)
    socket.says(outcome('same', 7))
    expect(await pending).toMatchObject({ fence: 7 })
    socket.fire('close')
    const told: SessionEvent[] = []
    for await (const event of session) told.push(event)
    expect(told).toEqual([issued])
  })

  it.each<[string, Partial<SessionEvent>, typeof ConflictError, string]>([
    ['conflict', { outcome: 'not-applied' }, ConflictError, 'not-applied'],
    ['locked', { outcome: 'not-applied' }, LockedError, 'not-applied'],
    ['no_quorum', { outcome: 'unknown' }, NoQuorumError, 'unknown'],
    // Nothing was done where the message itself was wrong.
    ['too_large', {}, TooLargeError, 'not-applied'],
  ])('rejects with what it was refused for: %s', async (code, more, Class, word) => {
    const { socket, session } = await open()
    const rejected = failure(session.transact(ADD, { opId: 'mine' }))
    await turn()
    socket.says({ type: 'error', code, detail: 'Because.', opId: 'mine', ...more } as SessionEvent)
    const error = await rejected
    expect(error).toBeInstanceOf(Class)
    expect(error).toMatchObject({ opId: 'mine', outcome: word, detail: 'Because.' })
  })

  it('takes a refusal with a code that came after it was written', async () => {
    const { socket, session } = await open()
    const refused = failure(session.transact(ADD, { opId: 'mine' }))
    await turn()
    const code = 'from_the_future' as ProblemCode
    socket.says({ type: 'error', code, detail: 'Because.', opId: 'mine', outcome: 'not-applied' })
    expect(await refused).toBeInstanceOf(BatonError)
    expect(await refused).toMatchObject({ code, opId: 'mine', outcome: 'not-applied' })
  })

  it('is asked for again only when the answer before has come', async () => {
    const { socket, session } = await open()
    const aborted = new AbortController()
    const first = failure(session.transact(ADD, { opId: 'mine', signal: aborted.signal }))
    await turn()
    aborted.abort()
    expect(await first).toMatchObject({ opId: 'mine', outcome: 'unknown' })
    expect(await first).toBeInstanceOf(AbortedError)
    const second = session.transact(ADD, { opId: 'mine' })
    await turn()
    expect(socket.sent).toHaveLength(1)
    socket.says({ type: 'error', code: 'locked', detail: 'Held.', opId: 'mine', outcome: 'not-applied' })
    await turn()
    expect(socket.sent).toHaveLength(2)
    socket.says(outcome('mine', 7))
    expect(await second).toMatchObject({ fence: 7 })
  })

  it.each([60_000, Number.POSITIVE_INFINITY])(
    'waits for %s ms: in several messages, as none of them may wait for so long',
    async waitMs => {
      const { socket, session } = await open()
      const ops = [{ increment: 'n', by: 1 }]
      const answer = session.transact(ops, { opId: 'mine', waitMs, owner: 'me' })
      await turn()
      ops[0]!.by = 2
      socket.says({ type: 'error', code: 'locked', detail: 'Held.', opId: 'mine', outcome: 'not-applied' })
      await turn()
      const message = { type: 'transact', opId: 'mine', waitMs: 25_000, owner: 'me' }
      const sent = { ...message, ops: [{ increment: 'n', by: 1 }] }
      expect(socket.sent).toEqual([sent, sent])
      for (const one of socket.sent)
        expect(parseSessionMessage(JSON.stringify(one))).toMatchObject({ ok: true })
      socket.says(outcome('mine', 7))
      expect(await answer).toMatchObject({ fence: 7 })
    },
  )

  it('is not asked for again when its time is over', async () => {
    const { socket, session } = await open()
    const refused = failure(session.transact(ADD, { opId: 'mine', waitMs: 25_000 }))
    await turn()
    socket.says({ type: 'error', code: 'locked', detail: 'Held.', opId: 'mine', outcome: 'not-applied' })
    expect(await refused).toBeInstanceOf(LockedError)
    expect(socket.sent).toHaveLength(1)
  })

  it('that was not sent was not applied', async () => {
    const { socket, session } = await open()
    const aborted = new AbortController()
    aborted.abort()
    const early = failure(session.transact(ADD, { opId: 'a', signal: aborted.signal }))
    expect(await early).toMatchObject({ opId: 'a', outcome: 'not-applied' })
    const long = failure(session.transact([{ put: 'k', value: 'x'.repeat(2 * 1024 * 1024) }], { opId: 'b' }))
    expect(await long).toMatchObject({ code: 'too_large', opId: 'b', outcome: 'not-applied' })
    session.close()
    const late = failure(session.transact(ADD, { opId: 'c' }))
    expect(await late).toMatchObject({ code: 'network', opId: 'c', outcome: 'not-applied' })
    expect(socket.sent).toEqual([])
  })

  it.each(['close', 'error'] as const)(
    'under way when the socket says %s may have been applied',
    async end => {
      const { socket, session } = await open()
      const rejected = failure(session.transact(ADD, { opId: 'mine' }))
      await turn()
      socket.fire(end)
      expect(await rejected).toBeInstanceOf(NetworkError)
      expect(await rejected).toMatchObject({ opId: 'mine', outcome: 'unknown' })
    },
  )

  it('and get that were lost with the participant reject, and the session goes on', async () => {
    const { socket, session } = await open()
    const lost = [failure(session.transact(ADD, { opId: 'mine' })), failure(session.get('n'))]
    await turn()
    socket.says({ type: 'error', code: 'no_quorum', detail: 'Anew.', outcome: 'unknown', lost: true })
    expect(await lost[0]).toMatchObject({ code: 'no_quorum', opId: 'mine', outcome: 'unknown' })
    expect(await lost[1]).toMatchObject({ code: 'no_quorum' })
    const again = session.transact(ADD, { opId: 'mine' })
    await turn()
    socket.says(outcome('mine', 7))
    expect(await again).toMatchObject({ fence: 7 })
  })

  it('asked for twice at once is sent once, and again only after the answer', async () => {
    const { socket, session } = await open()
    const [first, second, third] = [1, 2, 3].map(() => session.transact(ADD, { opId: 'mine' }))
    await turn()
    expect(socket.sent).toHaveLength(1)
    socket.says(outcome('mine', 7))
    await turn()
    expect(socket.sent).toHaveLength(2)
    socket.says(outcome('mine', 7))
    await turn()
    expect(socket.sent).toHaveLength(3)
    socket.says(outcome('mine', 7))
    expect(await Promise.all([first, second, third])).toHaveLength(3)
  })

  it('that was never sent is in doubt if an earlier one with its opId may have been applied', async () => {
    const { socket, session } = await open()
    const aborted = new AbortController()
    const given = failure(session.transact(ADD, { opId: 'mine', signal: aborted.signal }))
    await turn()
    aborted.abort()
    expect(await given).toMatchObject({ outcome: 'unknown' })
    const second = failure(session.transact(ADD, { opId: 'mine' }))
    await turn()
    socket.fire('close')
    expect(socket.sent).toHaveLength(1)
    expect(await second).toMatchObject({ code: 'network', opId: 'mine', outcome: 'unknown' })
    const third = failure(session.transact(ADD, { opId: 'mine' }))
    expect(await third).toMatchObject({ code: 'network', opId: 'mine', outcome: 'unknown' })
    const other = failure(session.transact(ADD, { opId: 'other' }))
    expect(await other).toMatchObject({ code: 'network', opId: 'other', outcome: 'not-applied' })
  })

  const oneGivenUpBehindAnother = async () => {
    const { socket, session } = await open()
    const first = session.transact(ADD, { opId: 'mine' })
    const aborted = new AbortController()
    const second = failure(session.transact(ADD, { opId: 'mine', signal: aborted.signal }))
    await turn()
    aborted.abort()
    return { socket, first, second }
  }

  it('that was given up while the one before was applied does not deny it', async () => {
    const { socket, first, second } = await oneGivenUpBehindAnother()
    socket.says(outcome('mine', 7))
    expect(await first).toMatchObject({ fence: 7 })
    expect(await second).toMatchObject({ code: 'aborted', outcome: 'unknown' })
  })

  it('regression: that waits for the one before is given up at once', async () => {
    const { socket, first, second } = await oneGivenUpBehindAnother()
    const error = await Promise.race([second, turn().then(() => 'it still waits')])
    expect(error).toBeInstanceOf(AbortedError)
    expect(error).toMatchObject({ code: 'aborted', opId: 'mine', outcome: 'unknown' })
    socket.says(outcome('mine', 3))
    expect(await first).toMatchObject({ fence: 3, applied: true })
    expect(socket.sent).toHaveLength(1)
  })

  it('that a participant begun anew has heard after all is not taken for the next one', async () => {
    const { socket, session } = await open()
    const lost = failure(session.transact(ADD, { opId: 'mine' }))
    await turn()
    // The message was on its way to the new instance when that said what the one before had lost.
    socket.says({ type: 'error', code: 'no_quorum', detail: 'Anew.', outcome: 'unknown', lost: true })
    expect(await lost).toMatchObject({ outcome: 'unknown' })
    const again = failure(session.transact(ADD, { opId: 'mine' }))
    await turn()
    // The answer to the first: the second still waits there, and is applied.
    socket.says({ type: 'error', code: 'locked', detail: 'Held.', opId: 'mine', outcome: 'not-applied' })
    expect(await again).toMatchObject({ code: 'locked', outcome: 'unknown' })
    socket.says(outcome('mine', 7))
    const sure = session.transact(ADD, { opId: 'mine' })
    await turn()
    socket.says(outcome('mine', 7))
    expect(await sure).toMatchObject({ fence: 7 })
  })

  it('that is not answered at all ends the session', async () => {
    const { socket, clock, session } = await open()
    const rejected = failure(session.transact(ADD, { opId: 'mine', waitMs: 1_000 }))
    await turn()
    clock.wake(20_000)
    await turn()
    expect(socket.isClosed).toBe(false)
    clock.wake(16_000)
    expect(await rejected).toBeInstanceOf(TimeoutError)
    expect(await rejected).toMatchObject({ opId: 'mine', outcome: 'unknown' })
    expect(socket.isClosed).toBe(true)
    expect(await failure(session[Symbol.asyncIterator]().next())).toBeInstanceOf(TimeoutError)
  })
})

describe('get', () => {
  it('resolves with the value, and with null if there is none', async () => {
    const { socket, session } = await open()
    const read = session.get('n')
    await turn()
    expect(socket.sent).toEqual([{ type: 'get', key: 'n', consistency: 'linearizable', id: '1' }])
    socket.says(valueIs(3))
    expect(await read).toEqual({ key: 'n', value: 3, revision: 4, sequence: 9 })
    const none = session.get('none')
    await turn()
    const about = { key: 'none', consistency: 'linearizable', id: '2' } as const
    socket.says({ type: 'error', code: 'no_such_key', detail: 'No.', ...about })
    expect(await none).toEqual({ key: 'none', value: null, revision: 0 })
  })

  it('takes no answer to another read of the key', async () => {
    const { socket, session } = await open()
    const [sure, quick] = [session.get('n'), session.get('n', { consistency: 'local' })]
    await turn()
    socket.says(valueIs(3, 2))
    socket.says(valueIs(5, 1))
    expect((await quick).value).toBe(3)
    expect((await sure).value).toBe(5)
  })

  it('is not given the answer to an earlier one that was given up', async () => {
    const { socket, session } = await open()
    const aborted = new AbortController()
    const given = failure(session.get('n', { signal: aborted.signal }))
    await turn()
    aborted.abort()
    expect(await given).toBeInstanceOf(AbortedError)
    const read = session.get('n')
    await turn()
    socket.says(valueIs(3, 1))
    socket.says(valueIs(5, 2))
    expect((await read).value).toBe(5)
  })

  it('is not given the answer to an earlier one that was called lost while it was on its way', async () => {
    const { socket, session } = await open()
    const lost = failure(session.get('n'))
    await turn()
    socket.says({ type: 'error', code: 'no_quorum', detail: 'Began anew.', lost: true })
    expect(await lost).toBeInstanceOf(NoQuorumError)
    const read = session.get('n')
    await turn()
    socket.says(valueIs(3, 1))
    socket.says(valueIs(5, 2))
    expect((await read).value).toBe(5)
  })
})
