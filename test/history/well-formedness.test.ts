import { describe, expect, test } from 'vitest'
import { build, type HistoryBuilder, judged, messages, operation, violations } from './builder.ts'

const first = operation(2, 1, 'x', 5)

describe('well-formed', () => {
  const good: { [name: string]: HistoryBuilder } = {
    'an empty history': build(),
    'S1 without operations': build().enter('a', 1).leave('a', 1),
    'S1 with operations': build().instance('a', 1, [first, operation(3, 1, 'y')]),
    'S1 again and again': build().enter('a', 1).leave('a', 1).enter('a', 2).leave('a', 2),
    'S2 without a pending operation': build().enter('a', 1).ejected('a', 1),
    'S2 with a pending operation': build()
      .enter('a', 1)
      .issue('a', first)
      .ejected('a', 1, { pending: { opId: 'x', outcome: 'not-applied' } }),
    'S2 with an operation that did not reach the stub': build()
      .enter('a', 1)
      .issue('a', first)
      .ejected('a', 1),
    'a user that gives up and tries again': build().try('a').withdrawn('a').enter('a', 1).leave('a', 1),
    'a user that crashes outside': build().crash('a'),
    'a user that crashes while it waits': build().try('a').crash('a'),
    'a user that crashes inside': build().enter('a', 1).crash('a'),
    'a user that crashes while it issues': build().enter('a', 1).issue('a', first).crash('a'),
    'a user that crashes while it leaves': build().enter('a', 1).exit('a', 1).crash('a'),
    'every prefix, here one that ends inside': build().enter('a', 1).issue('a', first),
    'a user that goes to another participant': build().enter('a', 1, 1).leave('a', 1, 1).try('a', 2),
    'two users at once, one of them to be ejected': build().enter('a', 1).enter('b', 2, 2).ejected('a', 1),
  }
  for (const [name, builder] of Object.entries(good)) {
    test(name, () => expect(violations(builder)).toEqual([]))
  }
})

describe('not well-formed', () => {
  const bad: { [name: string]: [HistoryBuilder, RegExp] } = {
    'crit without try (trap A8)': [build().crit('a', 1), /`crit` while outside/],
    'crit after the user gave up': [build().try('a').withdrawn('a').crit('a', 1), /`crit` while outside/],
    'crit twice for one try': [build().enter('a', 1).crit('a', 2), /`crit` while inside/],
    'try while trying': [build().try('a').try('a'), /`try` while trying/],
    'try inside': [build().enter('a', 1).try('a'), /`try` while inside/],
    'issue while another operation is pending': [
      build()
        .enter('a', 1)
        .issue('a', first)
        .issue('a', operation(3, 1, 'y')),
      /`issue` while issuing/,
    ],
    'issue before crit': [build().try('a').issue('a', first), /`issue` while trying/],
    'issue after exit': [build().enter('a', 1).exit('a', 1).issue('a', first), /`issue` while leaving/],
    'issue after the ejection': [
      build().enter('a', 1).ejected('a', 1).issue('a', first),
      /`issue` while outside/,
    ],
    'issue for the fence before': [
      build().enter('a', 1).leave('a', 1).enter('a', 4).issue('a', first),
      /`issue` for fence 1, but the user is inside with 4/,
    ],
    'exit while an operation is pending': [
      build().enter('a', 1).issue('a', first).exit('a', 1),
      /`exit` while issuing/,
    ],
    'exit for another fence': [build().enter('a', 1).exit('a', 2), /`exit` for fence 2/],
    'rem without exit': [build().enter('a', 1).rem('a', 1), /`rem` while inside/],
    'rem twice': [build().enter('a', 1).leave('a', 1).rem('a', 1), /`rem` while outside/],
    'ejected after exit': [build().enter('a', 1).exit('a', 1).ejected('a', 1), /`ejected` while leaving/],
    'ejected while waiting': [build().try('a').ejected('a', 1), /`ejected` while trying/],
    'ejected from another fence': [build().enter('a', 1).ejected('a', 2), /`ejected` for fence 2/],
    'ejected with word of an operation that is not pending': [
      build()
        .enter('a', 1)
        .ejected('a', 1, { pending: { opId: 'x', outcome: 'unknown' } }),
      /none is pending/,
    ],
    'ejected with word of another operation': [
      build()
        .enter('a', 1)
        .issue('a', first)
        .ejected('a', 1, { pending: { opId: 'z', outcome: 'unknown' } }),
      /speaks of "z", but "x" is pending/,
    ],
    'withdrawn inside': [build().enter('a', 1).withdrawn('a'), /`withdrawn` while inside/],
    'crit after the user crashed': [build().try('a').crash('a').crit('a', 1), /`crit` while crashed/],
    'a second crash': [build().crash('a').crash('a'), /`crash` while crashed/],
    'crit from another stub': [build().try('a', 1).crit('a', 1, 2), /talks to 1/],
    'time falls': [build().try('a').at(0).crit('a', 1), /time falls from 1 to 0/],
  }
  for (const [name, [builder, message]] of Object.entries(bad)) {
    test(name, () => {
      const judgement = judged(builder)
      expect(violations(builder)).toEqual(['well-formedness'])
      expect(messages(judgement, 'well-formedness')).toEqual([expect.stringMatching(message)])
    })
  }

  test('an outcome for another operation than the pending one', () => {
    const other = operation(3, 1, 'y')
    const builder = build()
      .enter('a', 1)
      .issue('a', first)
      .apply(first, 1)
      .outcome('a', first)
      .issue('a', other)
    builder.apply(other, 1).outcome('a', first)
    expect(violations(builder)).toEqual(['well-formedness'])
    expect(messages(judged(builder), 'well-formedness')[0]).toMatch(/"x", but "y" is pending/)
  })

  test('a second outcome for one operation', () => {
    const builder = build().enter('a', 1).issue('a', first).apply(first, 1)
    builder.outcome('a', first).outcome('a', first)
    expect(violations(builder)).toEqual(['well-formedness'])
    expect(messages(judged(builder), 'well-formedness')).toEqual([
      expect.stringMatching(/`outcome` while inside/),
    ])
  })

  test('a crashed user stays crashed', () => {
    const builder = build().crash('a').enter('a', 1)
    expect(messages(judged(builder), 'well-formedness')).toEqual([
      'user "a": `try` while crashed',
      'user "a": `crit` while crashed',
    ])
  })

  test('one misplaced event is one violation', () => {
    const builder = build().enter('a', 1).issue('a', first).apply(first, 1).outcome('a', first).leave('a', 1)
    builder.events.splice(0, 1)
    const property = judged(builder).properties[0]!
    expect(property.violations).toBe(1)
    expect(property.evidence[0]!.events.map(({ index }) => index)).toEqual([0])
  })
})
