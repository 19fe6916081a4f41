/** The time for an answer is over in the very turn that brings it: nobody is told what is no longer so. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ParticipantAnswer, ParticipantCall } from '../../worker/participant/calls.ts'
import { type MemoryNode, MemoryPlatform } from './memory-platform.ts'

const HOLDER = 'h'.repeat(22)
const WAITER = 'w'.repeat(22)

let platform: MemoryPlatform
let node: MemoryNode

const acquire = (user: string, ttlMs: number, waitMs: number, ticket: boolean): ParticipantCall => ({
  type: 'acquire',
  ...{ user, waitMs, ttlMs, ticket, confirm: false },
})
const ask = (call: ParticipantCall) => platform.during(node.call(call))
const fenceIn = (answer: ParticipantAnswer) =>
  (answer as unknown as { body: { grant: { fence: number } } }).body.grant.fence

async function holderNow() {
  const status = (await ask({ type: 'status' })) as unknown as { body: { holder: { fence: number } | null } }
  return status.body.holder
}

/** The machine was busy: what was due since then comes all at once. */
async function lateBy(ms: number) {
  platform.now += ms
  node.wake()
  await platform.settle()
}

beforeEach(() => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
})

describe('a ticket that becomes a grant as the time for its answer is over', () => {
  it('regression: is answered with the grant by acquire', async () => {
    const fence = fenceIn(await ask(acquire(HOLDER, 30_000, 0, false)))
    const waiting = node.call(acquire(WAITER, 30_000, 5_000, true))
    await platform.advance(1_000)
    // The holder's time will end when the answer is due.
    expect(await ask({ type: 'keepalive', user: HOLDER, fence, ttlMs: 4_000 })).toMatchObject({ status: 200 })
    await platform.advance(6_000)
    const granted = await platform.during(waiting)
    expect(granted).toMatchObject({ status: 200 })
    expect(await holderNow()).toMatchObject({ fence: fenceIn(granted) })
  })

  it('regression: is answered with the grant by GET of the ticket, also if timers come late', async () => {
    await ask(acquire(HOLDER, 5_005, 0, false))
    expect(await ask(acquire(WAITER, 30_000, 0, true))).toMatchObject({ status: 202 })
    const waiting = node.call({ type: 'ticket', user: WAITER, waitMs: 5_000 })
    await platform.settle()
    await lateBy(5_010)
    const granted = await platform.during(waiting)
    expect(granted).toMatchObject({ status: 200 })
    expect(await holderNow()).toMatchObject({ fence: fenceIn(granted) })
  })
})

it('who waits without a ticket is told that the lock is taken, and does not hold it', async () => {
  await ask(acquire(HOLDER, 5_005, 0, false))
  const waiting = node.call(acquire(WAITER, 30_000, 5_000, false))
  await platform.settle()
  await lateBy(5_010)
  expect(await platform.during(waiting)).toMatchObject({ code: 'locked' })
  expect(await holderNow()).toBeNull()
})

it('regression: a keep-alive that waits is told that the grant has ended as it stopped waiting', async () => {
  const fence = fenceIn(await ask(acquire(HOLDER, 5_005, 0, false)))
  const waiting = node.call({ type: 'keepalive', user: HOLDER, fence, ttlMs: null, waitMs: 5_000 })
  await platform.settle()
  await lateBy(5_010)
  expect(await platform.during(waiting)).toMatchObject({ type: 'problem', code: 'expired' })
})
