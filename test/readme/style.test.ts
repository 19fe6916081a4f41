/** How the pages are written: their width, and that what the code cites is defined on one of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, type Page, pageAt, proseOf, ROOT } from './markdown.ts'

const WIDTH = 110

/** A table is as wide as its cells, and a link or a piece of code cannot be broken. */
function tooWide({ path, text }: Page): string[] {
  return proseOf(text)
    .split('\n')
    .filter(line => line.length > WIDTH && !line.startsWith('|') && !line.startsWith('!['))
    .filter(line => line.replaceAll(/\]\([^)]*\)|`[^`]*`/g, '').length > WIDTH)
    .map(line => `${path}: ${line}`)
}

/** Traps (`A1` to `D6`), rules (`M1` to `M12`) and invariants (`I1` to `I20`) that the code cites. */
function citedIn(folder: string): Set<string> {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  const texts = files
    .filter(file => file.endsWith('.ts'))
    .map(file => readFileSync(join(ROOT, folder, file), 'utf8'))
  return new Set(texts.flatMap(text => [...text.matchAll(/\b(?:[A-DM]1?\d|I[12]?\d)\b/g)].map(([id]) => id)))
}

const definedIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/^\| ([A-DIM]\d+) \| /gm)].map(([, id]) => id!))

describe.each(allPages())('$path', page => {
  it(`has lines of at most ${WIDTH} columns`, () => {
    expect(tooWide(page)).toEqual([])
  })
})

describe('docs/traps.md', () => {
  const defined = definedIn(pageAt('docs/traps.md').text)
  /** Not a trap: an id that the code says does not exist. */
  const NONE = 'B6'

  it.each(['shared/protocols', 'test/protocols', 'test/mutants', 'test/simulator'])(
    'defines every trap and invariant that %s cites',
    folder => {
      const cited = [...citedIn(folder)].filter(id => id !== NONE)
      expect(cited.length).toBeGreaterThan(5)
      expect(cited.filter(id => !defined.has(id))).toEqual([])
    },
  )
})

describe('these tests', () => {
  it('find a line that is too wide', () => {
    const text = `${'word '.repeat(30)}\n| ${'cell '.repeat(30)} |\nshort [a](${'x'.repeat(120)})`
    expect(tooWide({ path: 'docs/spoilt.md', text })).toHaveLength(1)
  })

  it('find what is defined', () => {
    expect([...definedIn('| A1 | a trap | a rule |\n| word A2 | no |')]).toEqual(['A1'])
  })
})
