/** Histories of protocols that guard no state: mutual exclusion in time, and fences. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judge } from '../../shared/history/judge.ts'
import { historyLines, parseHistory } from '../../shared/history/parse.ts'
import { build, judged, messages, violated, violations } from './builder.ts'
import { randomLockOnlyHistory } from './lock-only-generator.ts'
import { mutated } from './mutations.ts'
import { livenessMutations } from './mutations-liveness.ts'
import { lockOnlyMutations } from './mutations-lock-only.ts'
import { Random } from './random.ts'
import { tally } from './tally.ts'

const LOCK_ONLY = { protocol: 'ricart-agrawala' } as const
const lock = () => build(LOCK_ONLY)

describe('mutual exclusion', () => {
  test('one after the other is well', () => {
    const builder = lock().enter('a', 1).leave('a', 1).enter('b', 2, 2).leave('b', 2, 2)
    expect(violations(builder)).toEqual([])
    expect(judged(builder).properties.map(({ name }) => name)).toEqual([
      'well-formedness',
      'mutual exclusion',
      'increasing fences',
      'CS-release progress',
      'operation progress',
      'starvation-freedom',
    ])
  })

  test('two writers together are not', () => {
    const builder = lock().enter('a', 1).enter('b', 2, 2).leave('a', 1).leave('b', 2, 2)
    expect(violations(builder)).toEqual(['mutual exclusion'])
    expect(messages(judged(builder), 'mutual exclusion')[0]).toContain('"a" (fence 1) and "b" (fence 2)')
  })

  test('weak mutual exclusion allows them', () => {
    const builder = build().enter('a', 1).enter('b', 2, 2).leave('a', 1).leave('b', 2, 2)
    expect(violations(builder)).toEqual([])
  })

  const together = (first: 'shared' | 'exclusive', second: 'shared' | 'exclusive') =>
    lock().try('a', 1, first).try('b', 2, second).crit('a', 1).crit('b', 2, 2).leave('a', 1).leave('b', 2, 2)

  test('readers are inside together, a reader and a writer are not', () => {
    expect(violations(together('shared', 'shared'))).toEqual([])
    expect(violations(together('shared', 'exclusive'))).toEqual(['mutual exclusion'])
    expect(violations(together('exclusive', 'shared'))).toEqual(['mutual exclusion'])
  })

  test('a writer among readers is found though another reader stays longer', () => {
    const builder = lock().try('a', 1, 'shared').try('b', 1, 'shared').try('w', 2)
    builder.crit('a', 1).crit('b', 2).exit('b', 2).crit('w', 3, 2).leave('w', 3, 2).rem('b', 2).leave('a', 1)
    expect(violations(builder)).toEqual(['mutual exclusion'])
  })

  test('a user that was ejected, crashed or was never let go need not have been inside', () => {
    const ejected = lock()
      .enter('a', 1)
      .enter('b', 2, 2)
      .ejected('a', 1, { reason: 'expired' })
      .leave('b', 2, 2)
    expect(violations(ejected)).toEqual([])
    const late = lock().enter('a', 1).enter('b', 2, 2).exit('a', 1).ejected('a', 1).leave('b', 2, 2)
    expect(violations(late)).toEqual([])
    expect(violations(lock().enter('a', 1).enter('b', 2, 2).crash('a').leave('b', 2, 2))).toEqual([])
    expect(violations(lock().enter('a', 1).enter('b', 2, 2).exit('a', 1).leave('b', 2, 2))).toEqual([])
  })

  test('what happens at the same time is not ordered', () => {
    const touching = lock().enter('a', 1).try('b', 2).at(7).exit('a', 1).at(7).crit('b', 2, 2).rem('a', 1)
    expect(violations(touching.leave('b', 2, 2))).toEqual([])
  })
})

describe('fences', () => {
  test('are unique', () => {
    const builder = lock().enter('a', 1).leave('a', 1).enter('b', 1, 2).leave('b', 1, 2)
    expect(violations(builder)).toEqual(['increasing fences'])
  })

  test('increase from one writer to the next, also if both waited together', () => {
    const after = lock().enter('a', 2).leave('a', 2).enter('b', 1, 2).leave('b', 1, 2)
    expect(violations(after)).toEqual(['increasing fences'])
    const waiting = lock().try('a').try('b', 2).crit('a', 2).leave('a', 2).crit('b', 1, 2).leave('b', 1, 2)
    expect(violations(waiting)).toEqual(['increasing fences'])
  })

  test('increase after an ejected writer for a user that tried when it was in', () => {
    const builder = lock().enter('a', 2).enter('b', 1, 2).ejected('a', 2).leave('b', 1, 2)
    expect(violations(builder)).toEqual(['increasing fences'])
    const unknown = lock().try('a').try('b', 2).crit('a', 2).crit('b', 1, 2).ejected('a', 2).leave('b', 1, 2)
    expect(violations(unknown)).toEqual([])
  })

  test('of readers may come in any order, but a writer comes between', () => {
    const reader = (user: string, at = 1) => [user, at, 'shared'] as const
    const readers = lock()
      .try(...reader('a'))
      .crit('a', 3)
      .leave('a', 3)
      .try(...reader('b', 2))
      .crit('b', 1, 2)
    expect(violations(readers.leave('b', 1, 2))).toEqual([])
    const before = lock()
      .try(...reader('a'))
      .crit('a', 3)
      .leave('a', 3)
      .enter('w', 2, 2)
      .leave('w', 2, 2)
    expect(violations(before)).toEqual(['increasing fences'])
    const after = lock()
      .enter('w', 2, 2)
      .leave('w', 2, 2)
      .try(...reader('a'))
      .crit('a', 1)
      .leave('a', 1)
    expect(violations(after)).toEqual(['increasing fences'])
  })
})

describe('starvation-freedom', () => {
  /**
   * A reader stays long, a writer waits for it, and other readers come and go; then again without the first.
   */
  const history = (after: number) => {
    const builder = lock().try('r', 1, 'shared').crit('r', 1).try('w', 2).healed(1, 2, 3).settled()
    let fence = 1
    const visit = (times: number) => {
      for (let count = 0; count < times; count++) {
        fence++
        builder.try('s', 3, 'shared').crit('s', fence, 3).leave('s', fence, 3)
      }
    }
    visit(20)
    builder.leave('r', 1)
    visit(after)
    return builder
      .crit('w', fence + 1, 2)
      .leave('w', fence + 1, 2)
      .end()
  }

  test('counts grants once the readers have left that were inside', () => {
    expect(violations(history(9))).toEqual([])
    expect(violations(history(10))).toEqual(['starvation-freedom'])
  })
})

