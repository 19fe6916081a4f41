/** `watch`: Server-Sent Events of operations and holders, live and from the past. */
import { describe, expect, it } from 'vitest'
import { openWatch, type TestWatch } from './event-stream.ts'
import { itKeepsEveryPromise, useService } from './harness.ts'
import { expectStatus, type TestLock } from './lock.ts'

const service = useService()
/** Its participants keep so few events that the past is soon gone. */
const forgetful = useService({ BATON_EVENTS_KEPT: '16' })

const watch = (lock: TestLock, query = '', headers = {}): Promise<TestWatch> =>
  openWatch(`${lock.url}/watch${query}`, headers)

describe('live', () => {
  it.each(['', '?at=1', '?at=2', '?at=3'])('tells each operation and each holder (%s)', async query => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'before' }])
    const stream = await watch(lock, query)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    const grant = await lock.granted({ at: 2 })
    const ops = [{ put: 'a', value: { b: 1 } }, { increment: 'n' }, { delete: 'before' }, { get: 'a' }]
    const { sequence } = await lock.applied(grant, ops, 'first')
    const events = await stream.upTo('first')
    expect(events.at(-1)).toEqual({
      id: sequence,
      event: 'op',
      data: {
        sequence,
        fence: grant.fence,
        opId: 'first',
        changes: [
          { key: 'a', value: { b: 1 }, revision: sequence },
          { key: 'n', value: 1, revision: sequence },
          { key: 'before', deleted: true },
        ],
      },
    })
    // The first of them comes with the log; who that is may follow, from a participant that had to ask.
    const holder = events.find(({ event, data }) => event === 'holder' && data.fence === grant.fence)!
    expect(holder.data).toMatchObject({ sequence: holder.id, participant: 2, fence: grant.fence })
    await lock.released(grant)
    stream.close()
  })

  it('tells nothing of the past unless it is asked for', async () => {
    const lock = service.lock()
    await lock.transacted([{ increment: 'n' }], { opId: 'past' })
    const stream = await watch(lock)
    await lock.transacted([{ increment: 'n' }], { opId: 'now' })
    const events = await stream.upTo('now')
    expect(events.filter(({ event }) => event === 'op').map(({ data }) => data.opId)).toEqual(['now'])
    stream.close()
  })

  it('tells each operation once, in order, to every watcher', async () => {
    const lock = await service.lock().created()
    const streams = await Promise.all([1, 2, 3, 1].map(at => watch(lock, `?at=${at}`)))
    await Promise.all(
      Array.from({ length: 15 }, (_, index) =>
        lock.transacted([{ increment: 'n' }], { opId: `op${index}`, at: (index % 3) + 1 }),
      ),
    )
    await lock.transacted([{ increment: 'n' }], { opId: 'last' })
    for (const stream of streams) {
      const operations = (await stream.upTo('last')).filter(({ event }) => event === 'op')
      const values = operations.map(({ data }) => (data.changes as { value: number }[])[0]!.value)
      expect(values).toEqual(Array.from({ length: 16 }, (_, index) => index + 1))
      stream.close()
    }
  })

  it('tells an operation that changed nothing as such', async () => {
    const lock = await service.lock().created()
    const stream = await watch(lock)
    await lock.transacted([{ put: 'a', value: 1, ifRevision: 7 }], { opId: 'failed' })
    expect((await stream.nextOf('op')).data).toMatchObject({ opId: 'failed', changes: [] })
    stream.close()
  })
})

