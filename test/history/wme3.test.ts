import { describe, expect, test } from 'vitest'
import {
  build,
  type HistoryBuilder,
  judged,
  messages,
  type Operation,
  operation,
  violations,
} from './builder.ts'

const x = operation(2, 1, 'x', 5)
const y = operation(3, 1, 'y', 7)
const notApplied = { pending: { opId: 'x', outcome: 'not-applied' } } as const
const unknown = { pending: { opId: 'x', outcome: 'unknown' } } as const

describe('WME3 holds', () => {
  const good: { [name: string]: HistoryBuilder } = {
    'operations in the order of their issue': build().instance('a', 1, [x, y]),
    'a pending operation that was applied': build().enter('a', 1).issue('a', x).apply(x, 2),
    'a pending operation that was not': build().enter('a', 1).issue('a', x),
    'a crashed user whose operation was applied': build().enter('a', 1).issue('a', x).crash('a').apply(x, 2),
    'unknown, and applied': build().enter('a', 1).issue('a', x).ejected('a', 1, unknown).apply(x, 2),
    'unknown, and not applied': build().enter('a', 1).issue('a', x).ejected('a', 1, unknown),
    'not applied': build().enter('a', 1).issue('a', x).ejected('a', 1, notApplied),
    'an outcome at the time of the application': build()
      .enter('a', 1)
      .issue('a', x)
      .at(4)
      .push({
        type: 'outcome',
        user: 'a',
        participant: 1,
        fence: 1,
        opId: 'x',
        sequence: 2,
        result: { total: 5, count: 1 },
      })
      .at(4)
      .apply(x, 1),
    'an outcome after the replica got a snapshot': build()
      .enter('a', 1)
      .issue('a', x)
      .apply(x, 2)
      .restore(2, '1:5', 1)
      .outcome('a', x),
    'the same opId issued twice in one instance, applied twice': build({ resultsKept: 0 })
      .enter('a', 1)
      .issue('a', x)
      .apply(x, 1)
      .outcome('a', x)
      .issue('a', operation(3, 1, 'x', 5))
      .apply(operation(3, 1, 'x', 5), 1)
      .outcome('a', operation(3, 1, 'x', 5)),
  }
  for (const [name, builder] of Object.entries(good)) {
    test(name, () => expect(violations(builder)).toEqual([]))
  }
})

describe('WME3 holds for an operation that was applied under an earlier fence', () => {
  const result = { total: 5, count: 1 }
  const again = operation(5, 4, 'x', 5)

  function retried(): HistoryBuilder {
    return build()
      .enter('a', 1)
      .issue('a', x)
      .ejected('a', 1, unknown)
      .apply(x, 1)
      .enter('a', 4)
      .issue('a', again)
  }

  test('the outcome tells the earlier place, without a new entry in the log', () => {
    expect(violations(retried().outcome('a', { ...again, sequence: 2 }))).toEqual([])
  })

  test('the outcome tells the earlier place, with a new entry in the log', () => {
    const builder = retried().invoke(again, 1).respond(again, 1, { result })
    expect(violations(builder.outcome('a', { ...again, sequence: 2 }))).toEqual([])
  })

  test('the outcome tells the new place', () => {
    const builder = retried().invoke(again, 1).respond(again, 1, { result })
    expect(violations(builder.outcome('a', again, 1, result))).toEqual([])
  })

  test('not applied under the new fence', () => {
    expect(violations(retried().ejected('a', 4, notApplied))).toEqual([])
  })

  test('but the operation must be the same', () => {
    const builder = build().enter('a', 1).issue('a', x).ejected('a', 1, unknown).apply(x, 1).enter('a', 4)
    builder.issue('a', { ...again, add: 6 }).outcome('a', { ...again, sequence: 2 })
    expect(violations(builder)).toEqual(['WME3'])
  })

  test('but not under a later fence', () => {
    const builder = build()
      .enter('a', 1)
      .issue('a', x)
      .enter('b', 4, 2)
      .issue('b', again, 2)
      .apply(again, 1, 2)
    builder.outcome('b', again, 2).outcome('a', { ...x, sequence: 5 })
    expect(violations(builder)).toEqual(['WME3'])
  })
})

