import { describe, expect, test } from 'vitest'
import { build, type HistoryBuilder, judged, messages, operation, violations } from './builder.ts'

/** In the serial order b (fence 4) comes before a (fence 9), whatever the order in time. */
const ofA = operation(10, 9, 'of a', 3)
const ofB = operation(5, 4, 'of b', 4)

/** Applies both, in the serial order, after everything else. */
function applied(builder: HistoryBuilder): HistoryBuilder {
  return builder.apply(ofB, 1).apply(ofA, 1)
}

describe('WME2 holds', () => {
  const good: { [name: string]: HistoryBuilder } = {
    'the order in time is the serial order': build().instance('b', 4, [ofB]).instance('a', 9, [ofA]),
    'b asked before a ended': build()
      .enter('a', 9)
      .try('b')
      .issue('a', ofA)
      .crash('a')
      .crit('b', 4)
      .issue('b', ofB),
    'b asked when a ended, at the same time': build()
      .enter('a', 9)
      .issue('a', ofA)
      .crash('a')
      .at(4)
      .try('b')
      .crit('b', 4)
      .issue('b', ofB),
    'a never ended': build().enter('a', 9).issue('a', ofA).enter('b', 4).issue('b', ofB),
  }
  for (const [name, builder] of Object.entries(good)) {
    test(name, () => {
      const complete = name.startsWith('the order') ? builder : applied(builder)
      expect(violations(complete)).toEqual([])
    })
  }

  test('an instance without operations ended before: it fits anywhere', () => {
    const builder = build().enter('a', 9).leave('a', 9).enter('b', 4).issue('b', ofB).apply(ofB, 1)
    expect(violations(builder)).toEqual([])
  })
})

describe('WME2 is broken: b asked only after a had ended', () => {
  const bad: { [name: string]: HistoryBuilder } = {
    'by a crash': build().enter('a', 9).issue('a', ofA).crash('a').enter('b', 4).issue('b', ofB),
    'by an ejection that knows nothing of the operation': build()
      .enter('a', 9)
      .issue('a', ofA)
      .ejected('a', 9, { pending: { opId: 'of a', outcome: 'unknown' } })
      .enter('b', 4)
      .issue('b', ofB),
    'and the same user asked again': build()
      .enter('a', 9)
      .issue('a', ofA)
      .ejected('a', 9, { pending: { opId: 'of a', outcome: 'unknown' } })
      .enter('a', 4)
      .issue('a', ofB),
  }
  for (const [name, builder] of Object.entries(bad)) {
    test(name, () => {
      const complete = applied(builder)
      expect(violations(complete)).toEqual(['WME2'])
      const message =
        'fence 4 precedes fence 9 in the serial order, but was asked for only after that one had ended'
      expect(messages(judged(complete), 'WME2')).toEqual([message])
    })
  }

  test('with other instances between them', () => {
    const between = operation(7, 6, 'between')
    const builder = build().enter('a', 9).issue('a', ofA).crash('a')
    builder.enter('c', 6, 2).issue('c', between, 2).enter('b', 4).issue('b', ofB)
    builder.apply(ofB, 1).apply(between, 1).apply(ofA, 1)
    expect(violations(builder)).toEqual(['WME2'])
    // Both b and c asked after a had ended.
    expect(messages(judged(builder), 'WME2')).toHaveLength(2)
  })

  test('the earliest end counts, not the next one', () => {
    const between = operation(7, 6, 'between')
    const builder = build().try('c', 2).enter('a', 9).issue('a', ofA).crash('a')
    builder.crit('c', 6, 2).issue('c', between, 2).enter('b', 4).issue('b', ofB).crash('c', 2)
    builder.apply(ofB, 1).apply(between, 1).apply(ofA, 1)
    expect(violations(builder)).toEqual(['WME2'])
    expect(messages(judged(builder), 'WME2')).toEqual([expect.stringMatching(/^fence 4 precedes fence 9/)])
  })

  test('an instance without a try of its own began with its crit', () => {
    const builder = build().enter('b', 2).leave('b', 2).enter('a', 9).issue('a', ofA).crash('a')
    builder.crit('b', 4).issue('b', ofB)
    expect(violations(applied(builder))).toEqual(['well-formedness', 'WME2'])
  })

  test('the try counts, not the crit', () => {
    const early = build().enter('a', 9).issue('a', ofA).try('b').crash('a').crit('b', 4).issue('b', ofB)
    expect(violations(applied(early))).toEqual([])
    const late = build().enter('a', 9).issue('a', ofA).crash('a').try('b').crit('b', 4).issue('b', ofB)
    expect(violations(applied(late))).toEqual(['WME2'])
  })
})
