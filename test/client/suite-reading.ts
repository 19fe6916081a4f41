import { describe, expect, it } from 'vitest'
import { BadRequestError, ConflictError } from '../../client/index.ts'
import { historyAnswer, listAnswer, statusAnswer } from '../../shared/api/answer-schemas.ts'
import type { GetBench } from './suite.ts'

/** Each is awkward somewhere between a program and a path. */
const AWKWARD_KEYS = [
  'a/b',
  '/',
  'a b',
  'ü',
  '😀',
  '%',
  '%2F',
  '?x=1',
  '#',
  '+',
  '&',
  '.',
  '..',
  '...',
  '__proto__',
  ' ',
]

export function describeReading(bench: GetBench): void {
  describe('reading', () => {
    it('get answers value and revision; null and 0 when there is none', async () => {
      const { lock } = bench()
      expect(await lock.get('a')).toEqual({ key: 'a', value: null, revision: 0 })
      const { sequence } = await lock.transact([{ put: 'a', value: [1] }])
      expect(await lock.get('a')).toMatchObject({ key: 'a', value: [1], revision: sequence })
      expect(await lock.get('a', { consistency: 'local' })).toMatchObject({ value: [1] })
    })

    it('the revision of an absent key is what ifRevision wants for it', async () => {
      const { lock } = bench()
      const { revision } = await lock.get('a')
      expect(await lock.transact([{ put: 'a', value: 1, ifRevision: revision }])).toMatchObject({
        applied: true,
      })
    })

    it('a key may be anything', async () => {
      const { lock } = bench()
      await lock.transact(AWKWARD_KEYS.map(key => ({ put: key, value: `of ${key}` })))
      for (const key of AWKWARD_KEYS) expect((await lock.get(key)).value, key).toBe(`of ${key}`)
      await lock.transact([{ delete: '.' }])
      expect(await lock.get('.')).toEqual({ key: '.', value: null, revision: 0 })
    })

    it('list answers pages, entries all of them', async () => {
      const { lock } = bench()
      const keys = Array.from({ length: 7 }, (_, index) => `k/${index}`)
      await lock.transact([{ put: 'other', value: 0 }, ...keys.map(key => ({ put: key, value: key }))])
      const page = await lock.list({ prefix: 'k/', limit: 3 })
      expect(page.entries.map(({ key }) => key)).toEqual(keys.slice(0, 3))
      expect(listAnswer.safeParse(page).error).toBeUndefined()
      const next = await lock.list({ prefix: 'k/', limit: 3, cursor: page.cursor! })
      expect(next.entries.map(({ key }) => key)).toEqual(keys.slice(3, 6))
      const all: string[] = []
      for await (const { key } of lock.entries({ prefix: 'k/', limit: 2 })) all.push(key)
      expect(all).toEqual(keys)
      expect((await lock.list({ prefix: 'none' })).entries).toEqual([])
    })

    it('a read is repeated when its answer is lost', async () => {
      const { lock, network } = bench()
      network.inject('GET state', 'lose-answer', { status: 502 }, 'cut-answer', { refuse: 'no_quorum' })
      expect((await lock.get('a')).revision).toBe(0)
      expect(network.of('GET state')).toHaveLength(5)
    })

    it('status and history are as the contract says', async () => {
      const { lock } = bench()
      await lock.transact([{ put: 'a', value: 1 }])
      const status = await lock.status()
      expect(statusAnswer.safeParse(status).error).toBeUndefined()
      expect(status).toMatchObject({ lock: lock.name, holder: null })
      for await (const page of lock.historyPages())
        expect(historyAnswer.safeParse(page).error).toBeUndefined()
      expect(await lock.history()).toMatchObject({ lock: lock.name, participants: expect.any(Array) })
    })

    it('configure: once, again the same, and no other', async () => {
      const { lock, network } = bench()
      network.inject('PUT lock', 'lose-answer')
      expect(await lock.configure({ protocol: 'wme-1', ttlMs: 5_000 })).toMatchObject({ ttlMs: 5_000 })
      expect(await lock.configure({ protocol: 'wme-1', ttlMs: 5_000 })).toMatchObject({ protocol: 'wme-1' })
      await expect(lock.configure({ protocol: 'wme-1', ttlMs: 6_000 })).rejects.toThrow(ConflictError)
    })

    it('eject is not repeated when its answer is lost', async () => {
      const { lock, network } = bench()
      await using _held = await lock.acquire()
      network.inject('POST eject', 'lose-request')
      await expect(lock.eject()).rejects.toMatchObject({ code: 'network', retryable: true })
      expect(network.of('POST eject')).toHaveLength(1)
      expect(await lock.eject()).toEqual({ epoch: expect.any(Number) })
    })

    it('eject with a fence is repeated, and leaves the next holder alone', async () => {
      const { lock, network } = bench()
      const first = await lock.acquire({ keepAlive: false })
      network.inject('POST eject', 'lose-answer')
      expect(await lock.eject({ fence: first.fence })).toEqual({ epoch: expect.any(Number) })
      expect(network.of('POST eject')).toHaveLength(2)
      await using second = await lock.acquire()
      await expect(lock.eject({ fence: first.fence })).rejects.toThrow(ConflictError)
      await second.apply([{ put: 'a', value: 'still inside' }])
      await expect(first.apply([{ get: 'a' }])).rejects.toMatchObject({ code: 'ejected' })
    })

    it.each(['', '.', '..', 'a/b', '-a', 'a'.repeat(65), 'ü'])('no lock has the name %j', name => {
      expect(() => bench().baton.lock(name)).toThrow(BadRequestError)
    })
  })
}
