/** The body of an import, read as it comes (worker/router/import-document.ts, json-pieces.ts). */
import { describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { Json } from '../../shared/json.ts'
import { joined } from '../../shared/resource/import.ts'
import {
  ImportDocument,
  type ImportItem,
  ImportRefused,
  textsOf,
} from '../../worker/router/import-document.ts'
import { partsOf } from '../../worker/router/import-parts.ts'
import { JsonPieces, type Piece } from '../../worker/router/json-pieces.ts'

const HEAD = {
  ...{ format: 1, lock: 'stock', resource: 'key-value', epoch: 2, sequence: 9, droppedThrough: 0 },
  configuration: {
    ...{ protocol: 'wme-2', participants: [{ id: 1, location: null }], ttlMs: 30_000 },
    ...{ detector: { heartbeatMs: 500, timeoutMs: 2_000 }, localHandoffs: 1 },
  },
}
const cell = (name: string, value: Json = 1) => ({ cell: `=${name}`, value: { value, revision: 1 } })
const result = (opId: string, value: Json = 1) => ({ opId, sequence: 3, digest: 'd', result: value })

/** Of a chunk. */
const LONG = 65_536

async function* inChunks(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length)
}

async function read(document: unknown, length = 7): Promise<{ head: unknown; items: ImportItem[] }> {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  const reading = new ImportDocument(inChunks(text, length))
  const head = await reading.head()
  const items: ImportItem[] = []
  for await (const item of reading.items()) items.push(item)
  return { head, items }
}

const refusalOf = async (document: unknown, length?: number): Promise<[string, string]> => {
  const refused = await read(document, length).then(
    () => null,
    (error: unknown) => error,
  )
  if (!(refused instanceof ImportRefused)) throw new Error('it was not refused', { cause: refused })
  return [refused.code, `${refused.errors[0]?.path} ${refused.errors[0]?.message}`]
}

describe('pieces', () => {
  const piecesOf = (text: string, length: number): Piece[] => {
    const pieces = new JsonPieces(['list'], 1_000)
    const found: Piece[] = []
    for (let at = 0; at < text.length; at += length) found.push(...pieces.push(text.slice(at, at + length)))
    pieces.finish()
    return found
  }

  it('are the same however the document is cut', () => {
    const document = {
      ...{ a: 1.5, 'b"\\': 'te\\xt "quoted" [{,:', list: [1, 'two, ]', { three: [[], {}] }, [], null, true] },
      ...{ empty: {}, nested: { list: [1, 2] }, 'é😀': 'é😀' },
    }
    for (const text of [
      JSON.stringify(document),
      JSON.stringify(document, null, 2),
      ` ${JSON.stringify(document)}\n`,
    ])
      for (const length of [1, 2, 3, 5, 1_000]) {
        const made: { [name: string]: unknown } = {}
        for (const { member, text: piece, index } of piecesOf(text, length)) {
          if (index === null) made[member] = JSON.parse(piece)
          else {
            made[member] ??= []
            expect((made[member] as unknown[]).push(JSON.parse(piece))).toBe(index + 1)
          }
        }
        expect(made).toEqual(document)
      }
  })

  it.each([
    '',
    '[]',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":1}}',
    '{"a":1,}',
    '{"list":[1,]}',
    '{"list":[1}',
    '{a:1}',
    '{"a":1 "b":2}',
    '{"a":1,"a":2}',
    '{"list":[,1]}',
    '{"a":1}x',
  ])('%s has none', text => {
    for (const length of [1, 100]) expect(() => piecesOf(text, length)).toThrow()
  })
})

