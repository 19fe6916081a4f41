/** How the pages are written: their width. */
import { describe, expect, it } from 'vitest'
import { allPages, type Page, proseOf } from './markdown.ts'

const WIDTH = 110

/** A table is as wide as its cells, and a link or a piece of code cannot be broken. */
function tooWide({ path, text }: Page): string[] {
  return proseOf(text)
    .split('\n')
    .filter(line => line.length > WIDTH && !line.startsWith('|') && !line.startsWith('!['))
    .filter(line => line.replaceAll(/\]\([^)]*\)|`[^`]*`/g, '').length > WIDTH)
    .map(line => `${path}: ${line}`)
}

describe.each(allPages())('$path', page => {
  it(`has lines of at most ${WIDTH} columns`, () => {
    expect(tooWide(page)).toEqual([])
  })
})

describe('these tests', () => {
  it('find a line that is too wide', () => {
    const text = `${'word '.repeat(30)}\n| ${'cell '.repeat(30)} |\nshort [a](${'x'.repeat(120)})`
    expect(tooWide({ path: 'docs/spoilt.md', text })).toHaveLength(1)
  })
})
