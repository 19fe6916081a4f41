/** How much a lock may hold, and how much of it comes at once. */
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { KeyValueOp } from '../../shared/resource/key-value.ts'
import { openWatch } from './event-stream.ts'
import { eventually } from './eventually.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'
import { openSession } from './session-socket.ts'

const service = useService({ BATON_EVENTS_KEPT: '1000000' })

const HEAVY = 'x'.repeat(125_000)
/** Two of them are a batch. */
const heavyPuts = (index: number): KeyValueOp[] =>
  [0, 1].map(half => ({ put: `heavy/${index}/${half}`, value: HEAVY }))

/** Fills the lock until it takes no more. Returns how many batches it took. */
async function fill(lock: TestLock): Promise<number> {
  for (let index = 0; ; index++) {
    const { status, body } = await lock.transact(heavyPuts(index))
    if (status === 200) continue
    expect([status, body.code, body.outcome, body.retryable]).toEqual([
      413,
      'too_large',
      'not-applied',
      false,
    ])
    return index
  }
}

describe('the state of a lock', () => {
  it('413 too_large and not-applied over the limit; an op that makes it smaller is taken', async () => {
    const lock = service.lock()
    const early = await lock.transacted([{ put: 'early', value: 1 }], { opId: 'early' })
    const batches = await fill(lock)
    expect(batches).toBe(Math.floor(API_LIMITS.stateWeight / (2 * HEAVY.length + 200)))
    expect((await lock.get(`heavy/${batches}/0`)).body.code).toBe('no_such_key')

    const holder = await lock.granted()
    const refused = await lock.ops(holder, heavyPuts(batches), 'refused')
    expect([refused.status, refused.body.code, refused.body.outcome]).toEqual([
      413,
      'too_large',
      'not-applied',
    ])
    // The grant goes on, what was applied before is answered again, and small things still have room.
    expect(await lock.applied(holder, [{ put: 'early', value: 1 }], 'early')).toMatchObject({
      sequence: early.sequence,
    })
    await lock.applied(holder, [{ increment: 'small' }])
    await lock.applied(holder, [{ put: 'heavy/0/0', value: HEAVY }])
    await lock.applied(holder, [{ delete: 'heavy/0/0' }, { delete: 'heavy/0/1' }])
    // The refused one was never issued: the same opId is free for what fits now.
    expect((await lock.applied(holder, heavyPuts(batches), 'refused')).applied).toBe(true)
    await lock.released(holder)
  })

  it('is measured alike by every participant, and after the participant was started anew', async () => {
    const lock = service.lock()
    const batches = await fill(lock)
    for (const at of [2, 3]) {
      await eventually(async () => {
        const { status } = await lock.transact(heavyPuts(batches), { at })
        expect(status).toBe(413)
      })
    }
    await service.kill()
    await service.start()
    expect((await lock.transact(heavyPuts(batches), { at: 2 })).status).toBe(413)
    expectStatus(await lock.transact([{ delete: 'heavy/0/0' }, { delete: 'heavy/0/1' }]), 200)
    expectStatus(await lock.transact(heavyPuts(batches), { at: 2 }), 200)
  })

  it('in a session: an error, and the session goes on', async () => {
    const lock = service.lock()
    const batches = await fill(lock)
    const session = await openSession(`${lock.url}/session`)
    session.send({ type: 'try' })
    await session.nextOf('crit')
    session.send({ type: 'issue', opId: 'too much', ops: heavyPuts(batches) })
    expect(await session.nextOf('error')).toMatchObject({ code: 'too_large' })
    session.send({ type: 'issue', opId: 'little', ops: [{ increment: 'n' }] })
    expect((await session.nextOf('outcome')).applied).toBe(true)
    session.close()
    await lock.untilFree()
  })
})

describe('the results that are remembered', () => {
  it('413 for one more that is heavy; light ones are taken', async () => {
    const lock = service.lock()
    await lock.transacted(heavyPuts(0))
    const reads: KeyValueOp[] = [{ get: 'heavy/0/0' }, { get: 'heavy/0/1' }]
    let count = 0
    for (; ; count++) {
      const { status, body } = await lock.transact(reads)
      if (status === 200) continue
      expect([status, body.code, body.outcome]).toEqual([413, 'too_large', 'not-applied'])
      break
    }
    expect(count).toBe(Math.floor(API_LIMITS.resultsWeight / (2 * HEAVY.length + 200)))
    expect((await lock.transacted([{ increment: 'n' }])).applied).toBe(true)
    // Reading needs no operation.
    expect(await lock.value('heavy/0/0')).toBe(HEAVY)
  })
})

