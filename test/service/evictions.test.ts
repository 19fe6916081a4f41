/** Objects are evicted and crash at random moments, while the lock is used in every way there is. */
import { describe, expect, it } from 'vitest'
import { eventually, sleep } from './eventually.ts'
import { useEvictingService } from './evicting-service.ts'
import { itKeepsEveryPromise } from './harness.ts'
import { byGrant, bySession, byTicket, byTransact, byTurns, Load } from './load.ts'
import { granted } from './lock.ts'
import { openSession } from './session-socket.ts'

const service = useEvictingService()
const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!

describe('under load', () => {
  it('nothing that was acknowledged is lost, nothing is applied twice', async () => {
    const lock = service.lock()
    const load = new Load(lock, 6, byTurns(byTransact(3), byGrant, byTicket, bySession), { givenUp: 0.2 })
    await load.untilAcknowledged(10)
    let evictions = 0
    for (let round = 0; round < 24; round++) {
      const participant = anyOf([1, 2, 3])
      if (round % 6 === 5) evictions += Number(await service.evict(lock, participant))
      else await service.crash(lock, participant)
      await load.untilAcknowledged(10 + 4 * round)
      await sleep(Math.random() * 100)
    }
    await load.finish()
    expect(evictions).toBeGreaterThan(0)
    await load.expectEachOnce()
    await lock.untilFree()
  })
})

describe('one by one, between any two steps of a holder', () => {
  it('a crash of all changes nothing for grants and tickets', async () => {
    const lock = service.lock()
    const grant = await eventually(() => lock.granted({ at: 2, ttlMs: 600_000 }))
    const disturb = () => Promise.all([1, 2, 3].map(participant => service.crash(lock, participant)))
    await disturb()
    const first = await lock.applied(grant, [{ increment: 'n' }], 'first')
    await disturb()
    expect(await lock.applied(grant, [{ increment: 'n' }], 'first')).toEqual(first)
    const { id } = await lock.queued({ at: 3 })
    await disturb()
    expect((await lock.ticket(id)).body.ticket.position).toBe(1)
    await disturb()
    await lock.released(grant)
    const next = granted(await lock.ticket(id, 25_000))
    await disturb()
    expect((await lock.applied(next, [{ increment: 'n' }])).results[0]).toMatchObject({ value: 2 })
    await lock.released(next)
  })

  it('an eviction of all changes nothing for a session, which hibernates', async () => {
    const lock = service.lock()
    const session = await openSession(`${lock.url}/session?at=1`)
    session.send({ type: 'try', ttlMs: 600_000 })
    await session.nextOf('crit')
    for (let value = 1; value <= 2; value++) {
      const evicted = await Promise.all([1, 2, 3].map(participant => service.evict(lock, participant)))
      expect(evicted).toEqual([true, true, true])
      session.send({ type: 'issue', opId: `op-${value}`, ops: [{ increment: 'n' }] })
      expect((await session.nextOf('outcome')).results[0]).toMatchObject({ value })
    }
    session.close()
    await lock.untilFree()
  })
})

itKeepsEveryPromise(service)
