/** Options that make no sense are refused at once, in words that help. */
import { describe, expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'
import {
  Barrier,
  LeaderElection,
  oncePerSlot,
  RateLimiter,
  ReadWriteLock,
  Semaphore,
  Sequence,
  SharedConfiguration,
  slotOf,
  transfer,
  WorkQueue,
} from '../../recipes/index.ts'

const fetch = () => Promise.reject(new Error('nothing is asked'))
const baton = createBaton({ fetch })
const lock = baton.lock('a')
const rate = { rate: 1, intervalMs: 1_000 }

describe('options', () => {
  it.each<[string, () => unknown]>([
    ['name is a text of 1 to 128 characters', () => new LeaderElection(lock, { name: '' })],
    ['ttlMs is a whole number from 1000 to', () => new LeaderElection(lock, { name: 'a', ttlMs: 999 })],
    ['permits is a whole number from 1 to 32, not 33', () => new Semaphore(baton, 'a', { permits: 33 })],
    ['permits is a whole number from 1 to 32, not 1.5', () => new Semaphore(baton, 'a', { permits: 1.5 })],
    ['name is a text of 1 to 61', () => new Semaphore(baton, 'a'.repeat(62), { permits: 1 })],
    ['parties is a whole number from 1 to 1000', () => new Barrier(lock, { parties: 0 })],
    ['key is a text of 1 to 512 characters', () => new Barrier(lock, { parties: 1, key: '' })],
    ['readers is a whole number from 1 to 1000', () => new ReadWriteLock(lock, { readers: 1_001 })],
    ['leaseMs is a whole number from 1000', () => new ReadWriteLock(lock, { leaseMs: 10 })],
    ['capacity is a whole number from 1 to 10000', () => new WorkQueue(lock, { capacity: 10_001 })],
    ['deliveries is a whole number from 1 to 1000', () => new WorkQueue(lock, { deliveries: 0 })],
    ['leaseMs is a whole number from 1000', () => new WorkQueue(lock, { leaseMs: Number.NaN })],
    ['block is a whole number from 1', () => new Sequence(lock, { block: 0 })],
    ['rate is a whole number from 1', () => new RateLimiter(lock, { ...rate, rate: 0 })],
    ['intervalMs is a whole number from 1', () => new RateLimiter(lock, { ...rate, intervalMs: 0 })],
    ['burst is a whole number from 1', () => new RateLimiter(lock, { ...rate, burst: -1 })],
    ['key is a text of 1 to 512', () => new SharedConfiguration(lock, { key: 'a'.repeat(513) })],
    ['everyMs is a number of milliseconds from 1', () => slotOf(0, 0)],
  ])('%s', (message, make) => {
    expect(make).toThrow(RangeError)
    expect(make).toThrow(message)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['waitMs is a number of', () => new LeaderElection(lock, { name: 'a' }).campaign({ waitMs: -1 })],
    [
      'waitMs is a number of',
      () => new Semaphore(baton, 'a', { permits: 1 }).acquire({ waitMs: Number.NaN }),
    ],
    ['waitMs is a number of', () => new ReadWriteLock(lock).read(() => {}, { waitMs: -1 })],
    ['party is a text of 1 to 100', () => new Barrier(lock, { parties: 1 }).arrive('')],
    ['round is a whole number from 1', () => new Barrier(lock, { parties: 1 }).arrive('a', { round: 0 })],
    ['id is a text of 1 to 100', () => new WorkQueue(lock).add('a', { id: 'x'.repeat(101) })],
    ['waitMs is a number of', () => new WorkQueue(lock).take({ waitMs: -1 })],
    ['id is a text of 1 to 64', () => new Sequence(lock).next({ id: '' })],
    ['the slot is a date or a whole number', () => oncePerSlot(lock, Number.NaN, () => {})],
    [
      "promise is 'at-least-once'",
      () => oncePerSlot(lock, 1, () => {}, { promise: 'exactly-once' as never }),
    ],
    ['amount is a whole number from 1', () => transfer({ ...TRANSFER, amount: 0.5 })],
    ['id is a text of 1 to 64', () => transfer({ ...TRANSFER, id: '' })],
  ])('of a call: %s', async (message, call) => {
    await expect(call()).rejects.toThrow(RangeError)
    await expect(call()).rejects.toThrow(message)
  })
})

const TRANSFER = { from: lock, to: baton.lock('b'), amount: 1, id: 'rent' }
