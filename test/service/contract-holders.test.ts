/**
 * `watch` tells each change of holder: who comes in, also if nothing else is done, and when nobody is inside
 * any more, however that came to be; at the participant of the holder and at the others.
 */
import { describe, expect, it } from 'vitest'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { openWatch, type StreamEvent, type TestWatch } from './event-stream.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'

const service = useService()

const PROTOCOLS: readonly ProtocolName[] = ['wme-1', 'wme-2', 'wme-consensus']
const PARTICIPANTS = [1, 2, 3]

/** Whoever watched, and the next change of holder that it is told. What is said once more has no id. */
class Watched {
  readonly stream: TestWatch

  constructor(stream: TestWatch) {
    this.stream = stream
  }

  async next(): Promise<StreamEvent> {
    for (;;) {
      const event = await this.stream.nextOf('holder')
      if (Number.isInteger(event.id)) return event
    }
  }

  async hears(data: object): Promise<void> {
    const event = await this.next()
    expect(event.data).toMatchObject(data)
    expect(event.data.sequence).toBe(event.id)
  }
}

async function watchedAtAll(lock: TestLock, query = ''): Promise<Watched[]> {
  const open = (at: number) => openWatch(`${lock.url}/watch?at=${at}${query}`)
  return (await Promise.all(PARTICIPANTS.map(open))).map(stream => new Watched(stream))
}

const NOBODY = { participant: null }

describe.each(PROTOCOLS)('with %s', protocol => {
  const created = async (): Promise<TestLock> => {
    const lock = service.lock()
    await lock.configure({ protocol })
    // The token is at participant 1 from here on.
    await lock.transacted([{ increment: 'n' }], { at: 1 })
    // Every participant has all of it once it answers a linearizable read.
    for (const at of PARTICIPANTS) await lock.value('n', `?at=${at}`)
    return lock
  }

  it.each([1, 2])('a holder at %i that does nothing, and leaves, is told twice over', async at => {
    const lock = await created()
    const watched = await watchedAtAll(lock)
    for (let round = 0; round < 2; round++) {
      const grant = await lock.granted({ at, owner: 'checkout-7' })
      const { fence } = grant
      for (const one of watched) await one.hears({ participant: at, fence })
      await lock.released(grant)
      for (const one of watched) await one.hears(NOBODY)
    }
    for (const { stream } of watched) stream.close()
  })

  it('a grant that runs out, and one that an operator ends', async () => {
    const lock = await created()
    const watched = await watchedAtAll(lock)
    const expired = await lock.granted({ at: 1, ttlMs: 1_000 })
    for (const one of watched) await one.hears({ participant: 1, fence: expired.fence })
    for (const one of watched) await one.hears(NOBODY)
    const ejected = await lock.granted({ at: 2 })
    for (const one of watched) await one.hears({ participant: 2, fence: ejected.fence })
    expectStatus(await lock.send('POST', '/eject', { body: {} }), 200)
    for (const one of watched) await one.hears(NOBODY)
    for (const { stream } of watched) stream.close()
  })
})

it('whoever begins to watch is told who holds the lock', async () => {
  const lock = service.lock()
  const grant = await lock.granted({ at: 1, owner: 'checkout-7' })
  const watched = await watchedAtAll(lock)
  for (const one of watched) await one.hears({ participant: 1, fence: grant.fence, owner: 'checkout-7' })
  await lock.released(grant)
  for (const one of watched) await one.hears(NOBODY)
  for (const { stream } of watched) stream.close()
})

it('whoever resumes is told that the holder has left meanwhile', async () => {
  const lock = service.lock()
  await lock.transacted([{ increment: 'n' }], { at: 1 })
  const grant = await lock.granted({ at: 1 })
  const before = await watchedAtAll(lock)
  const ids: number[] = []
  for (const one of before) {
    ids.push((await one.next()).id)
    one.stream.close()
  }
  await lock.released(grant)
  for (const [index, at] of PARTICIPANTS.entries()) {
    const one = new Watched(await openWatch(`${lock.url}/watch?at=${at}&since=${ids[index]}`))
    let { data } = await one.next()
    // The log may tell of it once more.
    while (data.participant !== null) ({ data } = await one.next())
    one.stream.close()
  }
})

itKeepsEveryPromise(service)
