/**
 * Watchers are told who holds the lock and when nobody does, wherever the holder is and wherever they watch,
 * also when nothing is written to the log.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import type { ParticipantCall } from '../../worker/participant/calls.ts'
import type { PeerAnswer, PeerRequest } from '../../worker/participant/peers/requests.ts'
import { MemoryPlatform } from './memory-platform.ts'
import { MemorySink } from './memory-sink.ts'

const TTL_MS = 60_000
const TICK_MS = 15_000

let platform: MemoryPlatform
let users = 0

interface Grant {
  readonly user: string
  readonly fence: number
}

const acquireAs = (user: string, ttlMs = TTL_MS): ParticipantCall => ({
  type: 'acquire',
  ...{ user, waitMs: 5_000, ttlMs, ticket: false, confirm: false, owner: 'checkout-7' },
})

async function acquired(at: number, ttlMs?: number): Promise<Grant> {
  const user = `user-${++users}`.padEnd(22, '-')
  const answer = await platform.during(platform.node(at).call(acquireAs(user, ttlMs)))
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  const { grant } = answer.body as { grant: { fence: number } }
  return { user, fence: grant.fence }
}

async function released(at: number, { user, fence }: Grant): Promise<void> {
  const answer = await platform.during(platform.node(at).call({ type: 'release', user, fence }))
  expect(answer).toMatchObject({ type: 'done' })
}

async function transacted(at: number): Promise<void> {
  const opId = `op-${++users}`
  const ops = [{ increment: 'n' }]
  const call = platform.node(at).call({ type: 'transact', user: opId, opId, ops, waitMs: 5_000 })
  expect(await platform.during(call)).toMatchObject({ type: 'done' })
}

async function watched(at: number, since: number | null = null): Promise<MemorySink> {
  const sink = new MemorySink(platform.node(at))
  expect(await platform.node(at).watch(sink, since)).toBeNull()
  await platform.settle()
  return sink
}

/** The fences that it was told, and `null` for nobody. What is only said once more has no id. */
function told(sink: MemorySink): (number | null)[] {
  const blocks = sink.text().split('\n\n')
  return blocks.flatMap(block => {
    if (!/^id: .*\nevent: holder/.test(block)) return []
    const data = JSON.parse(block.slice(block.indexOf('data: ') + 6))
    return [data.participant === null ? null : data.fence]
  })
}

/** So much time passes. A watcher that does not read would be dropped. */
async function reading(sink: MemorySink, ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) {
    await platform.advance(TICK_MS)
    sink.read()
  }
}

/** The types of what this participant is asked from now on. `answer` may answer instead. */
function asked(at: number, answer: (request: PeerRequest) => unknown = () => undefined): string[] {
  const node = platform.node(at)
  const peer = node.peer.bind(node)
  const types: string[] = []
  node.peer = async request => {
    types.push(request.type)
    const instead = (await answer(request)) as PeerAnswer | undefined
    return instead ?? peer(request)
  }
  return types
}

beforeEach(async () => {
  platform = new MemoryPlatform(3)
  await transacted(1)
  await platform.advance(2_000)
})

