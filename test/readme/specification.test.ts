/**
 * docs/specification.md defines every rule that the code, the tests and the pages cite by its id, and each of
 * its rules is cited somewhere: a rule that nobody refers to is either forgotten or not kept.
 */
import { describe, expect, it } from 'vitest'
import { allPages, type Page, proseOf } from './markdown.ts'
import { citedIn, definitionsIn, NO_RULES, sourcesIn, specifiedRules } from './rules.ts'

const FOLDERS = ['shared', 'worker', 'test']

const undefinedIn = (pages: readonly Page[], defined: ReadonlySet<string>): string[] =>
  pages.flatMap(({ path, text }) =>
    [...citedIn(text)].filter(id => !defined.has(id)).map(id => `${path} cites ${id}`),
  )

/** The titles of tests, and of groups of tests. */
const titlesOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:it|describe)(?:\.each\([\s\S]*?\))?\(\s*(['"`])(.*?)\1/g)].map(
    ([, , title]) => title!,
  )

/** The ids that a title begins with. */
const idsBefore = (title: string): string[] => [
  ...citedIn(/^(?:[A-Z]\d{1,2}(?: to |[ ,:])*)*/.exec(title)![0]),
]

describe('docs/specification.md', () => {
  const definitions = specifiedRules()
  const defined = new Set(definitions)

  it('defines each rule once', () => {
    expect(defined.size).toBeGreaterThan(100)
    expect(definitions.filter((id, place) => definitions.indexOf(id) !== place)).toEqual([])
  })

  it.each(FOLDERS)('defines every rule that %s cites', folder => {
    expect(undefinedIn(sourcesIn(folder), defined)).toEqual([])
  })

  it('defines every rule that a page cites', () => {
    const pages = allPages().map(({ path, text }) => ({ path, text: proseOf(text) }))
    expect(undefinedIn(pages, defined)).toEqual([])
  })

  it('defines no rule that no file cites', () => {
    const cited = new Set(FOLDERS.flatMap(sourcesIn).flatMap(({ text }) => [...citedIn(text)]))
    expect(definitions.filter(id => !cited.has(id))).toEqual([])
  })

  it.each(['A', 'B', 'C', 'D', 'G', 'M', 'Q', 'T', 'W'])(
    'has a test for each rule %s, under its id',
    family => {
      const tested = new Set(
        sourcesIn('test')
          .flatMap(({ text }) => titlesOf(text))
          .flatMap(idsBefore),
      )
      const rules = definitions.filter(id => id.startsWith(family))
      expect(rules.filter(id => !tested.has(id))).toEqual([])
    },
  )

  it('has no other page that defines a rule', () => {
    const others = allPages().filter(({ path }) => path !== 'docs/specification.md')
    expect(others.flatMap(({ path, text }) => definitionsIn(text).map(id => `${path} ${id}`))).toEqual([])
  })

  it('is where every file looks: none says "rule 4" of a list that may change', () => {
    const numbered = FOLDERS.flatMap(sourcesIn).filter(({ text }) => /\brules? \d/i.test(text))
    expect(numbered.map(({ path }) => path)).toEqual([])
  })
})

describe('these tests', () => {
  const id = (number: number): string => `Y${number}`

  it('find what is cited, and all of a range', () => {
    expect([...citedIn(`(trap ${id(4)}), ${id(7)}-${id(9)}; V8 is none`)].sort()).toEqual(
      [4, 7, 8, 9].map(id),
    )
    expect(citedIn(`${id(1)} to ${id(3)}`).size).toBe(3)
  })

  it('find what is defined', () => {
    expect(definitionsIn(`| ${id(1)} | a trap | a rule |\n| word ${id(2)} | no |`)).toEqual([id(1)])
  })

  it('find the rules that a test is about', () => {
    const text = `it('${id(1)} ${id(2)} one', a)\nit.each([3, (4)])('${id(3)}: %i', b)\nit('not ${id(4)}', c)`
    expect(titlesOf(text).flatMap(idsBefore)).toEqual([1, 2, 3].map(id))
  })

  it('find a rule that is not defined, and say where', () => {
    const page = { path: 'shared/a.ts', text: `${id(1)} ${id(2)}` }
    expect(undefinedIn([page], new Set([id(1)]))).toEqual([`shared/a.ts cites ${id(2)}`])
  })

  it('have a reason for each lookalike, and each is still there', () => {
    const texts = [...FOLDERS.flatMap(sourcesIn), ...allPages()]
    for (const [pattern, reason] of NO_RULES) {
      expect(reason).toMatch(/\.$/)
      expect(texts.some(({ text }) => pattern.test(text))).toBe(true)
    }
  })
})
