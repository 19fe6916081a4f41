import { describe, expect, it } from 'vitest'
import {
  createBaton,
  NetworkError,
  NoQuorumError,
  ServerError,
  TimeoutError,
  TooManyError,
} from '../../client/index.ts'
import type { Fault } from './faults.ts'
import { createHarness, failure } from './harness.ts'

const ops = [{ increment: 'n' }] as const

describe('giving up', () => {
  it.each<[string, Fault, object]>([
    ['answers are lost', 'lose-answer', { name: 'NetworkError', outcome: 'unknown' }],
    ['requests are lost', 'lose-request', { name: 'NetworkError', outcome: 'unknown' }],
    ['nothing is answered', 'hang', { name: 'TimeoutError', outcome: 'unknown' }],
    ['a proxy fails', { status: 502 }, { name: 'ServerError', code: 'unavailable', outcome: 'unknown' }],
    ['a proxy is full', { status: 429 }, { name: 'TooManyError', outcome: 'unknown' }],
    ['the service is full', { refuse: 'too_many' }, { name: 'TooManyError', outcome: 'not-applied' }],
  ])('while %s, the error says what is known', async (_, fault, expected) => {
    const { lock, network, inside } = createHarness()
    network.plan = ({ path }) => (path === 'transact' ? fault : undefined)
    const error = await failure(lock.transact(ops))
    expect(error).toMatchObject({ ...expected, retryable: true, opId: expect.any(String) })
    expect(inside.applied.length).toBeLessThanOrEqual(1)
  })

  // What stands in between says 408 or 499 also of a request that it has handed on.
  it.each([400, 404, 408, 499])(
    'an answer with %i that is not from the service leaves a doubt',
    async status => {
      const { lock, network } = createHarness()
      network.inject('POST transact', { status })
      expect(await failure(lock.transact(ops))).toMatchObject({ code: 'unexpected', outcome: 'unknown' })
      await using held = await lock.acquire()
      network.inject('POST ops', { status })
      expect(await failure(held.apply(ops))).toMatchObject({ code: 'unexpected', outcome: 'unknown' })
    },
  )

  it('a refusal after a lost answer does not make the outcome known', async () => {
    const { lock, network, inside } = createHarness()
    network.inject('POST transact', 'lose-answer', { refuse: 'forbidden' })
    expect(await failure(lock.transact(ops))).toMatchObject({ code: 'forbidden', outcome: 'unknown' })
    expect(inside.applied).toHaveLength(1)
  })

  it('asking again with the opId of the error tells the outcome', async () => {
    const { lock, network, inside } = createHarness()
    network.plan = () => 'lose-answer'
    const { opId } = await failure(lock.transact(ops))
    network.plan = () => undefined
    expect(await lock.transact(ops, { opId: opId as string })).toMatchObject({ results: [{ value: 1 }] })
    expect(inside.applied).toEqual([opId])
  })

  it('attempts are bounded', async () => {
    const { lock, network } = createHarness({ retry: { attempts: 3 } })
    network.plan = () => 'lose-request'
    expect(await failure(lock.get('a'))).toBeInstanceOf(NetworkError)
    expect(network.sent).toHaveLength(3)
  })

  it('time is bounded: a Retry-After beyond it is not waited for', async () => {
    const { lock, network, clock } = createHarness({ retry: { totalMs: 5_000 } })
    network.plan = () => ({ refuse: 'too_many', retryAfterSeconds: 60 })
    const before = clock.now()
    const error = await failure(lock.get('a'))
    expect(error).toBeInstanceOf(TooManyError)
    expect(error.retryAfterMs).toBe(60_000)
    expect(clock.now()).toBe(before)
  })

  it('one request has a time limit, which a wait makes longer', async () => {
    const { lock, network, clock } = createHarness({ timeoutMs: 2_000, retry: { attempts: 1 } })
    network.plan = () => 'hang'
    const before = clock.now()
    expect(await failure(lock.get('a'))).toBeInstanceOf(TimeoutError)
    expect(clock.now() - before).toBe(2_000)
    expect(await failure(lock.acquire({ waitMs: 7_000 }))).toMatchObject({
      name: 'TimeoutError',
    })
    expect(clock.now() - before).toBe(11_000)
  })
})

describe('pauses', () => {
  it('grow twofold up to a bound, and may be any part of it', async () => {
    const pauses = async (random: number): Promise<number[]> => {
      const { lock, network } = createHarness({
        random: () => random,
        retry: { attempts: 6, firstPauseMs: 100, longestPauseMs: 500 },
      })
      network.plan = () => ({ refuse: 'no_quorum' })
      expect(await failure(lock.get('a'))).toBeInstanceOf(NoQuorumError)
      return network.sent.slice(1).map(({ at }, index) => at - network.sent[index]!.at)
    }
    expect(await pauses(1)).toEqual([100, 200, 400, 500, 500])
    expect(await pauses(0.5)).toEqual([50, 100, 200, 250, 250])
  })

  it('end at once when the signal is aborted', async () => {
    const { lock, network, clock } = createHarness({
      random: () => 1,
      retry: { firstPauseMs: 10_000, longestPauseMs: 10_000 },
    })
    network.plan = () => 'lose-answer'
    const controller = new AbortController()
    const before = clock.now()
    const work = failure(lock.transact(ops, { signal: controller.signal }))
    await clock.sleep(1_000)
    controller.abort()
    expect(await work).toMatchObject({ code: 'aborted', outcome: 'unknown' })
    expect(clock.now() - before).toBe(1_000)
  })
})

describe('not repeated', () => {
  it('what trying again does not change', async () => {
    const { lock, network } = createHarness()
    network.plan = () => ({ refuse: 'internal' })
    expect(await failure(lock.get('a'))).toBeInstanceOf(ServerError)
    expect(network.sent).toHaveLength(1)
  })

  it('an overloaded object', async () => {
    const { clock } = createHarness()
    let requests = 0
    const fetch = async (): Promise<Response> => {
      requests++
      throw Object.assign(new Error('overloaded'), { overloaded: true })
    }
    const error = await failure(createBaton({ fetch, clock }).lock('test').get('a'))
    expect(error).toMatchObject({ code: 'network', retryable: false })
    expect(requests).toBe(1)
  })
})