describe.each<ProtocolName>(['wme-1', 'wme-2', 'wme-consensus'])('with %s', protocol => {
  beforeEach(async () => {
    platform = new MemoryPlatform(3, protocol)
    await transacted(1)
    await platform.advance(2_000)
  })

  it.each([1, 2])(
    'all are told of a holder that does nothing, and that it has left (holder at %i)',
    async at => {
      const sinks = [await watched(1), await watched(2), await watched(3)]
      const first = await acquired(at)
      await platform.settle()
      await released(at, first)
      await platform.settle()
      const second = await acquired(at)
      await platform.settle()
      await released(at, second)
      await platform.advance(1_000)
      for (const sink of sinks) expect(told(sink)).toEqual([first.fence, null, second.fence, null])
    },
  )

  it('all are told when its time is over, and when an operator forces it out', async () => {
    const sinks = [await watched(1), await watched(2), await watched(3)]
    const first = await acquired(1, 5_000)
    await platform.advance(6_000)
    for (const sink of sinks) expect(told(sink)).toEqual([first.fence, null])
    const second = await acquired(2)
    const ejected = platform.node(3).call({ type: 'eject', fence: null })
    expect(await platform.during(ejected)).toMatchObject({ type: 'done' })
    await platform.advance(1_000)
    for (const sink of sinks) expect(told(sink)).toEqual([first.fence, null, second.fence, null])
  })

  it('in the end all know that a transact is over, and fences only rise', async () => {
    const sinks = [await watched(1), await watched(2), await watched(3)]
    for (let round = 0; round < 12; round++) await transacted((round % 3) + 1)
    await platform.advance(2_000)
    for (const sink of sinks) {
      const fences = told(sink).filter(fence => fence !== null)
      expect(fences).toEqual([...new Set(fences)].sort((left, right) => left - right))
      expect(told(sink).at(-1)).toBeNull()
      expect(told(sink).filter((fence, index, all) => fence === null && all[index + 1] === null)).toEqual([])
    }
  })

  it('a new watcher is told who is inside, and nothing if nobody is', async () => {
    expect(told(await watched(1))).toEqual([])
    expect(told(await watched(2))).toEqual([])
    const { fence } = await acquired(1)
    for (const at of [1, 2, 3]) expect(told(await watched(at))).toEqual([fence])
  })
})

describe('a watcher that resumes', () => {
  it.each([1, 2])('is told that the holder has left meanwhile, at participant %i', async at => {
    const first = await watched(at)
    const grant = await acquired(1)
    await platform.settle()
    const since = first.readAll().at(-1)!.id
    platform.node(at).unwatch(first)
    await released(1, grant)
    expect(told(await watched(at, since))).toEqual([null])
  })

  it('resumes after a holder that the log does not know, and misses nothing', async () => {
    const first = await watched(1)
    const grant = await acquired(1)
    const [{ id, data }] = first.readAll() as [ReturnType<MemorySink['readAll']>[number]]
    expect(data).toMatchObject({ sequence: id, fence: grant.fence })
    // The number of the grant itself is not used: the grant may still be rolled back.
    expect(id).toBeLessThan(grant.fence)
    const ops = [{ increment: 'n' }]
    const { user, fence } = grant
    await platform.during(platform.node(1).call({ type: 'ops', user, fence, opId: 'later', ops }))
    const second = await watched(1, id)
    expect(second.readAll().filter(({ event }) => event === 'op')).toMatchObject([
      { data: { opId: 'later' } },
    ])
    expect(told(second)).toEqual([fence])
    expect(told(first)).toEqual([fence])
  })
})

describe('news that does not come', () => {
  it('is asked for again while somebody is inside', async () => {
    const sink = await watched(2)
    const grant = await acquired(1)
    await platform.settle()
    expect(told(sink)).toEqual([grant.fence])
    platform.node(2).isAway = true
    await released(1, grant)
    await platform.settle()
    platform.node(2).isAway = false
    expect(told(sink)).toEqual([grant.fence])
    await platform.advance(TICK_MS)
    expect(told(sink)).toEqual([grant.fence, null])
    // The owner tells again what happens.
    const next = await acquired(1)
    await platform.settle()
    expect(told(sink).at(-1)).toBe(next.fence)
  })

  it('is asked for again when the owner has begun anew, within a minute', async () => {
    const sink = await watched(2)
    platform.node(1).restart()
    const grant = await acquired(1, 10 * TICK_MS)
    await platform.advance(500)
    expect(told(sink)).toEqual([])
    await reading(sink, 4)
    expect(told(sink)).toEqual([grant.fence])
  })

  it('one request is under way at a time: the latest state is told', async () => {
    const sink = await watched(2)
    let letGo = () => {}
    const held = new Promise<undefined>(resolve => {
      letGo = () => resolve(undefined)
    })
    const requests = asked(2, ({ type }) => (type === 'holder-news' ? held : undefined))
    for (let round = 0; round < 5; round++) await released(1, await acquired(1))
    await platform.settle()
    expect(requests.filter(type => type === 'holder-news')).toHaveLength(1)
    const last = await acquired(1)
    letGo()
    await platform.settle()
    expect(told(sink)).toContain(last.fence)
    expect(requests.filter(type => type === 'holder-news').length).toBeLessThanOrEqual(3)
  })
})

