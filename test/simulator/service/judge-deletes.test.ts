/** Which generation of a lock a client can have been told of, and runs in which the judges were wrong. */
import { expect, it } from 'vitest'
import { latestAt } from './judge-deletes.ts'
import { runService } from './run.ts'

const seen = (generation: number, begunAt: number, lock = 'lock') => ({
  ...{ lock, by: 'c1', generation, begunAt, endedAt: begunAt + 10, isDone: true },
})

it('there is a later lock only once somebody has begun to end the one before', () => {
  const deletes = [seen(1, 100), seen(2, 200), seen(2, 300), seen(1, 50, 'other')]
  expect([99, 100, 199, 200, 1_000].map(time => latestAt(deletes, 'lock', time))).toEqual([1, 2, 2, 3, 3])
  expect(latestAt([seen(2, 1)], 'lock', 1_000)).toBe(1)
})

it.each([
  [80000129, 'the same opId at the same place of two locks of one name'],
  [80000457, 'an operation that only the last participant of a lock that is down still holds'],
  [80000113, 'a copy of two participants, made while one of them had lost its storage'],
  [93007833, 'an operation of a lock that has moved, and that nobody can use any more'],
  [93002599, 'an operation that only one of two has, because the other one lost its ledger'],
  [90012671, 'an operation that its client asked for again in a later lock, at the same place'],
  [90011086, 'a ledger that was lost while another one alone still knew of a lock'],
  [82002662, 'a read of what only the log of the last participant of a lock that is down still has'],
  [140012121, 'an operation that a watcher heard of just before only the log of one that is left had it'],
  [160012486, 'one that is away, which must be told of the end of a lock whose next one does without it'],
  [
    180016220,
    'a copy of one participant, whose process has lost its storage and goes on trying to get it back',
  ],
])('regression: seed %i: %s', async seed => {
  expect((await runService(seed)).violation).toBeNull()
})
