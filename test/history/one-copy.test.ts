import { describe, expect, test } from 'vitest'
import { build, type HistoryBuilder, judged, messages, operation, violations } from './builder.ts'

const x = operation(2, 1, 'x', 5)
const y = operation(3, 1, 'y', 7)
const z = operation(6, 5, 'z', 11)

/** Two instances with three operations; the log holds grants at 1 and 5 and another at 4. */
function started(header = {}): HistoryBuilder {
  const builder = build(header).enter('a', 1)
  for (const operation of [x, y]) builder.issue('a', operation).apply(operation, 1).outcome('a', operation)
  builder.leave('a', 1)
  return builder
}

function complete(): HistoryBuilder {
  return started().apply(x, 2).apply(y, 2).enter('b', 5, 2).issue('b', z, 2).apply(z, 2).outcome('b', z, 2)
}

describe('1CS holds', () => {
  const good: { [name: string]: HistoryBuilder } = {
    'one replica is behind': complete().apply(x, 3),
    'one replica is empty': complete(),
    'hashes of the state': complete().invoke(x, 3).respond(x, 3, { hash: '1:5' }),
    'a snapshot over two operations': complete().restore(3, '2:12', 3).apply(z, 3),
    'a snapshot at the place of a grant': complete().restore(4, '2:12', 3).apply(z, 3),
    'a snapshot before everything': complete().restore(0, '0:0', 3).apply(x, 3),
    'a snapshot of where the replica is': complete().restore(6, '3:23', 2),
    'a snapshot while an answer is missing': complete().invoke(x, 3).restore(3, '2:12', 3),
    'a wiped replica begins again': complete().wipe(2).apply(x, 2).apply(y, 2),
    'a wiped replica gets a snapshot': complete().wipe(2).restore(3, '2:12', 2).apply(z, 2),
    'a replica that restarts goes on from what it had written': complete()
      .restart(2, 2)
      .apply(y, 2)
      .apply(z, 2),
    'a replica that restarts had written everything': complete().restart(6, 2),
    'the last answer is missing': complete().apply(x, 3).invoke(y, 3),
  }
  for (const [name, builder] of Object.entries(good)) {
    test(name, () => expect(violations(builder)).toEqual([]))
  }

  test('no replica has applied everything: C is put together', () => {
    const builder = started().restore(3, '2:12', 2).enter('b', 5, 2).issue('b', z, 2).apply(z, 2)
    builder.outcome('b', z, 2)
    expect(violations(builder)).toEqual([])
    expect(judged(builder).counts.operations).toBe(3)
  })

  test('an operation that throws has the same result everywhere', () => {
    const explode = { type: 'invoke', sequence: 7, fence: 5, opId: 'w', operation: { add: 'much' } } as const
    const builder = complete().push({ ...explode, type: 'issue', user: 'b', participant: 2 })
    builder.push({ ...explode, participant: 2 })
    builder.push({
      type: 'response',
      participant: 2,
      sequence: 7,
      opId: 'w',
      result: { error: 'operation_failed' },
    })
    expect(violations(builder)).toEqual([])
  })
})

