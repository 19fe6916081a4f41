/** The local queue after a restart, whichever protocol it serves. */
import { expect, it } from 'vitest'
import { maekawa } from '../../../shared/protocols/maekawa/maekawa.ts'
import type { DurableRecord, Effect, UserInput } from '../../../shared/protocols/protocol.ts'
import { ricartAgrawala } from '../../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'
import { Table } from '../maekawa/table.ts'
import { Cluster } from '../ricart-agrawala/cluster.ts'

const USERS = Array.from({ length: 12 }, (_, index) => `user-${index + 1}`)

it('the queue keeps its order though storage gives its records back in the order of their keys', () => {
  const table = new Table({ participants: 3 })
  table.try(2, 'holder')
  table.deliver()
  for (const user of USERS) table.try(2, user)
  // As text, waiter/10 comes before waiter/2.
  const records = [...table.storage(2)].sort(([a], [b]) => (a < b ? -1 : 1))
  const { durable } = maekawa.recover(table.context(2), records)
  expect(durable.localQueue.waiters.map(({ user }) => user)).toEqual(USERS)
  expect(durable).toEqual(table.state(2).durable)
})

it('a grant that was kept alive is so after a restart', () => {
  const table = new Table({ participants: 3 })
  table.try(1, 'ann', { ttlMs: 1_000 })
  table.deliver()
  const { fence } = table.state(1).durable.localQueue.holders[0]!
  table.now = 900
  const kept = { type: 'kept', user: 'ann', fence, expiresAt: 10_900 }
  expect(table.user(1, { type: 'keep-alive', user: 'ann', fence, ttlMs: 10_000 })).toEqual([kept])
  table.crash(1)
  table.start(1)
  expect(table.timerAt(1, 'ttl')).toBe(10_900)
  expect(table.fire(1, 'ttl')).toMatchObject([{ type: 'ejected', user: 'ann', reason: 'expired' }])
})

it('a user that waits may wait as long after a restart as before', () => {
  const table = new Table({ participants: 3 })
  table.try(1, 'ann')
  table.deliver()
  table.try(1, 'bob', { waitMs: 500 })
  table.now = 200
  table.crash(1)
  table.start(1)
  expect(table.timerAt(1, 'wait')).toBe(500)
  expect(table.fire(1, 'wait')).toEqual([{ type: 'withdrawn', user: 'bob', reason: 'timeout' }])
})

it('a user that withdraws takes no other out of the queue, and one that asks again waits once', () => {
  const table = new Table({ participants: 3 })
  table.try(1, 'ann')
  table.deliver()
  for (const user of ['bob', 'cid', 'bob', 'dan']) table.try(1, user)
  const waiting = () => table.state(1).durable.localQueue.waiters.map(({ user }) => user)
  expect(waiting()).toEqual(['bob', 'cid', 'dan'])
  expect(table.withdraw(1, 'cid')).toEqual([{ type: 'withdrawn', user: 'cid', reason: 'asked' }])
  expect(waiting()).toEqual(['bob', 'dan'])
  const refused = { type: 'refused', user: 'eve', event: 'withdraw', refusal: { code: 'not-waiting' } }
  expect(table.withdraw(1, 'eve')).toEqual([refused])
  expect(waiting()).toEqual(['bob', 'dan'])
})

const waiterRecords = (effects: readonly Effect<unknown>[]): DurableRecord[] =>
  effects
    .flatMap(effect => (effect.type === 'save' ? effect.records : []))
    .filter(({ key }) => key.startsWith('waiter/'))

it('regression: a user that is let in within the step in which it came leaves no deleted record', () => {
  const event: UserInput = { type: 'try', user: 'ann', ttlMs: 1_000 }
  const nodes = new Table({ participants: 1 })
  const input = { type: 'user', now: 0, event } as const
  expect(waiterRecords(maekawa.step(nodes.context(1), nodes.state(1), input))).toEqual([])
  const others = new Cluster({ participants: 1 })
  expect(waiterRecords(ricartAgrawala.step(others.context(1), others.state(1), input))).toEqual([])
})
