import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equalJson, show } from '../../shared/history/compare.ts'
import { judge } from '../../shared/history/judge.ts'
import { HistoryReader, historyLines, parseHistory } from '../../shared/history/parse.ts'
import type { Json } from '../../shared/json.ts'
import { build, HEADER, operation } from './builder.ts'
import { tally } from './tally.ts'

const header = JSON.stringify(HEADER)
const good = build()
  .instance('a', 1, [operation(2, 1, 'x', 5)])
  .wipe(2)
  .restore(2, '1:5', 2).history
const problemOf = (...lines: string[]) => {
  const parsed = parseHistory(lines)
  return parsed.ok ? null : parsed.problem
}

describe('a file is read', () => {
  test('as it was written', () => {
    expect(parseHistory(historyLines(good))).toEqual({ ok: true, history: good })
    expect(parseHistory([...historyLines(good)].join('\n'))).toEqual({ ok: true, history: good })
  })

  test('with blank lines, a byte order mark, and the line ends of other systems', () => {
    const text = `\uFEFF${[...historyLines(good)].join('\r\n\r\n')}\r\n\n`
    expect(parseHistory(text)).toEqual({ ok: true, history: good })
  })

  test('with fields that are not known', () => {
    const parsed = parseHistory([header, '{"at":1,"type":"end","color":"blue"}'])
    expect(parsed).toMatchObject({ ok: true, history: { events: [{ at: 1, type: 'end' }] } })
  })

  test('with nothing but a header', () => {
    expect(parseHistory(header)).toEqual({ ok: true, history: { header: HEADER, events: [] } })
  })

  test('line by line', () => {
    const reader = new HistoryReader()
    for (const line of historyLines(good)) expect(reader.read(line)).toBeNull()
    expect(reader.eventsRead).toBe(good.events.length)
    expect(reader.finish()).toEqual({ ok: true, history: good })
    expect(reader.read('nonsense')).toMatchObject({ line: good.events.length + 2 })
  })
})