describe('1CS is broken', () => {
  const bad: { [name: string]: [HistoryBuilder, RegExp] } = {
    'a wrong result': [complete().invoke(x, 3).respond(x, 3, { result: 9 }), /answers "x" .* with 9, not/],
    'a wrong result on every replica': [
      build().enter('a', 1).issue('a', x).invoke(x, 1).respond(x, 1, { result: 9 }),
      /with 9, not/,
    ],
    'a wrong outcome where no response is recorded': [
      build().enter('a', 1).issue('a', x).invoke(x, 1).outcome('a', x, 1, 9),
      /the outcome of "x" .* is 9, not/,
    ],
    'a wrong hash': [complete().invoke(x, 3).respond(x, 3, { hash: '1:6' }), /state "1:6" after "x"/],
    'an operation left out': [complete().apply(x, 3).apply(z, 3), /replica 3 leaves out "y"/],
    'the first operation left out': [complete().apply(y, 3), /replica 3 leaves out "x"/],
    'an operation applied twice in a row': [
      complete().apply(x, 3).apply(x, 3),
      /sequence 2, which it has behind/,
    ],
    'an operation applied again later': [complete().apply(x, 2), /sequence 2, which it has behind/],
    'another operation at the same place': [
      complete().apply(operation(2, 1, 'other', 5), 3),
      /replica 3 applies "other" \(sequence 2, fence 1\), C has "x"/,
    ],
    'another content under the same name': [
      complete().apply(operation(2, 1, 'x', 6), 3),
      /replica 3 applies "x"/,
    ],
    'another fence under the same name': [
      complete().apply(operation(2, 9, 'x', 5), 3),
      /replica 3 applies "x"/,
    ],
    'a snapshot with a wrong hash': [
      complete().restore(3, '2:13', 3),
      /restores the state "2:13" of sequence 3/,
    ],
    'a snapshot of a state that never was': [complete().restore(1, '1:5', 3), /restores the state "1:5"/],
    'a jump back': [complete().restore(2, '1:5', 2), /replica 2 jumps back to sequence 2/],
    'an operation applied again after a snapshot': [
      complete().restore(3, '2:12', 3).apply(y, 3),
      /sequence 3, which it has behind/,
    ],
    'an operation left out after a snapshot': [
      complete().restore(2, '1:5', 3).apply(z, 3),
      /replica 3 leaves out "y"/,
    ],
    'an operation left out after a restart': [
      complete().restart(2, 2).apply(z, 2),
      /replica 2 leaves out "y"/,
    ],
    'an operation applied again that was written before the restart': [
      complete().restart(2, 2).apply(x, 2),
      /sequence 2, which it has behind/,
    ],
    'an operation left out after a wipe': [complete().wipe(2).apply(y, 2), /replica 2 leaves out "x"/],
    'an invocation before the answer to the one before': [
      complete().invoke(x, 3).apply(y, 3),
      /replica 3 is invoked before it has answered/,
    ],
    'an answer without an invocation': [
      complete().respond(x, 3),
      /replica 3 answers "x" without an invocation/,
    ],
    'an answer twice': [complete().apply(x, 3).respond(x, 3), /without an invocation/],
    'an answer to another operation': [
      complete().invoke(x, 3).respond(y, 3),
      /answers "y" without an invocation/,
    ],
  }
  for (const [name, [builder, message]] of Object.entries(bad)) {
    test(name, () => {
      expect(violations(builder)).toEqual(['1CS'])
      expect(messages(judged(builder), '1CS')[0]).toMatch(message)
    })
  }

  test('two operations in the wrong order', () => {
    const builder = complete().apply(y, 3).apply(x, 3)
    expect(violations(builder)).toEqual(['1CS'])
    const [leftOut, again] = messages(judged(builder), '1CS')
    expect(leftOut).toMatch(/replica 3 leaves out "x"/)
    expect(again).toMatch(/replica 3 applies sequence 2, which it has behind it/)
  })

  test('C is in the order of the log, whichever replica was first', () => {
    const builder = build().enter('a', 1).issue('a', x)
    builder.invoke(y, 2).respond(y, 2, { result: { total: 12, count: 2 } })
    builder.invoke(x, 1).respond(x, 1, { result: { total: 5, count: 1 } })
    builder.invoke(y, 1).respond(y, 1, { result: { total: 12, count: 2 } })
    expect(messages(judged(builder), '1CS')).toEqual(['replica 2 leaves out "x" (sequence 2, fence 1)'])
  })

  test('an answer under another name is not the answer of C', () => {
    const builder = build().enter('a', 1).issue('a', x).invoke(x, 1)
    builder.respond({ ...x, opId: 'other' }, 1, { result: 99 }).outcome('a', x)
    expect(violations(builder)).toEqual(['1CS'])
  })

  test('what a diverging replica answers is not the answer of C', () => {
    const other = { ...x, add: 6 }
    const builder = build().enter('a', 1).issue('a', x).invoke(other, 3).respond(other, 3)
    const rest = build().at(20).apply(x, 1).outcome('a', x).issue('a', y).apply(y, 1).outcome('a', y)
    builder.events.push(...rest.events)
    expect(violations(builder)).toEqual(['1CS'])
    expect(messages(judged(builder), '1CS')).toHaveLength(1)
  })

  test('where replicas differ, C is the longest, whichever was first', () => {
    const builder = build()
      .enter('a', 1)
      .issue('a', x)
      .apply(operation(2, 1, 'other', 9), 3)
    // From here on the results must not count the operation of replica 3.
    const good = build()
      .at(20)
      .invoke(x, 1)
      .respond(x, 1)
      .outcome('a', x)
      .issue('a', y)
      .apply(y, 1)
      .outcome('a', y)
    builder.events.push(...good.events)
    expect(violations(builder)).toEqual(['1CS'])
    const evidence = judged(builder).properties.find(property => property.name === '1CS')!.evidence
    expect(evidence).toHaveLength(1)
    expect(evidence[0]!.message).toMatch(/replica 3 applies "other" \(sequence 2, fence 1\), C has "x"/)
  })
})