describe('a page of a listing', () => {
  it('ends where it is heavy enough, with a cursor', async () => {
    const lock = service.lock()
    for (let index = 0; index < 10; index++) await lock.transacted(heavyPuts(index))
    const pages: string[][] = []
    let query = '?limit=1000'
    for (;;) {
      const { body, text } = expectStatus(await lock.list(query), 200)
      expect(text.length).toBeLessThan(API_LIMITS.listWeight + 1_000)
      pages.push(body.entries.map(({ key }) => key))
      if (body.cursor === null) break
      query = `?limit=1000&cursor=${body.cursor}`
    }
    expect(pages.map(page => page.length)).toEqual([8, 8, 4])
    expect(new Set(pages.flat()).size).toBe(20)
    const few = expectStatus(await lock.list('?limit=3'), 200).body
    expect(few.entries).toHaveLength(3)
  })
})

describe('watchers', () => {
  it('a batch that changes more than a row holds is reported, and resumed from as a snapshot', async () => {
    const lock = service.lock()
    const lists = Array.from({ length: 20 }, (_, index) => `list/${index}`)
    for (const list of lists) await lock.transacted([{ append: list, value: HEAVY }])
    const live = await openWatch(`${lock.url}/watch`)
    const appends = lists.map(list => ({ append: list, value: 1 }))
    const { sequence } = await lock.transacted(appends, { opId: 'all' })
    const told = await live.nextOf('op')
    expect([told.data.opId, (told.data.changes as unknown[]).length]).toEqual(['all', lists.length])
    const after = await lock.transacted([{ increment: 'n' }], { opId: 'after' })
    const late = await openWatch(`${lock.url}/watch?since=${sequence - 1}`)
    const first = await late.next()
    expect([first.event, (first.data.entries as unknown[]).length]).toEqual(['snapshot', lists.length + 1])
    const resumed = await openWatch(`${lock.url}/watch?since=${sequence}`)
    expect((await resumed.nextOf('op')).id).toBe(after.sequence)
    for (const watch of [live, late, resumed]) watch.close()
  })

  it('one that does not read is disconnected, and the others hear everything', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }])
    const { hostname, port } = new URL(service.url)
    const lazy = connect(Number(port), hostname)
    const closed = new Promise<void>(resolve => lazy.once('close', () => resolve()))
    lazy.on('error', () => {})
    lazy.pause()
    lazy.write(`GET ${lock.path}/watch HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    const reader = await openWatch(`${lock.url}/watch`)
    // The sockets of the machine hold some megabytes for a reader, and nobody knows how many: they are filled
    // until nothing goes in.
    const rounds = 160
    for (let round = 0; round < rounds; round++)
      await lock.transacted([{ put: 'same', value: HEAVY + round }])
    for (let round = 0; round < rounds; round++) {
      const { data } = await reader.nextOf('op')
      expect((data.changes as { value: string }[])[0]!.value.slice(HEAVY.length)).toBe(String(round))
    }
    reader.close()
    let bytes = 0
    lazy.on('data', chunk => {
      bytes += chunk.length
    })
    lazy.resume()
    await closed
    expect(bytes).toBeLessThan(rounds * HEAVY.length)
  })
})

describe('the history', () => {
  const EVENTS_KEPT = 100
  const forgetful = useService({ BATON_EVENTS_KEPT: String(EVENTS_KEPT) })

  it('is bounded in bytes and in number, newest last, and watchers begin with a snapshot', async () => {
    const lock = forgetful.lock()
    const value = 'x'.repeat(10_000)
    for (let round = 1; round <= 40; round++) await lock.transacted([{ put: 'same', value }], { at: 1 })
    const { body } = await lock.send('GET', '/history')
    const { events } = body.participants[0]!
    const newest = events.filter(event => (event as { type: string }).type === 'outcome').at(-1)
    expect(newest).toMatchObject({ opId: `${lock.name}-40` })
    const most = EVENTS_KEPT * API_LIMITS.bytesPerEventKept * 1.25 + 2 * value.length
    expect(JSON.stringify(events).length).toBeLessThan(most)
    const watch = await openWatch(`${lock.url}/watch?since=0&at=1`)
    expect(await watch.next()).toMatchObject({
      event: 'snapshot',
      data: { entries: [{ key: 'same', value }] },
    })
    watch.close()
  })
})

itKeepsEveryPromise(service)
