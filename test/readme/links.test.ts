/** What the documentation refers to is there: files and headings. scripts.test.ts looks at commands. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, type Page, proseOf, ROOT } from './markdown.ts'

const MUST_BE_LINKED = [
  'docs/library.md',
  'docs/page.md',
  'docs/protocol.md',
  'docs/specification.md',
  'docs/writing-an-interpreter.md',
  'docs/evidence.md',
  'docs/findings.md',
  'docs/regressions.md',
  'docs/keys.md',
  'docs/deploy.md',
  'docs/limits.md',
  'docs/glossary.md',
  'docs/security.md',
  'docs/benchmark.md',
  'docs/which-protocol.md',
  'examples/limited-stock',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'LICENSE',
]

const linksOf = ({ text }: Page): string[] =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(match => match[1]!)

const isOutside = (link: string): boolean => /^[a-z]+:/.test(link)

/** As GitHub makes them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(match =>
    match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

function brokenLinks(page: Page): string[] {
  return linksOf(page)
    .filter(link => !isOutside(link))
    .filter(link => {
      const [path, anchor] = link.split('#') as [string, string | undefined]
      const file = path === '' ? page.path : join(dirname(page.path), path)
      if (!existsSync(join(ROOT, file))) return true
      if (anchor === undefined) return false
      const text = file === page.path ? page.text : readFileSync(join(ROOT, file), 'utf8')
      return !anchorsOf(text).includes(anchor)
    })
}

/** Files and folders that are named in code, as in `worker/local/start.ts`. */
function missingFiles({ text }: Page): string[] {
  const named = [
    ...proseOf(text).matchAll(
      /`((?:worker|shared|client|cli|page|test|bench|docs|examples)\/[\w./-]*[\w/])(?::\d+)?`/g,
    ),
  ]
  return named.map(match => match[1]!).filter(path => !existsSync(join(ROOT, path)))
}

describe.each(allPages())('$path', page => {
  it('links to what exists', () => {
    expect(brokenLinks(page)).toEqual([])
  })

  it('names files that exist', () => {
    expect(missingFiles(page)).toEqual([])
  })
})

describe('README.md', () => {
  const readme = allPages()[0]!

  it('links to the pages that a reader needs', () => {
    const links = linksOf(readme).map(link => link.replace(/#.*$/, '').replace(/\/(README\.md)?$/, ''))
    for (const page of MUST_BE_LINKED) expect(links).toContain(page)
  })

  it('begins with the two commands', () => {
    const [start, test] = ['npm start', 'npm test'].map(command => readme.text.indexOf(command))
    expect(start).toBeGreaterThan(0)
    expect(test).toBeGreaterThan(start!)
    expect(readme.text.slice(0, test).split('\n').length).toBeLessThan(12)
  })
})

describe('these tests', () => {
  const page = (text: string): Page => ({ path: 'docs/spoilt.md', text })

  it('find a link to nowhere', () => {
    expect(brokenLinks(page('[a](keys.md) [b](key.md) [c](https://example.com/x)'))).toEqual(['key.md'])
    expect(brokenLinks(page('[a](../README.md#deploy) [b](../README.md#depoly)'))).toEqual([
      '../README.md#depoly',
    ])
    expect(brokenLinks(page('```sh\n[a](key.md)\n```'))).toEqual([])
  })

  it('find a file that is not there', () => {
    expect(missingFiles(page('`worker/index.ts` and `worker/indexes.ts`'))).toEqual(['worker/indexes.ts'])
  })
})
