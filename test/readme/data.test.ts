/** Blocks of JSON, TOML and plain text: each is read, and compared with what the code takes or prints. */
import { describe, expect, it } from 'vitest'
import { parseKeys } from '../../worker/router/keys.ts'
import { allPages, type Block, blocksOf, commandsOf, pageAt } from './markdown.ts'
import { isCheckedElsewhere, runnable } from './registry.ts'
import { runCommands } from './shell.ts'

const blocks = (language: string): (Block & { readonly path: string })[] =>
  allPages().flatMap(page =>
    blocksOf(page.text)
      .filter(block => block.language === language && !isCheckedElsewhere(page, block))
      .map(block => ({ ...block, path: page.path })),
  )

/** Hashes and keys are shortened on a page. */
const lengthened = (text: string): string => text.replaceAll(/[0-9a-f]{8}…/g, '0'.repeat(64))

describe('JSON', () => {
  /** Who takes each block; a block that nobody takes is a mistake. */
  const TAKEN: { readonly [path: string]: (text: string) => void } = {
    'docs/keys.md': text => {
      expect(parseKeys(text).type).toBe('keys')
      expect(parseKeys(text.replace('"locks"', '"lock"')).type).toBe('closed')
    },
  }

  it.each(blocks('json'))('$path, line $line', ({ path, text }) => {
    const whole = lengthened(text)
    JSON.parse(whole)
    expect(Object.keys(TAKEN)).toContain(path)
    TAKEN[path]!(whole)
  })
})

describe('TOML', () => {
  /**
   * The settings of the service itself are known to work, so a page may show those, and no others, except
   * what another Worker is called, and where its assets are.
   */
  const known = pageAt('wrangler.toml').text.split('\n')

  it.each(blocks('toml'))('$path, line $line, is what the service itself has', ({ text }) => {
    const lines = text.split('\n').filter(line => !/^$|^#|^(name|main|directory) = "/.test(line))
    expect(lines.filter(line => !known.includes(line))).toEqual([])
    if (text.startsWith('name = ')) expect(lines).toContain('new_sqlite_classes = ["BatonParticipant"]')
  })
})

describe('plain text', () => {
  /** What a command prints, without what is different each time. */
  const shape = (text: string): string =>
    text
      .replaceAll(/baton_[\w-]+…?/g, 'baton_')
      .replaceAll(/"hash":"[0-9a-f]+…?"/g, '"hash":""')
      .trim()

  it.each(blocks('text'))(
    '$path, line $line, is what the command above it prints',
    async ({ path, line, text }) => {
      const above = blocksOf(pageAt(path).text).filter(block => block.language === 'sh' && block.line < line)
      const commands = commandsOf(above.at(-1)!).map(({ command }) => runnable(command))
      const ran = await runCommands(commands)
      expect(shape(text)).toBe(shape(ran.at(-1)!.output))
    },
  )
})