describe('what is said', () => {
  test('an operation, and a word to a replica, are no part of such a history', () => {
    const operation = { sequence: 1, fence: 1, opId: 'op', add: 1 }
    expect(violations(lock().enter('a', 1).issue('a', operation))).toEqual(['well-formedness'])
    expect(violations(lock().enter('a', 1).apply(operation, 1))).toContain('well-formedness')
    expect(violations(lock().enter('a', 1).wipe(2))).toEqual([])
  })

  test('an `exit` may be answered with `ejected`, only there', () => {
    expect(violations(lock().enter('a', 1).exit('a', 1).ejected('a', 1))).toEqual([])
    expect(violations(build().enter('a', 1).exit('a', 1).ejected('a', 1))).toEqual(['well-formedness'])
  })

  test('a mode is one of two', () => {
    const lines = [...historyLines(lock().try('a', 1, 'shared').history)]
    expect(parseHistory(lines).ok).toBe(true)
    expect(parseHistory(lines.map(line => line.replace('shared', 'both')))).toMatchObject({
      ok: false,
      problem: { line: 2, message: expect.stringContaining('`mode` must be "exclusive" or "shared"') },
    })
  })
})

const options = fc.record({
  seed: fc.integer({ min: 1, max: 0x7fffffff }),
  events: fc.integer({ min: 0, max: 400 }),
  participants: fc.integer({ min: 1, max: 7 }),
  users: fc.integer({ min: 1, max: 8 }),
  readers: fc.boolean(),
})

test('valid histories are found valid', () => {
  fc.assert(
    fc.property(options, chosen => {
      const history = randomLockOnlyHistory(chosen)
      expect(parseHistory(historyLines(history))).toEqual({ ok: true, history })
      const judgement = judge(history, tally)
      expect(violated(judgement)).toEqual([])
      expect(judgement.verdict).toBe('valid')
    }),
    { numRuns: 200 },
  )
})

describe('a broken history is caught', () => {
  const SEEDS = 60
  // A lock without failure detectors has nothing to do with what happens after they have settled.
  const shared = livenessMutations.filter(({ breaks }) => breaks !== 'operation progress')
  for (const mutation of [...lockOnlyMutations, ...shared]) {
    test(`${mutation.name}: ${mutation.breaks}`, () => {
      let applicable = 0
      for (let seed = 1; seed <= SEEDS; seed++) {
        const readers = seed % 2 === 0
        const history = randomLockOnlyHistory({ seed, events: 300, participants: 3, users: 5, readers })
        const broken = mutated(history, mutation, new Random(seed))
        if (broken === null) continue
        applicable++
        expect(violated(judge(broken, tally)), `seed ${seed}`).toContain(mutation.breaks)
      }
      expect(applicable).toBeGreaterThan(SEEDS / 4)
    })
  }
})

test('a long history is judged quickly', () => {
  const history = randomLockOnlyHistory({
    seed: 1,
    events: 100_000,
    participants: 5,
    users: 20,
    readers: true,
  })
  expect(judge(history, tally).verdict).toBe('valid')
})