describe('WME3 holds for an operation that was issued again under a later fence, and applied there', () => {
  const again = operation(5, 4, 'x', 5)
  const toldLater = { ...x, sequence: 5 }

  /**
   * The replica of `a` hears of nothing until it gets a snapshot. `issued`: what `b` issues under the later
   * fence.
   */
  function missed(issued: Operation | null = again): HistoryBuilder {
    const builder = build().enter('a', 1).issue('a', x).enter('b', 4, 2)
    if (issued !== null) builder.issue('b', issued, 2)
    return builder.apply(again, 2).restore(5, '1:5', 1)
  }

  function toldAndOver(builder: HistoryBuilder, told = toldLater): HistoryBuilder {
    const { at } = builder.outcome('a', told).events.at(-1)!
    return builder.at(at).ejected('a', 1)
  }

  test('if its stub settles it by the results, and the grant is over with that', () => {
    expect(violations(toldAndOver(missed()))).toEqual([])
  })

  test('or if its user leaves with this very answer, as a transact does', () => {
    const builder = missed()
    const { at } = builder.outcome('a', toldLater).events.at(-1)!
    expect(violations(builder.at(at).exit('a', 1).at(at).rem('a', 1))).toEqual([])
  })

  const bad: { [name: string]: HistoryBuilder } = {
    'but not if nobody issued it under the later fence: the old grant lives on there': toldAndOver(
      missed(null),
    ),
    'but not if another operation was issued there': toldAndOver(missed({ ...again, add: 6 })),
    'but not if the grant goes on': missed().outcome('a', toldLater),
    'but not if the grant goes on for a while': missed().outcome('a', toldLater).ejected('a', 1),
    'but not if the user leaves by itself': missed().outcome('a', toldLater).leave('a', 1),
    'but not if that operation was not the one that was pending': toldAndOver(
      missed()
        .outcome('b', again, 2)
        .issue('b', operation(6, 4, 'y', 1), 2)
        .apply(operation(6, 4, 'y', 1), 2, 1),
      { ...x, sequence: 6 },
    ),
  }
  for (const [name, builder] of Object.entries(bad)) {
    test(name, () => expect(violations(builder)).toEqual(['WME3']))
  }
})

describe('WME3 is broken', () => {
  const entered = () => build().enter('a', 1).issue('a', x)
  const bad: { [name: string]: [HistoryBuilder, RegExp] } = {
    'an outcome of what was never applied': [
      entered().outcome('a', x, 1, 5),
      /where the serial order has nothing/,
    ],
    'an outcome with the place of another operation': [
      entered()
        .apply(x, 1)
        .outcome('a', x)
        .issue('a', y)
        .apply(y, 1)
        .outcome('a', { ...y, sequence: 2 }),
      /names sequence 2, where the serial order has "x"/,
    ],
    'an outcome with a place that does not exist': [
      entered()
        .apply(x, 1)
        .outcome('a', { ...x, sequence: 7 }, 1, { total: 5, count: 1 }),
      /names sequence 7, where the serial order has nothing/,
    ],
    'an outcome with another result': [
      entered().apply(x, 1).outcome('a', x, 1, 6),
      /is 6, the replicas answered/,
    ],
    'an outcome before the own replica has applied it': [
      entered().apply(x, 2).outcome('a', x).apply(x, 1),
      /came before replica 1 had applied it/,
    ],
    'an outcome after the own replica was wiped': [
      entered().apply(x, 1).wipe(1).outcome('a', x),
      /came before replica 1 had applied it/,
    ],
    'reported as not applied, but applied (trap A4)': [
      entered().ejected('a', 1, notApplied).apply(x, 2),
      /reported as not applied, but it was applied/,
    ],
    'ejected without a word on the operation, which was applied': [
      entered().ejected('a', 1).apply(x, 2),
      /reported as not applied, but it was applied/,
    ],
    'applied but never issued': [build().enter('a', 1).apply(x, 1), /was applied but never issued/],
    'applied twice under one fence (trap A3)': [
      entered()
        .apply(x, 1)
        .outcome('a', x)
        .invoke(operation(3, 1, 'x', 5))
        .respond(operation(3, 1, 'x', 5), 1, { result: { total: 5, count: 1 } }),
      /more often than it was issued/,
    ],
    'another operation applied than issued': [
      build()
        .enter('a', 1)
        .issue('a', { ...x, add: 6 })
        .apply(x, 1),
      /was applied as {"add":5}, issued as {"add":6}/,
    ],
    'applied before it was issued': [
      build().enter('a', 1).apply(x, 1).issue('a', x).outcome('a', x),
      /was applied before it was issued/,
    ],
  }
  for (const [name, [builder, message]] of Object.entries(bad)) {
    test(name, () => {
      expect(violations(builder)).toEqual(['WME3'])
      expect(messages(judged(builder), 'WME3')).toEqual([expect.stringMatching(message)])
    })
  }

  test('applied in another order than issued', () => {
    // A careless user issues y though x is pending; only then can the order differ at all.
    const swapped = [operation(2, 1, 'y', 7), operation(3, 1, 'x', 5)] as const
    const builder = entered().issue('a', y).apply(swapped[0], 1).apply(swapped[1], 1)
    expect(violations(builder)).toEqual(['well-formedness', 'WME3'])
    expect(messages(judged(builder), 'WME3')).toEqual([
      expect.stringMatching(/"x" .* comes after an operation/),
    ])
  })
})
