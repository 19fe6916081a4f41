/** Every block of code on every page has somebody who checks it, or a reason why nobody can. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, blocksOf, type Page, ROOT } from './markdown.ts'
import { CANNOT_RUN, CHECKED_ELSEWHERE, isCheckedElsewhere, isNamed, keptCommandsOf } from './registry.ts'

/**
 * Which tests check the blocks of a language: commands.test.ts and scripts.test.ts, snippets.test.ts,
 * data.test.ts.
 */
const LANGUAGES = ['sh', 'ts', 'json', 'toml', 'text']

function unchecked(page: Page): string[] {
  return blocksOf(page.text).flatMap(block => {
    const where = `${page.path}:${block.line}`
    if (isCheckedElsewhere(page, block)) return []
    if (!LANGUAGES.includes(block.language)) return [`${where} nobody checks "${block.language}"`]
    if (block.language !== 'sh') return []
    return keptCommandsOf(page, block)
      .filter(({ keeper }) => keeper === null)
      .map(({ command, line }) => `${page.path}:${line} nobody checks: ${command}`)
  })
}

const pages = allPages()

describe('every block of code', () => {
  it.each(pages)('of $path is checked', page => {
    expect(unchecked(page)).toEqual([])
  })

  it('that another test runs is there, and so is the test', () => {
    for (const named of CHECKED_ELSEWHERE) {
      expect(existsSync(join(ROOT, named.by))).toBe(true)
      expect(pages.some(page => blocksOf(page.text).some(({ text }) => isNamed(named, page, text)))).toBe(
        true,
      )
    }
  })

  it('that nobody can run is there, with a reason', () => {
    for (const named of CANNOT_RUN) {
      expect(named.why).toMatch(/\.$/)
      expect(pages.some(page => blocksOf(page.text).some(({ text }) => isNamed(named, page, text)))).toBe(
        true,
      )
    }
  })
})

describe('these tests', () => {
  const page = (text: string): Page => ({ path: 'docs/spoilt.md', text })

  it('find a language that nobody checks', () => {
    expect(unchecked(page('```python\nprint(1)\n```'))).toEqual(['docs/spoilt.md:2 nobody checks "python"'])
    expect(unchecked(page('```\nwhat is it?\n```'))).toHaveLength(1)
  })

  it('find a command that nobody checks', () => {
    expect(unchecked(page('```sh\nnpm start\nrm -rf everything\n```'))).toEqual([
      'docs/spoilt.md:3 nobody checks: rm -rf everything',
    ])
  })
})
