import { describe, expect, test } from 'vitest'
import type { LivenessProperty, Verdict } from '../../shared/history/verdict.ts'
import { build, type HistoryBuilder, judged, messages, operation, violations } from './builder.ts'

const x = operation(2, 1, 'x', 5)
const verdictOf = (builder: HistoryBuilder, name: LivenessProperty): Verdict =>
  judged(builder).properties.find(property => property.name === name)!.verdict
const marked = (builder: HistoryBuilder = build()) => builder.healed(1, 2).settled()

describe('without the marks liveness is unknown', () => {
  const cases: { [name: string]: [HistoryBuilder, RegExp] } = {
    'no marks': [build().try('a'), /no mark `healed`/],
    'no settled': [build().healed(1, 2).try('a').end(), /no mark `settled`/],
    'settled only before the last healing': [
      build().healed(1, 2).settled().healed(1, 2).end(),
      /no mark `settled`/,
    ],
    'no end': [build().healed(1, 2).settled().try('a'), /no mark `end`/],
    'no majority was healed': [build().healed(1).settled().try('a').end(), /no majority/],
    'the same participant healed twice is no majority': [build().healed(1, 1).settled().end(), /no majority/],
  }
  for (const [name, [builder, why]] of Object.entries(cases)) {
    test(name, () => {
      const judgement = judged(builder)
      expect(judgement).toMatchObject({ verdict: 'unknown', safety: 'valid', liveness: 'unknown' })
      expect(messages(judgement, 'starvation-freedom')).toEqual([expect.stringMatching(why)])
    })
  }

  test('a violation of safety is invalid all the same', () => {
    expect(judged(build().crit('a', 1))).toMatchObject({
      verdict: 'invalid',
      safety: 'invalid',
      liveness: 'unknown',
    })
  })
})

describe('liveness holds', () => {
  const good: { [name: string]: HistoryBuilder } = {
    'nothing happens': marked().end(),
    'everything ends': marked(build().instance('a', 1, [x]))
      .enter('b', 4, 2)
      .leave('b', 4, 2)
      .end(),
    'users at participants that were not healed are owed nothing': marked()
      .try('a', 3)
      .enter('b', 4, 3)
      .enter('c', 5, 3)
      .exit('c', 5, 3)
      .end(),
    'crashed users are owed nothing': marked()
      .try('a')
      .crash('a')
      .enter('b', 1)
      .exit('b', 1)
      .crash('b')
      .end(),
    'users that gave up are owed nothing': marked().try('a').withdrawn('a').end(),
    'a pending operation ends with an ejection': marked()
      .enter('a', 1)
      .issue('a', x)
      .ejected('a', 1, { reason: 'expired' })
      .end(),
    'ejections on suspicion before the detectors settled': build()
      .enter('a', 1)
      .healed(1, 2)
      .ejected('a', 1)
      .settled()
      .end(),
    'ejections on suspicion at a participant that was not healed': marked()
      .enter('a', 1, 3)
      .ejected('a', 1, { participant: 3 })
      .end(),
    'ejections by an operator': marked().enter('a', 1).ejected('a', 1, { reason: 'operator' }).end(),
    'what comes after the end does not count': marked().end().try('a').enter('b', 1).ejected('b', 1),
    'a user that stays inside, nobody waits': marked().enter('a', 1).end(),
  }
  for (const [name, builder] of Object.entries(good)) {
    test(name, () => expect(judged(builder)).toMatchObject({ verdict: 'valid', liveness: 'valid' }))
  }
})

describe('CS-release progress is broken', () => {
  const bad: { [name: string]: HistoryBuilder } = {
    'an exit is never answered': marked().enter('a', 1).exit('a', 1).end(),
    'an exit before the healing is never answered': marked(build().enter('a', 1).exit('a', 1)).end(),
    'an exit is answered after the end only': marked().enter('a', 1).exit('a', 1).end().rem('a', 1),
  }
  for (const [name, builder] of Object.entries(bad)) {
    test(name, () => expect(violations(builder)).toEqual(['CS-release progress']))
  }
})