describe('what it costs', () => {
  it('nothing while nobody watches', async () => {
    const requests = [asked(1), asked(2), asked(3)]
    for (let round = 0; round < 3; round++) await released(1, await acquired(1))
    await platform.advance(60_000)
    for (const types of requests) for (const type of types) expect(['messages']).toContain(type)
  })

  it('one question in a minute while nobody holds the lock, and no timer at the owner', async () => {
    const sink = await watched(2)
    await platform.advance(2_000)
    const requests = asked(1)
    await reading(sink, 20)
    expect(requests).toEqual(['who', 'who', 'who', 'who', 'who'])
    expect(platform.node(1).wakesAt).toBe(Number.POSITIVE_INFINITY)
  })

  it('one request after the last watcher has gone, and no timer', async () => {
    const sink = await watched(2)
    platform.node(2).unwatch(sink)
    const requests = asked(2)
    for (let round = 0; round < 3; round++) {
      await released(1, await acquired(1))
      await platform.settle()
    }
    expect(requests.filter(type => type === 'holder-news')).toHaveLength(1)
    await platform.advance(60_000)
    for (const node of platform.nodes) expect(node.wakesAt).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('a participant of another version', () => {
  it.each([
    ['that knows nothing of leases', () => ({ type: 'holder', holder: null })],
    ['that refuses', () => Promise.reject(new Error('a participant of a lock is no ledger'))],
    ['that answers something else', () => ({ type: 'taken' })],
    ['with a holder that is none', () => ({ type: 'holder', holder: { fence: 'x' }, over: {}, owner: 'y' })],
  ])('%s does no harm', async (_, answer) => {
    asked(1, ({ type }) => (type === 'who' ? answer() : undefined))
    const sink = await watched(2)
    const grant = await acquired(1)
    const { user, fence } = grant
    const ops = [{ increment: 'n' }]
    await platform.during(platform.node(1).call({ type: 'ops', user, fence, opId: 'a', ops }))
    await platform.advance(3_000)
    // The log tells of a holder that does something.
    expect(told(sink)).toEqual([fence])
    for (const { aborts } of platform.nodes) expect(aborts).toBe(0)
  })

  it('news that is none changes nothing', async () => {
    const sink = await watched(2)
    const news = { type: 'holder-news', from: 1, generation: 1 } as const
    for (const more of [{}, { holder: 7, over: 1 }, { holder: null, over: 'x' }, { holder: {}, over: 1e9 }])
      await platform.node(2).peer({ ...news, ...more } as never)
    await platform.node(2).peer({ ...news, generation: 7, holder: null, over: 1e9 })
    const grant = await acquired(1)
    await platform.settle()
    expect(told(sink)).toEqual([grant.fence])
    expect(platform.node(2).aborts).toBe(0)
  })
})

it('regression: a question about a lock that was deleted does not hold up the next one', async () => {
  let giveUp = () => {}
  const questions = asked(1, ({ type }) => {
    if (type !== 'who' || questions.filter(other => other === 'who').length > 1) return
    return new Promise((_, reject) => {
      giveUp = () => reject(new Error('no answer in time'))
    })
  })
  await watched(2)
  const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
  expect(await platform.during(platform.node(1).call(remove))).toMatchObject({ type: 'done', status: 204 })
  const grant = await acquired(1)
  await platform.advance(1_000)
  const sink = await watched(2)
  giveUp()
  await platform.advance(1_000)
  expect(told(sink)).toEqual([grant.fence])
})
