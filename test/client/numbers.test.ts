/** A number that is not finite would arrive as `null`: the client refuses it before anything is sent. */
import { describe, expect, it } from 'vitest'
import { BadRequestError } from '../../client/index.ts'
import { createHarness, failure } from './harness.ts'

describe.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('%s', number => {
  it('is refused in an operation, with its path', async () => {
    const { lock, network, inside } = createHarness()
    const ops = [{ get: 'a' }, { put: 'a', value: { x: [1, number] } }] as const
    const held = await lock.acquire({ keepAlive: false })
    const before = network.sent.length
    for (const call of [lock.transact(ops), held.apply(ops)]) {
      const error = await failure(call)
      expect(error).toBeInstanceOf(BadRequestError)
      expect(error).toMatchObject({ outcome: 'not-applied', detail: expect.stringContaining('1.value.x.1') })
    }
    expect(network.sent).toHaveLength(before)
    expect(inside.applied).toEqual([])
  })

  it('is refused as a time to live', async () => {
    const { lock, network } = createHarness()
    expect(await failure(lock.acquire({ ttlMs: number }))).toBeInstanceOf(BadRequestError)
    expect(await failure(lock.configure({ ttlMs: number }))).toBeInstanceOf(BadRequestError)
    expect(network.sent).toEqual([])
  })
})

it('what is no JSON at all is refused too', async () => {
  const { lock, network } = createHarness()
  const circle: unknown[] = []
  circle.push(circle)
  for (const value of [circle, 5n, [Number.NaN, circle]])
    expect(await failure(lock.transact([{ put: 'a', value: value as never }]))).toBeInstanceOf(
      BadRequestError,
    )
  expect(network.sent).toEqual([])
})