describe('operation progress is broken', () => {
  test('an operation is never answered', () => {
    const builder = marked().enter('a', 1).issue('a', x).apply(x, 1, 2).end()
    expect(violations(builder)).toEqual(['operation progress'])
    expect(messages(judged(builder), 'operation progress')).toEqual([
      'user "a" never heard of its operation again',
    ])
  })

  test('an ejection on suspicion after the detectors settled', () => {
    const builder = marked().enter('a', 1).ejected('a', 1).end()
    expect(violations(builder)).toEqual(['operation progress'])
  })

  test('an ejection that was decided before the detectors settled is only heard of late', () => {
    const before = () => build().enter('a', 1).enter('b', 4, 2).leave('b', 4, 2)
    expect(violations(marked(before()).ejected('a', 1).end())).toEqual([])
    // The next one came after that, so it says nothing about when this one was decided.
    const after = marked(build().enter('a', 1)).enter('b', 4, 2).leave('b', 4, 2).ejected('a', 1).end()
    expect(violations(after)).toEqual(['operation progress'])
  })
})

describe('starvation-freedom', () => {
  /** User b comes and goes this many times, with these fences. */
  function busy(builder: HistoryBuilder, times: number, firstFence: number): HistoryBuilder {
    for (let time = 0; time < times; time++)
      builder.enter('b', firstFence + time, 2).leave('b', firstFence + time, 2)
    return builder
  }

  test('a user is never let in (trap A8)', () => {
    expect(violations(marked().try('a').end())).toEqual(['starvation-freedom'])
    expect(violations(marked(build().try('a')).end())).toEqual(['starvation-freedom'])
  })

  test('a user that waits behind one that stays inside: unknown', () => {
    const builder = marked().enter('b', 1, 2).try('a').end()
    expect(verdictOf(builder, 'starvation-freedom')).toBe('unknown')
    expect(judged(builder)).toMatchObject({ verdict: 'unknown', safety: 'valid', liveness: 'unknown' })
    expect(messages(judged(builder), 'starvation-freedom')[0]).toMatch(/user "b" stays inside/)
  })

  test('a user that waits behind one that is inside at a participant that was not healed', () => {
    expect(violations(marked().enter('b', 1, 3).try('a').end())).toEqual(['starvation-freedom'])
  })

  test('a user that waits behind one that crashed inside', () => {
    expect(violations(marked().enter('b', 1, 2).crash('b', 2).try('a').end())).toEqual(['starvation-freedom'])
  })

  test('nine grants to others with three participants are fine, ten are not', () => {
    expect(violations(busy(marked().try('a'), 9, 1).crit('a', 20).leave('a', 20).end())).toEqual([])
    const builder = busy(marked().try('a'), 10, 1).crit('a', 20).leave('a', 20).end()
    expect(violations(builder)).toEqual(['starvation-freedom'])
    expect(messages(judged(builder), 'starvation-freedom')[0]).toMatch(/let in 10 times, not 9/)
  })

  test('too many grants to others count even if a user is inside at the end', () => {
    const builder = busy(marked().try('a'), 10, 1).enter('b', 20, 2).end()
    expect(violations(builder)).toEqual(['starvation-freedom'])
  })

  test('grants before the healing do not count', () => {
    const builder = busy(build().try('a'), 10, 1)
    expect(violations(busy(marked(builder), 9, 30).crit('a', 60).leave('a', 60).end())).toEqual([])
  })

  test('with several users at a participant each counts like a participant', () => {
    const builder = marked().try('a').try('c').try('d')
    busy(builder, 16, 1).crit('a', 30).leave('a', 30)
    builder.crit('c', 31).leave('c', 31).crit('d', 32).leave('d', 32).end()
    expect(verdictOf(builder, 'starvation-freedom')).toBe('invalid')
    // Four were active at once: a, c and d waited while b was inside. So 16 are fine for a; c and d had more.
    expect(messages(judged(builder), 'starvation-freedom')).toEqual([
      'user "c" waited while others were let in 17 times, not 16',
      'user "d" waited while others were let in 18 times, not 16',
    ])
  })

  test('users that were active only before the healing do not count', () => {
    const builder = build()
    for (const user of ['c', 'd', 'e', 'f']) builder.try(user)
    for (const user of ['c', 'd', 'e', 'f']) builder.withdrawn(user)
    busy(marked(builder).try('a'), 10, 1).crit('a', 20).leave('a', 20).end()
    expect(violations(builder)).toEqual(['starvation-freedom'])
  })

  test('a user that waits at a participant that was not healed may be passed by forever', () => {
    expect(violations(busy(marked().try('a', 3), 50, 1).end())).toEqual([])
  })
})