describe('a document', () => {
  it('is read in any order, and in any pieces', async () => {
    const lists = { cells: [cell('a'), cell('b')], results: [result('x')] }
    for (const document of [
      { ...HEAD, ...lists },
      { ...lists, ...HEAD },
    ])
      for (const length of [1, 11, 100_000]) {
        const { head, items } = await read(document, length)
        expect(head).toEqual(HEAD)
        expect(items.filter(({ list }) => list === 'cells').map(({ item }) => item)).toEqual(lists.cells)
        expect(items.filter(({ list }) => list === 'results').map(({ item }) => item)).toEqual(lists.results)
      }
    expect((await read({ ...HEAD, cells: [], results: [] })).items).toEqual([])
  })

  type Refused = [what: string, document: unknown, code: string, message: RegExp]
  it.each<Refused>([
    ['no JSON', '{"format":1,', 'bad_request', /not JSON/],
    ['a part that is no JSON', '{"format":1,"cells":[nope]}', 'bad_request', /cells.0 is not JSON/],
    ...['[]', ' null', '"a"', '-1'].map(
      (text): Refused => ['no object', text, 'bad_request', /^ must be an object/],
    ),
    ...['', 'hello'].map((text): Refused => ['no JSON', text, 'bad_request', /^ is not JSON/]),
    ...[
      { ...cell('a'), cell: 'a' },
      { ...cell('a'), cell: '=\ud800' },
    ].map(
      (one): Refused => [
        'a cell with a wrong name',
        { ...HEAD, results: [], cells: [one] },
        'bad_request',
        /cells.0.cell must be = and a key, in well-formed Unicode/,
      ],
    ),
    ['a number that is none', '{"format":1e999}', 'bad_request', /format is a number/],
    ['an unknown member', { ...HEAD, more: 1, cells: [], results: [] }, 'bad_request', /more is not a known/],
    ['no cells', { ...HEAD, results: [] }, 'bad_request', /cells is missing/],
    ['cells that are no list', { ...HEAD, results: [], cells: {} }, 'bad_request', /cells must be a list/],
    [
      'a cell that is none',
      { ...HEAD, results: [], cells: [cell('a'), { cell: 1 }] },
      'bad_request',
      /cells.1/,
    ],
    [
      'regression: a revision above its sequence',
      { ...HEAD, results: [], cells: [cell('a'), { ...cell('b'), value: { value: 1, revision: 10 } }] },
      'bad_request',
      /cells.1.value.revision is above the sequence/,
    ],
    [
      'regression: a result above its sequence',
      { ...HEAD, cells: [], results: [{ ...result('x'), sequence: 10 }] },
      'bad_request',
      /results.0.sequence is above the sequence/,
    ],
    [
      'regression: more forgotten than ever was',
      { ...HEAD, cells: [], results: [], droppedThrough: 10 },
      'bad_request',
      /droppedThrough is above the sequence/,
    ],
    [
      'regression: a key twice',
      { ...HEAD, results: [], cells: [cell('a'), cell('b'), cell('a', 7)] },
      'bad_request',
      /cells.2 must come once/,
    ],
    [
      'an operation twice',
      { ...HEAD, cells: [], results: [result('x'), result('x')] },
      'bad_request',
      /results.1 must come once/,
    ],
    [
      'results out of order',
      { ...HEAD, cells: [], results: [result('x'), { ...result('y'), sequence: 2 }] },
      'bad_request',
      /results.1 must come after/,
    ],
    ['no epoch', { ...HEAD, epoch: undefined, results: [], cells: [] }, 'bad_request', /epoch is missing/],
  ])('with %s is refused', async (_, document, code, message) => {
    const [refused, error] = await refusalOf(document)
    expect(refused).toBe(code)
    expect(error).toMatch(message)
  })

  it('regression: is refused for what is above its sequence, wherever that stands', async () => {
    const high = { ...cell('b'), value: { value: 1, revision: 10 } }
    const { sequence, ...rest } = HEAD
    const lists = { results: [result('x')], cells: [cell('a'), high, cell('c')] }
    const told = ['bad_request', 'cells.1.value.revision is above the sequence of the export']
    for (const length of [1, 100, LONG]) {
      expect(await refusalOf({ ...lists, ...HEAD }, length)).toEqual(told)
      expect(await refusalOf({ ...rest, ...lists, sequence }, length)).toEqual(told)
    }
    // More than is read ahead, so that the item comes after the head was given.
    const heavy = Array.from({ length: 60 }, (_, index) => cell(`heavy-${index}`, 'x'.repeat(60_000)))
    const late = { ...HEAD, results: [], cells: [...heavy, high] }
    expect((await refusalOf(late, LONG))[1]).toContain('cells.60.value.revision')
    const highest = { ...cell('b'), value: { value: 1, revision: 9 } }
    expect((await read({ ...HEAD, ...lists, cells: [highest], droppedThrough: 9 })).items).toHaveLength(2)
  })

  it('is refused if a lock cannot be so large', async () => {
    const heavy = 'x'.repeat(API_LIMITS.valueWeight - 10)
    const count = Math.ceil((1.3 * API_LIMITS.stateWeight) / API_LIMITS.valueWeight)
    const cells = Array.from({ length: count }, (_, index) => cell(`${index}`, heavy))
    expect((await refusalOf({ ...HEAD, results: [], cells }, LONG))[0]).toBe('too_large')
    const results = Array.from({ length: API_LIMITS.resultsKept + 1 }, (_, index) => result(`${index}`))
    expect((await refusalOf({ ...HEAD, results, cells: [] }, LONG))[0]).toBe('too_large')
    // One item that never ends.
    expect((await refusalOf(`{"cells":["${'x'.repeat(5_000_000)}`, LONG))[0]).toBe('too_large')
    // What stands before the head has to be kept.
    const first = JSON.stringify({ cells: cells.slice(0, 70), ...HEAD, results: [] })
    expect((await refusalOf(first, LONG))[0]).toBe('too_large')
  })

  it('is refused if it is no text, too long, or breaks off', async () => {
    const bodyOf = (bytes: Uint8Array, isBroken = false) =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isBroken && bytes.length === 0) controller.error(new Error('gone'))
          else if (bytes.length === 0) controller.close()
          else controller.enqueue(bytes)
          bytes = bytes.slice(0, 0)
        },
      })
    const readAll = async (body: ReadableStream<Uint8Array> | null, most = 100) => {
      let text = ''
      for await (const part of textsOf(body, most)) text += part
      return text
    }
    expect(await readAll(bodyOf(new TextEncoder().encode('é😀')))).toBe('é😀')
    expect(await readAll(null)).toBe('')
    await expect(readAll(bodyOf(new Uint8Array([0xc3])))).rejects.toThrow('bad_request')
    await expect(readAll(bodyOf(new Uint8Array(101)))).rejects.toThrow('too_large')
    await expect(readAll(bodyOf(new Uint8Array(1), true))).rejects.toThrow('bad_request')
  })
})

it('goes in operations that are light enough, whatever an item weighs', async () => {
  const quotes = '"'.repeat(2 * API_LIMITS.valueWeight - 100)
  const items: ImportItem[] = [
    { list: 'results', item: result('light') },
    { list: 'results', item: result('heavy', quotes) },
    { list: 'cells', item: cell('a', 'x'.repeat(API_LIMITS.valueWeight)) },
    { list: 'cells', item: cell('b') },
    { list: 'cells', item: cell('c') },
  ]
  async function* given() {
    yield* items
  }
  const parts = []
  for await (const part of partsOf(given())) {
    parts.push(part)
    expect(JSON.stringify(part).length).toBeLessThan(API_LIMITS.batchWeight)
  }
  const whole = [...joined(parts)]
  expect(whole.flatMap(({ results }) => results)).toEqual(items.slice(0, 2).map(({ item }) => item))
  expect(whole.flatMap(({ cells }) => cells.map(([name]) => name))).toEqual(['=a', '=b', '=c'])
})
