import { describe, expect, test } from 'vitest'
import { build, judged, messages, operation, violations } from './builder.ts'

const x = operation(2, 1, 'x', 5)

/** User a has done x at participant 1 and left; nobody else has applied it. */
const left = () => build().enter('a', 1).issue('a', x).apply(x, 1).outcome('a', x).leave('a', 1)

describe('let in with an up-to-date replica', () => {
  test('that has applied everything before', () => {
    expect(violations(left().apply(x, 2).enter('b', 4, 2))).toEqual([])
  })

  test('that has a snapshot of everything before', () => {
    expect(violations(left().restore(3, '1:5', 2).enter('b', 4, 2))).toEqual([])
  })

  test('that applies it at the same time', () => {
    expect(
      violations(left().at(20).try('b', 2).crit('b', 4, 2).at(21).invoke(x, 2).at(22).respond(x, 2)),
    ).toEqual([])
  })

  test('though an operation of a higher fence, or one that nobody has applied yet, is missing', () => {
    expect(violations(left().enter('b', 0, 2))).toEqual([])
    const pending = build().enter('a', 1).issue('a', x).crash('a').enter('b', 4, 2).apply(x, 1)
    expect(violations(pending)).toEqual([])
  })
})

describe('let in with a replica that is behind (trap A10)', () => {
  test('that has applied nothing', () => {
    expect(violations(left().enter('b', 4, 2))).toEqual(['up-to-date'])
    expect(messages(judged(left().enter('b', 4, 2)), 'up-to-date')).toEqual([
      'user "b" was let in with fence 4 before replica 2 had applied "x" (sequence 2, fence 1)',
    ])
  })

  test('that applied it only afterwards', () => {
    expect(violations(left().enter('b', 4, 2).apply(x, 2))).toEqual(['up-to-date'])
  })

  test('that was wiped', () => {
    expect(violations(left().apply(x, 2).wipe(2).enter('b', 4, 2))).toEqual(['up-to-date'])
  })

  test('that has a snapshot that is too old', () => {
    expect(violations(left().restore(1, '0:0', 2).enter('b', 4, 2))).toEqual(['up-to-date'])
  })
})
