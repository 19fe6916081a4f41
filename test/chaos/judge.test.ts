/** The judge is judged: a good record passes, and each way to break it is caught under its own name. */
import { describe, expect, it } from 'vitest'
import { continues } from './final-check.ts'
import { judgeRecord } from './judge.ts'
import { ChaosLock } from './population.ts'
import { type FinalState, Recorder } from './record.ts'

/** Three acknowledged operations, one in doubt that was applied, one in doubt that was not, one refused. */
function goodRecord(): { record: Recorder; state: FinalState } {
  const record = new Recorder('lock')
  for (const [index, opId] of ['a', 'b', 'c'].entries()) {
    const fence = 1 + 2 * index
    record.acknowledge(record.begin(opId), index + 1, fence)
    record.grant({ fence, opId, grant: `grant of ${opId}` })
    Object.assign(record.begin(opId), { startedAt: 10 * index, endedAt: 10 * index + 5 })
  }
  record.refuse(record.begin('doubtful'), 'unknown')
  record.refuse(record.begin('vanished'), undefined)
  record.refuse(record.begin('refused'), 'not-applied')
  return { record, state: { names: ['a', 'b', 'c', 'doubtful'], count: 4 } }
}

const findings = ({ record, state }: { record: Recorder; state: FinalState }) => {
  const { lost, twice, failedButApplied, fences, disordered } = judgeRecord(record, state)
  const failed = failedButApplied.length
  const [order, repeated] = [disordered.length, fences.length]
  return { lost: lost.length, twice: twice.length, failed, fences: repeated, order }
}
const NOTHING = { lost: 0, twice: 0, failed: 0, fences: 0, order: 0 }

describe('the judge of a chaos run', () => {
  it('finds nothing in a good record', () => {
    const good = goodRecord()
    expect(findings(good)).toEqual(NOTHING)
    expect(judgeRecord(good.record, good.state).acknowledged).toBe(3)
  })

  it.each<[string, FinalState, Partial<typeof NOTHING>]>([
    ['an acknowledged operation is gone', { names: ['a', 'b'], count: 2 }, { lost: 1 }],
    ['two have changed places', { names: ['b', 'a', 'c'], count: 3 }, { lost: 2 }],
    ['everything is gone, as after a second birth', { names: [], count: 0 }, { lost: 3 }],
    ['one is there twice', { names: ['a', 'b', 'c', 'a'], count: 4 }, { twice: 1 }],
    [
      'one in doubt is there twice',
      { names: ['a', 'b', 'c', 'doubtful', 'doubtful'], count: 5 },
      { twice: 1 },
    ],
    ['half a batch was applied', { names: ['a', 'b', 'c'], count: 4 }, { twice: 1 }],
    ['a refused one was applied', { names: ['a', 'b', 'c', 'refused'], count: 4 }, { failed: 1 }],
    ['one is there that nobody asked for', { names: ['a', 'b', 'c', 'ghost'], count: 4 }, { failed: 1 }],
  ])('%s', (_, state, expected) => {
    expect(findings({ ...goodRecord(), state })).toEqual({ ...NOTHING, ...expected })
  })

  it('a promise after a doubt is no promise', () => {
    const { record } = goodRecord()
    record.refuse(record.begin('doubtful'), 'not-applied')
    expect(findings({ record, state: { names: ['a', 'b', 'c', 'doubtful'], count: 4 } })).toEqual(NOTHING)
  })

  it('a fence of two operations', () => {
    const good = goodRecord()
    good.record.grant({ fence: 5, opId: 'other', grant: 'other grant' })
    expect(findings(good)).toEqual({ ...NOTHING, fences: 1 })
  })

  it('a fence of two grants for the same operation', () => {
    const good = goodRecord()
    good.record.grant({ fence: 5, opId: 'c', grant: 'other grant' })
    expect(findings(good)).toEqual({ ...NOTHING, fences: 1 })
  })

  it('a transact that asks again is told the fence of the grant under which it was applied', () => {
    const good = goodRecord()
    good.record.grant({ fence: 5, opId: 'c', grant: null })
    expect(findings(good)).toEqual(NOTHING)
  })

  it('a fence that is lower than that of the operation before', () => {
    const good = goodRecord()
    good.record.begin('c').fence = 2
    expect(findings(good)).toEqual({ ...NOTHING, fences: 1 })
  })

  it('an operation that comes before one that was acknowledged before it began', () => {
    const good = goodRecord()
    good.record.begin('a').startedAt = 16
    expect(findings(good)).toEqual({ ...NOTHING, order: 1 })
  })

  it('operations that overlap in time may come in any order', () => {
    const good = goodRecord()
    good.record.begin('b').startedAt = 3
    good.record.begin('a').endedAt = 40
    expect(findings(good)).toEqual(NOTHING)
  })
})

describe('one read after another', () => {
  const earlier: FinalState = { names: ['a', 'b'], count: 2 }

  it.each<[string, boolean, FinalState]>([
    ['the same', true, earlier],
    ['one more, which was in doubt', true, { names: ['a', 'b', 'doubtful'], count: 3 }],
    ['one less: the copy is behind', false, { names: ['a'], count: 1 }],
    ['another order', false, { names: ['b', 'a'], count: 2 }],
    ['one in the middle', false, { names: ['a', 'doubtful', 'b'], count: 3 }],
    ['half a batch', false, { names: ['a', 'b'], count: 3 }],
  ])('%s', (_, isGood, later) => {
    expect(continues(earlier, later)).toBe(isGood)
  })
})

describe('a lock is quiet', () => {
  it('when it is idle and nothing is in doubt', () => {
    const lock = new ChaosLock('lock')
    expect(lock.quietSince).toBe(Number.POSITIVE_INFINITY)
    lock.isBusy = false
    expect(lock.quietSince).toBe(lock.lastActivityAt)
    lock.recorder.acknowledge(lock.recorder.begin('a'), 1, 1)
    expect(lock.quietSince).toBe(lock.lastActivityAt)
  })

  it('never, if an operation is in doubt: it may still be on its way', () => {
    const lock = new ChaosLock('lock')
    lock.isBusy = false
    lock.recorder.refuse(lock.recorder.begin('a'), 'unknown')
    expect(lock.quietSince).toBe(Number.POSITIVE_INFINITY)
  })
})
