import { describe, expect, test } from 'vitest'
import { build, type HistoryBuilder, judged, messages, operation, violations } from './builder.ts'

const x = operation(2, 1, 'x', 5)
const y = operation(5, 4, 'y', 7)

describe('WME1 holds', () => {
  test('instances one after the other', () => {
    expect(violations(build().instance('a', 1, [x]).instance('b', 4, [y], 2))).toEqual([])
  })

  test('two users inside at once, but one of them without an operation in C', () => {
    const lost = operation(9, 9, 'lost')
    const builder = build().enter('a', 1).issue('a', x).enter('b', 9, 2).issue('b', lost, 2)
    builder.apply(x, 1).outcome('a', x).ejected('b', 9, { participant: 2 }).leave('a', 1)
    expect(violations(builder)).toEqual([])
  })

  test('a grant that was rolled back may have a fence above those that come after it in time', () => {
    const builder = build().enter('a', 8, 3).enter('b', 4, 2).issue('b', y, 2).apply(y, 2).outcome('b', y, 2)
    expect(violations(builder)).toEqual([])
  })
})

describe('WME1 is broken', () => {
  const late = operation(6, 1, 'late', 1)

  test('an instance is interrupted by another (trap A1)', () => {
    const builder = build().enter('a', 1).issue('a', x).apply(x, 1, 2).outcome('a', x).enter('b', 4, 2)
    builder
      .issue('b', y, 2)
      .apply(y, 1, 2)
      .outcome('b', y, 2)
      .issue('a', late)
      .apply(late, 1, 2)
      .outcome('a', late)
    const judgement = judged(builder)
    expect(violations(builder)).toEqual(['WME1'])
    expect(messages(judgement, 'WME1')).toEqual(['the instance with fence 1 is interrupted by fence 4'])
    // What precedes an instance is then not defined.
    expect(judgement.properties.find(property => property.name === 'up-to-date')!.verdict).toBe('unknown')
  })

  test('a fence is granted twice', () => {
    const builder = build().enter('a', 1).leave('a', 1).enter('b', 1, 2).leave('b', 1, 2)
    expect(violations(builder)).toEqual(['WME1'])
    expect(messages(judged(builder), 'WME1')).toEqual(['fence 1 is granted twice'])
  })

  test('a fence is granted twice to the same user', () => {
    expect(violations(build().enter('a', 1).leave('a', 1).enter('a', 1).leave('a', 1))).toEqual(['WME1'])
  })

  test('fences fall along the serial order', () => {
    const low = operation(5, 3, 'low')
    const high = operation(2, 7, 'high')
    const builder = build()
      .try('a')
      .try('b', 2)
      .crit('a', 7)
      .crit('b', 3, 2)
      .issue('a', high)
      .issue('b', low, 2)
    builder.apply(high, 1, 2).outcome('a', high).apply(low, 2).outcome('b', low, 2)
    expect(violations(builder)).toEqual(['WME1'])
    expect(messages(judged(builder), 'WME1')).toEqual(['fence 3 comes after fence 7 in the serial order'])
  })

  test('operations under a fence that nobody was given', () => {
    const builder: HistoryBuilder = build().apply(x, 1, 2)
    expect(violations(builder)).toEqual(['WME1'])
    expect(messages(judged(builder), 'WME1')).toEqual(['fence 1 has operations but was granted to nobody'])
  })

  test('operations of a user under the fence of another', () => {
    const builder = build().enter('a', 1).enter('b', 4, 2).issue('b', x, 2).apply(x, 1, 2)
    // The user is not well-formed when it names the fence of another; that the stub took it is WME1's.
    expect(violations(builder)).toEqual(['well-formedness', 'WME1'])
    expect(messages(judged(builder), 'WME1')).toEqual(['user "b" has an operation in fence 1 of user "a"'])
  })
})