describe('resuming', () => {
  async function past() {
    const lock = service.lock()
    const sequences: number[] = []
    for (let round = 0; round < 5; round++) {
      sequences.push(
        (await lock.transacted([{ increment: 'n' }], { opId: `op${round}`, at: (round % 3) + 1 })).sequence,
      )
    }
    // Every participant has all of it once it answers a linearizable read.
    for (const at of [1, 2, 3]) await lock.value('n', `?at=${at}`)
    return { lock, sequences }
  }

  it.each([1, 2, 3])('since=0 replays everything at participant %i', async at => {
    const { lock, sequences } = await past()
    const stream = await watch(lock, `?since=0&at=${at}`)
    const events = await stream.upTo('op4')
    const operations = events.filter(({ event }) => event === 'op')
    expect(operations.map(({ id }) => id)).toEqual(sequences)
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).sort((left, right) => left - right))
    expect(events.filter(({ event }) => event === 'holder').length).toBeGreaterThanOrEqual(5)
    stream.close()
  })

  it('since={sequence} replays what came after, then goes on', async () => {
    const { lock, sequences } = await past()
    const stream = await watch(lock, `?since=${sequences[2]}`)
    expect((await stream.nextOf('op')).data.opId).toBe('op3')
    expect((await stream.nextOf('op')).data.opId).toBe('op4')
    await lock.transacted([{ increment: 'n' }], { opId: 'new' })
    expect((await stream.nextOf('op')).data.opId).toBe('new')
    stream.close()
  })

  it('Last-Event-ID counts for more than since', async () => {
    const { lock, sequences } = await past()
    const stream = await watch(lock, '?since=0', { 'last-event-id': String(sequences[3]) })
    expect((await stream.nextOf('op')).data.opId).toBe('op4')
    stream.close()
  })

  it('at another participant goes on where the first one stopped', async () => {
    const { lock } = await past()
    const first = await watch(lock, '?since=0&at=1')
    const seen = [await first.nextOf('op'), await first.nextOf('op')]
    first.close()
    const second = await watch(lock, '?at=3', { 'last-event-id': String(seen[1]!.id) })
    seen.push(...(await second.upTo('op4')).filter(({ event }) => event === 'op'))
    expect(seen.map(({ data }) => data.opId)).toEqual(['op0', 'op1', 'op2', 'op3', 'op4'])
    second.close()
  })

  it('400 for what is not a sequence', async () => {
    const lock = await service.lock().created()
    for (const query of ['?since=-1', '?since=x', '?at=9']) {
      expect((await lock.send('GET', `/watch${query}`)).body.code, query).toBe('bad_request')
    }
    const headers = { 'last-event-id': 'x' }
    expect((await lock.send('GET', '/watch', { headers })).body.code).toBe('bad_request')
  })
})

describe('a past that is gone', () => {
  it.each([1, 2, 3])('begins with a snapshot, then goes on (participant %i)', async at => {
    const lock = forgetful.lock()
    let sequence = 0
    await lock.transacted([{ put: 'old', value: 'still here' }])
    for (let round = 1; round <= 14; round++) {
      ;({ sequence } = await lock.transacted([{ increment: 'n' }], { at: (round % 3) + 1 }))
      // The record that is judged at the end must have no hole either.
      await forgetful.histories.collect(lock.name)
    }
    await lock.value('n', `?at=${at}`)
    const stream = await watch(lock, `?since=0&at=${at}`)
    const first = await stream.next()
    expect(first.event).toBe('snapshot')
    expect(first.id).toBe(first.data.sequence)
    expect(first.id).toBeGreaterThanOrEqual(sequence)
    const entries = first.data.entries as { key: string; value: unknown; revision: number }[]
    expect(entries.map(({ key, value }) => [key, value]).sort()).toEqual([
      ['n', 14],
      ['old', 'still here'],
    ])
    expect(entries.find(({ key }) => key === 'n')!.revision).toBe(sequence)
    await lock.transacted([{ increment: 'n' }], { opId: 'new' })
    const next = await stream.nextOf('op')
    expect(next.data).toMatchObject({ opId: 'new', changes: [{ key: 'n', value: 15 }] })
    stream.close()
  })

  it('is no reason for a snapshot if nothing of it is missing', async () => {
    const lock = forgetful.lock()
    for (let round = 1; round <= 14; round++) {
      await lock.transacted([{ increment: 'n' }])
      await forgetful.histories.collect(lock.name)
    }
    const { sequence } = await lock.transacted([{ increment: 'n' }], { opId: 'seen' })
    const stream = await watch(lock, `?since=${sequence}`)
    await lock.transacted([{ increment: 'n' }], { opId: 'new' })
    const events = await stream.upTo('new')
    expect(events.map(({ event }) => event)).not.toContain('snapshot')
    stream.close()
  })
})

describe('a stream', () => {
  it('is kept open by a comment line', async () => {
    const lock = await service.lock().created()
    const stream = await watch(lock)
    await stream.until(() => stream.comments >= 2, 'a comment')
    await lock.transacted([{ increment: 'n' }], { opId: 'after' })
    expect((await stream.nextOf('op')).data.opId).toBe('after')
    stream.close()
  })

  it('ends without harm when its reader leaves', async () => {
    const lock = await service.lock().created()
    for (let round = 0; round < 5; round++) {
      const stream = await watch(lock)
      stream.close()
      await lock.transacted([{ increment: 'n' }])
    }
    expectStatus(await lock.status(), 200)
    expect(await lock.value('n')).toBe(5)
  })
})

itKeepsEveryPromise(service)
itKeepsEveryPromise(forgetful)
