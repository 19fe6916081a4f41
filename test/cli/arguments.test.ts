/** How words are read, without a process. */
import { describe, expect, it } from 'vitest'
import { mostSimilar, parseOptions, UsageError } from '../../cli/arguments.ts'
import { durationOf, integerOf, jsonOf, writeDuration } from '../../cli/values.ts'

const TABLE = {
  wait: { type: 'string' },
  json: { type: 'boolean' },
  'no-shrink': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  location: { type: 'string', multiple: true },
} as const
const parse = (line: string) => parseOptions(line === '' ? [] : line.split(' '), TABLE)

describe('options', () => {
  it('have values of their types, wherever they stand', () => {
    expect(parse('a --wait 5s b --json')).toEqual({
      values: { wait: '5s', json: true, 'no-shrink': false, help: false, location: [] },
      positionals: ['a', 'b'],
      rest: null,
    })
    expect(parse('--wait=--5s -h').values).toMatchObject({ wait: '--5s', help: true })
    expect(parse('--location weur --location enam').values.location).toEqual(['weur', 'enam'])
    expect(parse('--wait -1').values.wait).toBe('-1')
    expect(parse('--wait 1s --wait 2s').values.wait).toBe('2s')
  })

  it('end with --', () => {
    expect(parse('a -- b --json -- c')).toMatchObject({
      positionals: ['a'],
      rest: ['b', '--json', '--', 'c'],
    })
    expect(parse('a --').rest).toEqual([])
    expect(parse('-').positionals).toEqual(['-'])
  })

  it.each([
    ['--what', 'unknown option --what'],
    ['--jsno', 'unknown option --jsno; did you mean --json?'],
    ['-x', 'unknown option -x'],
    ['a -1', 'unknown option -1; a word that begins with a dash goes after --'],
    ['--__proto__', 'unknown option --__proto__'],
    ['--constructor x', 'unknown option --constructor'],
    ['--wait', '--wait needs a value'],
    ['--wait=', '--wait needs a value'],
    ['--wait --json', '--wait needs a value, and --json is an option'],
    ['--json=yes', '--json takes no value'],
  ])('are refused in words: %s', (line, message) => {
    expect(() => parse(line)).toThrow(new UsageError(message))
  })
})

describe('a word that is not known', () => {
  it.each([
    ['rnu', 'run'],
    ['aquire', 'acquire'],
    ['transaction', 'transact'],
    ['lst', 'list'],
    ['frobnicate', undefined],
    ['x', undefined],
  ])('%s: perhaps %s', (word, meant) => {
    expect(mostSimilar(word, ['run', 'acquire', 'release', 'list', 'transact', 'status'])).toBe(meant)
  })
})

describe('values', () => {
  it('are durations with a unit', () => {
    expect(['500ms', '30s', '2m', '1.5h', '0s'].map(text => durationOf('--wait', text))).toEqual([
      500, 30_000, 120_000, 5_400_000, 0,
    ])
    for (const text of ['30', '', 's', '-1s', '1d', '1 s', '1e3s', 'Infinitys']) {
      expect(() => durationOf('--wait', text), text).toThrow(UsageError)
    }
    expect([500, 30_000, 120_000, 5_400_000, 3_600_000].map(writeDuration)).toEqual([
      '500ms',
      '30s',
      '2m',
      '90m',
      '1h',
    ])
  })

  it('are whole numbers in their range', () => {
    expect(integerOf('--at', '13', 1, 13)).toBe(13)
    for (const text of ['0', '14', '1.5', '', 'x', '1e1', '-1', '0x1']) {
      expect(() => integerOf('--at', text, 1, 13), text).toThrow(UsageError)
    }
  })

  it('are JSON', () => {
    expect(jsonOf('the value', '{"a":1}')).toEqual({ a: 1 })
    expect(() => jsonOf('the value', `[${'x'.repeat(100)}`)).toThrow(/^the value is not JSON: \[x{59}…$/)
  })
})
