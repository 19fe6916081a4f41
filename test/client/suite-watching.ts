import { describe, expect, it } from 'vitest'
import { ForbiddenError, type Lock, type WatchEvent } from '../../client/index.ts'
import type { GetBench } from './suite.ts'

export function describeWatching(bench: GetBench): void {
  describe('watching', () => {
    it('tells what was applied, and goes on with what is', async () => {
      const { lock } = bench()
      await lock.transact([{ put: 'a', value: 1 }], { opId: 'first' })
      const events = lock.watch({ since: 0 })
      const first = await nextOp(events)
      expect(first).toMatchObject({
        opId: 'first',
        changes: [{ key: 'a', value: 1, revision: first.sequence }],
      })
      const next = nextOp(events)
      await lock.transact([{ delete: 'a' }], { opId: 'second' })
      expect(await next).toMatchObject({ opId: 'second', changes: [{ key: 'a', deleted: true }] })
      await events.return()
    })

    it('tells who holds the lock', async () => {
      const { lock } = bench()
      const held = await lock.acquire()
      await held.apply([{ increment: 'n' }])
      for await (const event of lock.watch({ since: 0 })) {
        if (event.type === 'holder' && event.participant !== null && event.fence === held.fence) break
      }
      await held.release()
    })

    it('after disconnects nothing is missing and nothing comes twice', async () => {
      const { lock, network } = bench()
      network.plan = (request, before) => {
        if (!request.path.startsWith('watch') || before > 6) return undefined
        return [
          { cutAfterBlocks: 2 },
          { status: 502 } as const,
          { cutAfterBlocks: 4 },
          'lose-answer' as const,
        ][before % 4]
      }
      const told = collect(lock, 12)
      for (let value = 0; value < 12; value++)
        await lock.transact([{ append: 'list', value }], { opId: `op-${value}` })
      expect(await told).toEqual(Array.from({ length: 12 }, (_, value) => `op-${value}`))
      const requests = network.of('GET watch')
      expect(requests.length).toBeGreaterThan(4)
      expect(requests.at(-1)!.headers.get('last-event-id')).toBe(
        requests.at(-1)!.url.searchParams.get('since'),
      )
    })

    it('ends quietly when the signal is aborted', async () => {
      const { lock, clock } = bench()
      await lock.transact([{ increment: 'n' }])
      const controller = new AbortController()
      const ended = (async () => {
        for await (const _ of lock.watch({ since: 0, signal: controller.signal }));
        return 'ended'
      })()
      await clock.sleep(200)
      controller.abort()
      expect(await ended).toBe('ended')
      for await (const _ of lock.watch({ signal: controller.signal })) throw new Error('not reached')
    })

    it('fails with what trying again does not change', async () => {
      const { lock, network } = bench()
      network.inject('GET watch', { refuse: 'no_quorum' }, { refuse: 'forbidden' })
      await expect(lock.watch().next()).rejects.toThrow(ForbiddenError)
    })
  })
}

type OpEvent = Extract<WatchEvent, { type: 'op' }>

async function nextOp(events: AsyncGenerator<WatchEvent, void, undefined>): Promise<OpEvent> {
  for (;;) {
    const { value, done } = await events.next()
    if (done) throw new Error('the watch ended')
    if (value.type === 'op') return value
  }
}

async function collect(lock: Lock, count: number): Promise<string[]> {
  const opIds: string[] = []
  for await (const event of lock.watch({ since: 0 })) {
    if (event.type === 'op') opIds.push(event.opId)
    if (opIds.length === count) break
  }
  return opIds
}
