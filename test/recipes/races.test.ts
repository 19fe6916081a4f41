import { afterAll, describe, expect, it } from 'vitest'
import { type Baton, createBaton, type Fetch, type Lock, NetworkError } from '../../client/index.ts'
import {
  LeaderElection,
  recoverTransfers,
  SharedConfiguration,
  transfer,
  WorkQueue,
} from '../../recipes/index.ts'
import { BALANCE } from '../../recipes/transfer.ts'
import { createFakeServer } from '../client/fake-server.ts'
import { VirtualClock } from '../client/virtual-clock.ts'

const clock = new VirtualClock()
const server = createFakeServer({ clock })
afterAll(() => clock.stop())
const batonWith = (fetch: Fetch): Baton => createBaton({ fetch, clock, timeoutMs: 3_600_000 })

describe('two at once, and answers that got lost', () => {
  it('transfer: a second process with the same id is not told that nothing was taken', async () => {
    const plain = batonWith(server.fetch)
    await plain.lock('from').transact([{ put: BALANCE, value: 100 }])
    await plain.lock('to').transact([{ put: BALANCE, value: 0 }])
    let other: Promise<unknown> | undefined
    // The two reads of process B, with all of process A in between.
    const slow: Fetch = async request => {
      const url = new URL(request.url)
      const isBalance = url.pathname.includes('/from/state') && url.searchParams.get('prefix') === BALANCE
      if (isBalance && other === undefined) {
        await new Promise(resolve => setImmediate(resolve))
        other = transfer({ from: plain.lock('from'), to: plain.lock('to'), amount: 100, id: 'rent' })
        await other
      }
      return server.fetch(request)
    }
    const b = batonWith(slow)
    const outcome = await transfer({ from: b.lock('from'), to: b.lock('to'), amount: 100, id: 'rent' })
    expect(await other).toEqual({ done: true })
    expect((await plain.lock('to').get(BALANCE)).value).toBe(100)
    expect(outcome).toEqual({ done: true })
  })

  describe('transfers that others have finished, and a hundred more after them', () => {
    /** A giver with 1,000, to whom so many transfers happen that all before are forgotten. */
    async function giver(name: string) {
      const plain = batonWith(server.fetch)
      const [from, to, third] = ['from', 'to', 'third'].map(role => plain.lock(`${name}-${role}`)) as [
        Lock,
        Lock,
        Lock,
      ]
      await from.transact([{ put: BALANCE, value: 1_000 }])
      const overtake = async () => {
        await recoverTransfers(from, other => plain.lock(other))
        for (let number = 1; number <= 100; number++)
          await transfer({ from, to: number === 1 ? to : third, amount: 1, id: `later-${number}` })
      }
      const balances = () => Promise.all([from, to, third].map(async lock => (await lock.get(BALANCE)).value))
      return { from, to, overtake, balances }
    }

    it('one that comes late takes no second amount, and says that it cannot tell', async () => {
      const { from, to, overtake, balances } = await giver('late')
      let isFirst = true
      const slow = batonWith(async request => {
        if (isFirst && request.url.includes(to.name)) {
          isFirst = false
          await overtake()
        }
        return server.fetch(request)
      })
      const options = { from: slow.lock(from.name), to: slow.lock(to.name), amount: 30, id: 'rent' }
      await expect(transfer(options)).rejects.toMatchObject({ code: 'conflict', outcome: 'unknown' })
      expect(await balances()).toEqual([870, 31, 99])
    })

    it('whoever recovers them begins none of them anew', async () => {
      const { from, to, overtake, balances } = await giver('recovered')
      const dying = batonWith(async request => {
        if (request.url.includes(to.name)) throw new TypeError('the process has died')
        return server.fetch(request)
      })
      const options = { from: dying.lock(from.name), to: dying.lock(to.name), amount: 30, id: 'rent' }
      await expect(transfer(options)).rejects.toThrow(NetworkError)
      let isFirst = true
      const slow = batonWith(async request => {
        const answer = await server.fetch(request)
        if (isFirst) {
          isFirst = false
          await overtake()
        }
        return answer
      })
      await recoverTransfers(slow.lock(from.name), other => slow.lock(other))
      expect(await balances()).toEqual([870, 31, 99])
    })
  })

  it('observe: who has resigned long ago is not shown as the leader of now', async () => {
    const lock = batonWith(server.fetch).lock('election')
    for (const name of ['a', 'b']) await (await new LeaderElection(lock, { name }).campaign()).resign()
    expect(await new LeaderElection(lock, { name: 'x' }).leader()).toBeNull()
    const stop = new AbortController()
    const seen: (string | null)[] = []
    const observing = (async () => {
      for await (const leader of new LeaderElection(lock, { name: 'o' }).observe({ signal: stop.signal }))
        seen.push(leader?.name ?? null)
    })()
    await clock.sleep(5_000)
    stop.abort()
    await observing
    expect(seen).toEqual([null])
  })

  it('done: repeated after a lost answer, it does not say that nothing was applied', async () => {
    let isDeaf = false
    const fetch: Fetch = async request => {
      const answer = await server.fetch(request)
      if (isDeaf && request.url.endsWith('/transact')) throw new TypeError('the answer got lost')
      return answer
    }
    const lock = batonWith(fetch).lock('mails')
    const queue = new WorkQueue(lock, { clock })
    await queue.add('mail', { id: 'one' })
    const delivery = (await queue.take())!
    isDeaf = true
    await expect(delivery.done([{ increment: 'sent' }])).rejects.toMatchObject({ outcome: 'unknown' })
    isDeaf = false
    // `work` does so every third of the lease while the handler runs.
    await delivery.extend()
    const isDone = await delivery.done([{ increment: 'sent' }])
    expect((await lock.get('sent')).value).toBe(1)
    expect(isDone).toBe(true)
  })

  it('update: what was applied is not applied again', async () => {
    const lock = batonWith(server.fetch).lock('conf')
    const conf = new SharedConfiguration<number>(lock)
    await conf.set(0)
    let calls = 0
    const racing: Fetch = async request => {
      // Others are quicker three times.
      if (request.url.endsWith('/transact') && calls++ < 3)
        await lock.transact([{ put: 'configuration', value: 0 }])
      if (request.url.endsWith('/ops'))
        server.lock('conf').ejectsDuringNextOperation ??= calls++ === 3 ? 'applied' : undefined
      return server.fetch(request)
    }
    await new SharedConfiguration<number>(batonWith(racing).lock('conf'))
      .update(n => (n ?? 0) + 1)
      .catch(error => expect(error.outcome).toBe('applied'))
    expect((await conf.get()).value).toBe(1)
  })
})
