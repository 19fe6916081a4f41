/** docs/regressions.md: each point has its tests, and all tests and mutants that it names are there. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mutants } from '../mutants/catalogue.ts'
import { pageAt, ROOT } from './markdown.ts'

interface NamedTest {
  readonly file: string
  readonly title: string
}

interface Point {
  readonly section: string
  /** How it begins. */
  readonly what: string
  readonly tests: readonly NamedTest[]
  readonly mutants: readonly string[]
}

const SECTIONS = [
  'Fail-stop',
  'Birth',
  'Outcomes',
  'Bytes',
  'Silence and time',
  'Strangers',
  'Maekawa',
  'The explorer',
]

/** Their judges are no part of the service, and the catalogue edits nothing else. */
const WITHOUT_MUTANTS = ['The explorer']

/** Parts of the birth that people call by their letters. */
const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

/** A point is an item of a list; its tests, and then its mutants, are items below it. */
function pointsOf(text: string): Point[] {
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap(part => {
      const section = part.slice(0, part.indexOf('\n'))
      // What stands behind a list is not indented.
      const items = part.split(/^- /m).slice(1)
      return items.map(item => pointOf(section, item.split(/\n\n(?! )/)[0]!.replaceAll(/\s+/g, ' ')))
    })
}

function pointOf(section: string, item: string): Point {
  const [what, ...below] = item.split(/ - (?=\[`|Mutants: )/)
  const named = below.filter(line => !line.startsWith('Mutants: '))
  const ids = below.filter(line => line.startsWith('Mutants: ')).flatMap(idsIn)
  return { section, what: what!.slice(0, 60), tests: named.map(testIn), mutants: ids }
}

function testIn(line: string): NamedTest {
  const [, name, file, title] = /^\[`([^`]+)`\]\(\.\.\/(test\/[^)]+)\): "([^"]+)" ?$/.exec(line) ?? []
  if (title === undefined || file !== name) throw new Error(`not a test: ${line}`)
  return { file: file!, title }
}

function idsIn(line: string): string[] {
  const ids = /^Mutants: (`[\w-]+`(?:, `[\w-]+`)*) ?$/.exec(line)?.[1]
  if (ids === undefined) throw new Error(`not mutants: ${line}`)
  return ids.split(', ').map(id => id.slice(1, -1))
}

/** What stands in a file as the title of a test, or of a group of tests. */
function titlesIn(source: string): Set<string> {
  const literal = /\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`),\s/.source
  const own = new RegExp(String.raw`^\s*(?:it|test|describe)(?:\.(?:skip|only))?\(${literal}`, 'gm')
  // Of `it.each([…])(title, …)`.
  const ofEach = new RegExp(String.raw`\)\(${literal}`, 'g')
  const found = [own, ofEach].flatMap(pattern => [...source.matchAll(pattern)])
  return new Set(found.map(([, single, double, template]) => (single ?? double ?? template)!))
}

const missingTests = (points: readonly Point[]): string[] =>
  points
    .flatMap(({ tests }) => tests)
    .filter(({ file, title }) => !existsSync(join(ROOT, file)) || !titlesIn(pageAt(file).text).has(title))
    .map(({ file, title }) => `${file}: ${title}`)

const catalogue = new Set(mutants.map(({ id }) => id))

const unknownMutants = (points: readonly Point[]): string[] =>
  points.flatMap(point => point.mutants).filter(id => !catalogue.has(id))

const withoutTests = (points: readonly Point[]): string[] =>
  points.filter(({ tests }) => tests.length === 0).map(({ what }) => what)

const points = pointsOf(pageAt('docs/regressions.md').text)

describe('docs/regressions.md', () => {
  it('has its sections, each with points', () => {
    expect([...new Set(points.map(({ section }) => section))]).toEqual(SECTIONS)
  })

  it('has all parts of the birth', () => {
    const letters = points.flatMap(({ what }) => /^\*\*\((\w)\)\*\*/.exec(what)?.[1] ?? [])
    expect(letters).toEqual(LETTERS)
  })

  it('has a test for each point', () => {
    expect(withoutTests(points)).toEqual([])
  })

  it('names tests that are there, by their titles', () => {
    expect(missingTests(points)).toEqual([])
  })

  it('names mutants of the catalogue, in each section that can have some', () => {
    expect(unknownMutants(points)).toEqual([])
    const without = SECTIONS.filter(name => points.every(one => one.section !== name || !one.mutants.length))
    expect(without).toEqual(WITHOUT_MUTANTS)
  })

  it('names nothing twice in one point', () => {
    for (const { tests, mutants: ids, what } of points) {
      const names = [...tests.map(({ file, title }) => `${file}: ${title}`), ...ids]
      expect(new Set(names).size, what).toBe(names.length)
    }
  })
})

describe('these tests', () => {
  const link = (name: string) => `[\`test/${name}\`](../test/${name})`
  const own = `  - ${link('readme/regressions.test.ts')}: "find what is not there"\n`
  const parse = (below: string) => pointsOf(`# Page\n\n## A\n\n- What went\n  wrong.\n${below}\nThe end.\n`)

  it('read a point', () => {
    expect(parse(`${own}  - Mutants: \`weight-of-log\`,\n    \`pages-one\`\n`)).toEqual([
      {
        ...{ section: 'A', what: 'What went wrong.', mutants: ['weight-of-log', 'pages-one'] },
        tests: [{ file: 'test/readme/regressions.test.ts', title: 'find what is not there' }],
      },
    ])
  })

  it('find what is not there', () => {
    expect(withoutTests(parse('  - Mutants: `pages-one`\n'))).toEqual(['What went wrong.'])
    expect(missingTests(parse(own))).toEqual([])
    const other = own.replace('what is', 'what was')
    expect(missingTests(parse(other))).toEqual(['test/readme/regressions.test.ts: find what was not there'])
    expect(missingTests(parse(own.replaceAll('regressions.test', 'gone.test')))).toHaveLength(1)
    expect(unknownMutants(parse(`${own}  - Mutants: \`pages-two\`\n`))).toEqual(['pages-two'])
  })

  it.each([
    `  - ${link('readme/regressions.test.ts')}: no title\n`,
    own.replace('readme/', 'other/'),
    '  - Mutants: pages-one\n',
  ])('cannot read %j', below => {
    expect(() => parse(below)).toThrow('not ')
  })

  it('know titles wherever they stand', () => {
    const source = `it('one', () => {})\n  it.each([\n    [1],\n  ])(\n    "two's",\n    async () => {},\n  )\ncall('three', 3)\n`
    expect([...titlesIn(source)]).toEqual(['one', "two's"])
  })
})
