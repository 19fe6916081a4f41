/** What became of an operation: its result is looked up before anything is tried. */
import { beforeEach, describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { notApplied } from '../../worker/participant/calls/grant.ts'
import type { ParticipantAnswer } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const ADD = [{ increment: 'n' }]

let platform: MemoryPlatform
let first: MemoryNode
let second: MemoryNode

beforeEach(() => {
  platform = new MemoryPlatform(3)
  first = platform.node(1)
  second = platform.node(2)
})

function bodyOf(answer: ParticipantAnswer): { readonly [member: string]: unknown } {
  if (answer.type !== 'done') throw new Error(JSON.stringify(answer))
  return answer.body as { [member: string]: unknown }
}

const transact = (node: MemoryNode, opId: string, ops: object[] = ADD, waitMs = 0) =>
  node.call({ type: 'transact', user: `user-${++platform.ids}`, opId, ops: ops as never, waitMs })

async function acquire(node: MemoryNode, user: string): Promise<number> {
  const call = { user, waitMs: 5_000, ttlMs: 600_000, ticket: false, confirm: false } as const
  const answer = await platform.during(node.call({ type: 'acquire', ...call }))
  return (bodyOf(answer).grant as { fence: number }).fence
}

const valueAt = async (node: MemoryNode): Promise<unknown> => {
  const answer = await platform.during(node.call({ type: 'get', key: 'n', consistency: 'linearizable' }))
  return bodyOf(answer).value
}

describe('an opId whose result is known', () => {
  let before: ParticipantAnswer

  beforeEach(async () => {
    before = await platform.during(transact(first, 'once', ADD, 5_000))
    expect(before).toMatchObject({ type: 'done', body: { applied: true, results: [{ value: 1 }] } })
    await platform.during(transact(second, 'another', ADD, 5_000))
    await acquire(second, 'somebody')
  })

  it.each([1, 2])(
    'is answered at participant %i as the first time, while somebody holds the lock',
    async id => {
      const again = await transact(platform.node(id), 'once')
      expect(again).toEqual(before)
      expect(await valueAt(first)).toBe(2)
    },
  )

  it('is a conflict with other ops, and waits for nobody either', async () => {
    const again = await transact(first, 'once', [{ increment: 'n', by: 2 }], 20_000)
    expect(again).toMatchObject({ type: 'problem', code: 'conflict', outcome: 'not-applied' })
  })

  it('is answered under a grant that is over, or that never was', async () => {
    const ops = { type: 'ops', user: 'nobody', fence: 77, opId: 'once', ops: ADD as never } as const
    expect(await first.call(ops)).toMatchObject({
      type: 'done',
      body: { applied: true, results: [{ value: 1 }] },
    })
  })
})

describe('an opId that is on its way in the log', () => {
  let fence: number
  let pending: Promise<ParticipantAnswer>

  beforeEach(async () => {
    fence = await acquire(first, 'somebody')
    await platform.settle()
    second.isAway = true
    platform.node(3).isAway = true
    pending = first.call({ type: 'ops', user: 'somebody', fence, opId: 'slow', ops: ADD as never })
    await platform.settle()
  })

  it('is answered when it is applied, without waiting for the lock', async () => {
    const again = transact(first, 'slow', ADD, 20_000)
    await platform.settle()
    expect(bodyOf(await first.call({ type: 'status' })).queue).toBe(0)
    second.isAway = false
    expect(await platform.during(again)).toMatchObject({
      type: 'done',
      body: { fence, results: [{ value: 1 }] },
    })
    expect(await platform.during(pending)).toMatchObject({ type: 'done', body: { results: [{ value: 1 }] } })
    expect(await valueAt(second)).toBe(1)
  })

  it('is not what a refusal of another operation of the same user means', async () => {
    const ops = [{ put: 'n', value: 'x'.repeat(API_LIMITS.batchWeight) }] as never
    const heavy = await first.call({ type: 'ops', user: 'somebody', fence, opId: 'heavy', ops })
    expect(heavy).toMatchObject({ type: 'problem', code: 'too_large', outcome: 'not-applied' })
    second.isAway = false
    expect(await platform.during(pending)).toMatchObject({ type: 'done', body: { results: [{ value: 1 }] } })
  })

  it('is unknown if it is still on its way when the time is over', async () => {
    const again = await platform.during(transact(first, 'slow', ADD, 1_000))
    expect(again).toMatchObject({ type: 'problem', code: 'no_quorum', outcome: 'unknown' })
  })

  it('regression: is unknown where the lock ends before it is applied there', async () => {
    const cut = platform.nodes.filter(node => node !== first)
    const ends = cut.map(({ peer }) => peer)
    for (const [index, node] of cut.entries())
      node.peer = async request => {
        const answer = await ends[index]!.call(node, request)
        if ('from' in request && request.from === first.id) throw new Error('the answer got lost')
        return answer
      }
    const again = transact(first, 'slow', ADD, 50_000)
    for (const node of cut) node.isAway = false
    await platform.advance(1_000)
    first.isAway = true
    expect(await platform.during(transact(second, 'other', ADD, 20_000))).toMatchObject({
      type: 'done',
      body: { results: [{ value: 2 }] },
    })
    const remove = { type: 'delete', user: 'operator', force: true, generation: null } as const
    expect(await platform.during(second.call(remove))).toMatchObject({ status: 204 })
    first.isAway = false
    expect(await platform.during(again)).toMatchObject({ code: 'no_such_lock', outcome: 'unknown' })
    expect(await platform.during(pending)).toMatchObject({ code: 'ejected', outcome: 'unknown' })
  })

  it('is applied once all the same if the others went on without it', async () => {
    const waitMs = 25_000
    const began = platform.now
    const again = transact(first, 'slow', ADD, waitMs)
    await platform.settle()
    first.isAway = true
    second.isAway = false
    platform.node(3).isAway = false
    expect(await platform.during(transact(second, 'other', ADD, 20_000))).toMatchObject({ type: 'done' })
    first.isAway = false
    expect(await platform.during(again)).toMatchObject({
      type: 'done',
      body: { applied: true, results: [{ value: 2 }] },
    })
    expect(platform.now - began).toBeLessThan(waitMs)
    expect(await platform.during(pending)).toMatchObject({ outcome: 'not-applied' })
    expect(await valueAt(first)).toBe(2)
  })
})

describe('an opId that another participant has applied, and this one has not heard of', () => {
  it('is answered as the first time, with the fence of the first time', async () => {
    const third = platform.node(3)
    third.isAway = true
    const before = await platform.during(transact(first, 'once', ADD, 5_000))
    await platform.during(transact(first, 'another', ADD, 5_000))
    third.isAway = false
    const again = transact(third, 'once', ADD, 5_000)
    await platform.settle()
    expect(await platform.during(again)).toEqual(before)
    expect(await valueAt(third)).toBe(2)
  })
})

describe('a transact whose outcome is not known in time', () => {
  it('leaves as soon as it is known, so that nobody waits for the end of its grant', async () => {
    await platform.during(transact(first, 'before', ADD, 5_000))
    await platform.settle()
    for (const node of [second, platform.node(3)]) node.isAway = true
    const answer = await platform.during(transact(first, 'slow', ADD, 5_000))
    expect(answer).toMatchObject({ type: 'problem', code: 'no_quorum', outcome: 'unknown' })
    expect(bodyOf(await first.call({ type: 'status' })).holder).not.toBeNull()
    for (const node of [second, platform.node(3)]) node.isAway = false
    expect(await valueAt(first)).toBe(2)
    expect(bodyOf(await first.call({ type: 'status' })).holder).toBeNull()
  })
})

describe('an opId under a grant that is over', () => {
  const refused = (outcome: 'unknown' | 'not-applied') => {
    const ending = { user: 'somebody', fence: 1, reason: 'released' } as const
    const refusal = { code: 'grant-over', ending, outcome } as const
    return notApplied({ type: 'refused', user: 'somebody', event: 'issue', refusal, opId: 'op' }, 'op')
  }

  it('is unknown if its result may have been forgotten', () => {
    expect(refused('unknown')).toMatchObject({ code: 'released', outcome: 'unknown' })
    expect(refused('unknown')).not.toHaveProperty('more.settled')
  })

  it('is settled for every request under that grant if it was not applied', () => {
    expect(refused('not-applied')).toMatchObject({ outcome: 'not-applied', more: { settled: true } })
  })
})
