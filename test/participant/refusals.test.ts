/** What a participant says of an operation that has no outcome. */
import { expect, it } from 'vitest'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import { overProblem, unsettled } from '../../worker/participant/calls/refusals.ts'
import { LOCK, MemoryPlatform } from './memory-platform.ts'

it('an operation under a grant whose end is forgotten may have been applied', () => {
  expect(overProblem(null, 'op').outcome).toBe('unknown')
  expect(overProblem({ fence: 1, reason: 'expired' }, 'op').outcome).toBe('not-applied')
  expect(unsettled.outcome).toBe('unknown')
})

it('an operation that was pending when the grant ended is what the participants found it to be', () => {
  const pending = { opId: 'op', outcome: 'unknown' } as const
  expect(overProblem({ fence: 1, reason: 'suspected', pending }, 'op').outcome).toBe('unknown')
  expect(overProblem({ fence: 1, reason: 'suspected', pending }, 'another').outcome).toBe('not-applied')
})

it('whoever configures a lock while 64 others do is told to come back, and nothing else', async () => {
  const platform = new MemoryPlatform(3)
  const configuration = platform.defaults(1)
  const node = platform.nodes[firstOwnerOf(LOCK, 3) % 3]!
  const call = { type: 'configure', configuration } as const
  const answers = await platform.during(Promise.all(Array.from({ length: 65 }, () => node.call(call))))
  const refused = answers.filter(({ type }) => type === 'problem')
  expect(refused).toMatchObject([{ code: 'too_many', retryAfterSeconds: 1 }])
})

it('who deletes a lock that is held hears by whom, and what would eject the holder', async () => {
  const platform = new MemoryPlatform(1)
  const node = platform.node(1)
  const acquire = { type: 'acquire', waitMs: 0, ttlMs: null, ticket: false, confirm: false } as const
  await platform.during(node.call({ ...acquire, user: 'holder', owner: 'checkout-7' }))
  const remove = { type: 'delete', user: 'operator', force: false, generation: null } as const
  expect(await platform.during(node.call(remove))).toMatchObject({
    code: 'locked',
    detail: expect.stringMatching(
      /^The lock was not deleted: it is held by checkout-7 at participant 1 until .*`\?force=true`/,
    ),
  })
})

it('a lock that was deleted is not said to be one that nobody ever used', async () => {
  const platform = new MemoryPlatform(1)
  const node = platform.node(1)
  await platform.during(
    node.call({ type: 'transact', user: 'u', opId: 'o', ops: [{ increment: 'n' }], waitMs: 0 }),
  )
  await platform.during(node.call({ type: 'delete', user: 'operator', force: false, generation: null }))
  expect(await platform.during(node.call({ type: 'status' }))).toMatchObject({
    code: 'no_such_lock',
    detail: expect.stringContaining('There is no such lock (any more).'),
  })
})