describe('operation ids that come again', () => {
  const again = operation(6, 5, 'x', 5)

  /** User b issues x once more, and all replicas answer `result`. */
  function repeated(resultsKept: number, result: { total: number; count: number }): HistoryBuilder {
    const builder = started({ resultsKept }).apply(x, 2).apply(y, 2).enter('b', 5, 2).issue('b', again, 2)
    return builder.invoke(again, 2).respond(again, 2, { result, hash: `${result.count}:${result.total}` })
  }

  test('are answered while the result is remembered', () => {
    const builder = started({ resultsKept: 2 }).apply(x, 2).apply(y, 2).enter('b', 5, 2).issue('b', again, 2)
    builder.invoke(again, 2).respond(again, 2, { result: { total: 5, count: 1 }, hash: '2:12' })
    builder.outcome('b', again, 2, { total: 5, count: 1 })
    expect(judged(builder).counts.repeated).toBe(1)
    expect(violations(builder)).toEqual([])
  })

  test('are applied once the result is forgotten', () => {
    expect(violations(repeated(1, { total: 17, count: 3 }))).toEqual([])
    expect(violations(repeated(0, { total: 17, count: 3 }))).toEqual([])
  })

  test('must not be applied while the result is remembered', () => {
    expect(violations(repeated(2, { total: 17, count: 3 }))).toEqual(['1CS'])
  })

  test('must not be answered once the result is forgotten', () => {
    expect(violations(repeated(1, { total: 5, count: 1 }))).toEqual(['1CS'])
  })

  test('are forgotten one after the other', () => {
    // One result is kept, so each of these is applied: y drove out x, x again drives out y.
    const yAgain = operation(7, 5, 'y', 7)
    const builder = repeated(1, { total: 17, count: 3 }).outcome('b', again, 2, { total: 17, count: 3 })
    builder
      .issue('b', yAgain, 2)
      .invoke(yAgain, 2)
      .respond(yAgain, 2, { result: { total: 24, count: 4 } })
    expect(violations(builder)).toEqual([])
    expect(judged(builder).counts.repeated).toBe(0)
  })

  test('an answer from memory does not make the result younger', () => {
    // Two results are kept. x is answered from memory, then w is applied, which drops x and not y.
    const w = operation(7, 5, 'w', 1)
    const yAgain = operation(8, 5, 'y', 7)
    const builder = started({ resultsKept: 2 }).apply(x, 2).apply(y, 2).enter('b', 5, 2)
    builder
      .issue('b', again, 2)
      .invoke(again, 2)
      .respond(again, 2, { result: { total: 5, count: 1 } })
    builder.outcome('b', again, 2, { total: 5, count: 1 })
    builder
      .issue('b', w, 2)
      .invoke(w, 2)
      .respond(w, 2, { result: { total: 13, count: 3 } })
    builder.outcome('b', w, 2, { total: 13, count: 3 })
    builder
      .issue('b', yAgain, 2)
      .invoke(yAgain, 2)
      .respond(yAgain, 2, { result: { total: 12, count: 2 } })
    expect(violations(builder)).toEqual([])
    expect(judged(builder).counts.repeated).toBe(2)
  })

  test('with another operation are a conflict, which is not remembered', () => {
    const other = operation(6, 5, 'x', 6)
    const builder = started().apply(x, 2).apply(y, 2).enter('b', 5, 2).issue('b', other, 2)
    builder.invoke(other, 2).respond(other, 2, { result: { error: 'conflict' }, hash: '2:12' })
    builder.outcome('b', other, 2, { error: 'conflict' })
    expect(violations(builder)).toEqual([])
  })
})