describe('problems are reported with their line', () => {
  test('an empty file', () => {
    expect(problemOf('')).toEqual({ line: 1, message: 'the header is missing' })
    expect(problemOf()).toEqual({ line: 1, message: 'the header is missing' })
  })

  test('the header', () => {
    const wrong = (change: object) => problemOf(JSON.stringify({ ...HEADER, ...change }))
    expect(wrong({ format: 2 })).toEqual({ line: 1, message: 'the header: `format` must be 1; it is 2' })
    expect(wrong({ participants: 0 })?.message).toMatch(
      /`participants` must be a whole number from 1; it is 0/,
    )
    expect(wrong({ resultsKept: 1.5 })?.message).toMatch(/`resultsKept` must be a whole number from 0/)
    expect(wrong({ resource: undefined })?.message).toMatch(/`resource` must be a string; it is missing/)
    expect(problemOf('{"at":1,"type":"end"}')?.message).toMatch(/the header: `format`/)
  })

  const lines: { [line: string]: RegExp } = {
    '{"at":1,"type":"end"': /not JSON/,
    nonsense: /not JSON/,
    '[1]': /not a JSON object/,
    null: /not a JSON object/,
    '3': /not a JSON object/,
    '{"at":1}': /needs a `type`/,
    '{"at":1,"type":7}': /needs a `type`/,
    '{"at":1,"type":"enter"}': /no event of type "enter"/,
    '{"at":1,"type":"__proto__"}': /no event of type "__proto__"/,
    '{"at":1,"type":"constructor"}': /no event of type "constructor"/,
    '{"type":"end"}': /event `end`: `at` must be a number; it is missing/,
    '{"at":"now","type":"end"}': /`at` must be a number; it is "now"/,
    '{"at":1,"type":"try","participant":1}': /`user` must be a string/,
    '{"at":1,"type":"try","user":"a","participant":4}': /a participant from 1 to 3; it is 4/,
    '{"at":1,"type":"try","user":"a","participant":1.5}': /a participant from 1 to 3/,
    '{"at":1,"type":"crit","user":"a","participant":1,"epoch":0}': /`fence` must be a whole number/,
    '{"at":1,"type":"crit","user":"a","participant":1,"fence":-1,"epoch":0}': /`fence`.* it is -1/,
    '{"at":1,"type":"crit","user":"a","participant":1,"fence":1e300,"epoch":0}': /`fence`/,
    '{"at":1,"type":"issue","user":"a","participant":1,"fence":1,"opId":"x"}':
      /`operation` must be a JSON value/,
    '{"at":1,"type":"ejected","user":"a","participant":1,"fence":1,"reason":"mood"}':
      /`reason` must be "suspected" or "expired" or "operator"; it is "mood"/,
    '{"at":1,"type":"ejected","user":"a","participant":1,"fence":1,"reason":"expired","pending":{"opId":"x"}}':
      /`pending` must be an object with/,
    '{"at":1,"type":"ejected","user":"a","participant":1,"fence":1,"reason":"expired","pending":null}':
      /`pending`/,
    '{"at":1,"type":"response","participant":1,"sequence":2,"opId":"x","result":1,"hash":5}':
      /`hash` must be a string/,
    '{"at":1,"type":"restore","participant":1,"sequence":2}': /`hash` must be a string; it is missing/,
    '{"at":1,"type":"healed","participants":[1,9]}': /a list of participants from 1 to 3/,
    '{"at":1,"type":"healed","participants":1}': /a list of participants/,
  }
  for (const [line, message] of Object.entries(lines)) {
    test(line, () => {
      const problem = problemOf(header, '', '{"at":0,"type":"settled"}', line)
      expect(problem?.line).toBe(4)
      expect(problem?.message).toMatch(message)
    })
  }

  test('time that falls', () => {
    const problem = problemOf(header, '{"at":5,"type":"settled"}', '{"at":4,"type":"end"}')
    expect(problem).toEqual({ line: 3, message: 'time falls: `at` is 4 after 5' })
  })

  test('only the first thing that is wrong', () => {
    expect(problemOf(header, 'one', 'two')?.line).toBe(2)
  })

  test('whatever the lines are, nothing throws', () => {
    const anyLine = fc.oneof(fc.string(), fc.json(), fc.constantFrom(...historyLines(good)))
    fc.assert(
      fc.property(fc.array(anyLine), rest => {
        const parsed = parseHistory([header, ...rest])
        if (parsed.ok) judge(parsed.history, tally)
        else expect(parsed.problem.line).toBeGreaterThan(1)
      }),
    )
  })

  test('values that are nested very deeply are no problem', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
    const invoke = (participant: number, operation: string) =>
      `{"at":1,"type":"invoke","participant":${participant},"sequence":2,"fence":1,"opId":"x","operation":${operation}}`
    const parsed = parseHistory([header, invoke(1, deep), invoke(2, deep), invoke(3, `[${deep}]`)])
    expect(parsed.ok && judge(parsed.history, tally).verdict).toBe('invalid')
  })
})

test('judging with another resource than the one of the history is a mistake of the caller', () => {
  expect(() => judge({ header: { ...HEADER, resource: 'other' }, events: [] }, tally)).toThrow(
    /'other', not 'tally'/,
  )
})

describe('JSON values', () => {
  test('are equal when their texts are, up to the order of keys', () => {
    const sorted = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(sorted)
      const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
      return { object: entries.map(([key, item]) => [key, sorted(item)]) }
    }
    const small = fc.jsonValue({ maxDepth: 2 }).map(value => JSON.parse(JSON.stringify(value)) as Json)
    fc.assert(
      fc.property(small, small, (left, right) => {
        expect(equalJson(left, structuredClone(left) as Json)).toBe(true)
        expect(equalJson(left, right)).toBe(JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)))
      }),
      { numRuns: 500 },
    )
  })

  test('are told apart', () => {
    const different: [Json, Json][] = [
      [1, '1'],
      [null, {}],
      [[], {}],
      [[1], [1, 2]],
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: 1 }, { b: 1 }],
      [[['a']], [['b']]],
      [{ a: { b: [1] } }, { a: { b: [2] } }],
      [{ toString: 1 }, {}],
      [{ a: 1 }, JSON.parse('{"__proto__": 1}') as Json],
      [{ a: {} }, JSON.parse('{"__proto__": {}}') as Json],
    ]
    for (const [left, right] of different) {
      expect(equalJson(left, right)).toBe(false)
      expect(equalJson(right, left)).toBe(false)
    }
    expect(equalJson({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true)
  })

  test('are shown in short', () => {
    expect(show('x'.repeat(500)).length).toBeLessThan(200)
    expect(show(undefined)).toBe('nothing')
  })
})
