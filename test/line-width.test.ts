/**
 * No line is wider than the formatter's width, so that a page of source or prose reads without scrolling. The
 * formatter breaks code but neither comments nor strings; this test holds what it leaves alone, and
 * scripts/wrap-comments.ts mends comments.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lineWidth, projectFiles, wrapComments } from '../scripts/wrap-comments.ts'

const WIDTH = lineWidth()
const NAMES = /\.(?:tsx?|mjs|md)$/

/** Files with text in templates of several lines, where a line break would be part of the text. */
const LONG_TEMPLATES: ReadonlySet<string> = new Set([
  'bench/count/main.ts',
  'bench/options.ts',
  'bench/report/chart.ts',
  'bench/tables/row.ts',
  'test/chaos/main.ts',
  'test/fuzz/main.ts',
  'test/protocols/maekawa/report-sets.ts',
  'cli/commands/config.ts',
  'cli/commands/history.ts',
  'cli/commands/run.ts',
  'cli/commands/status.ts',
  'test/simulator/command-line.ts',
  'worker/router/pages/style.ts',
])

/** Nobody can break an address. */
const ADDRESS = /https?:\/\/\S+|\]\([^)]*\)/g

const COMMENT = /^\s*(?:\/\/|\/\*|\*)|\s\/\/ [^'"`]*$/
/**
 * The formatter breaks every other line of code: one that is too wide has a string, a template or a pattern.
 */
const LITERAL = /['"`]|\/.+\//
/** The title of a test is prose, and can be said in fewer words. */
const TITLE = /^\s*(?:it|test|describe)(?:\.\w+)*\(['"`]/

const isWide = (line: string): boolean => [...line].length > WIDTH

function wideLinesOfSource(file: string, text: string): number[] {
  return numbersOf(text, line => {
    if (COMMENT.test(line)) return isWide(line.replace(ADDRESS, ''))
    if (TITLE.test(line)) return isWide(line)
    return isWide(line) && !LITERAL.test(line) && !LONG_TEMPLATES.has(file)
  })
}

/** Rows of tables cannot be broken, and blocks of code are as wide as what they show. */
function wideLinesOfMarkdown(text: string): number[] {
  let isInBlock = false
  return numbersOf(text, line => {
    const isFence = /^\s*```/.test(line)
    if (isFence) isInBlock = !isInBlock
    const isPart = isFence || isInBlock || /^\s*\|/.test(line)
    return !isPart && isWide(line.replace(ADDRESS, ''))
  })
}

function numbersOf(text: string, isBad: (line: string) => boolean): number[] {
  return text.split('\n').flatMap((line, index) => (isBad(line) ? [index + 1] : []))
}

const wideLines = (file: string, text: string): number[] =>
  file.endsWith('.md') ? wideLinesOfMarkdown(text) : wideLinesOfSource(file, text)

describe(`lines of more than ${WIDTH} characters`, () => {
  it('do not exist', () => {
    const held = projectFiles(NAMES)
    const wide = held.flatMap(file =>
      wideLines(file, readFileSync(file, 'utf8')).map(line => `${file}:${line}`),
    )
    expect(wide).toEqual([])
  })

  const long = (text: string): string => text.padEnd(WIDTH + 1, 'x')

  it.each([
    ['a.ts', long('// a comment ')],
    ['a.ts', long('  /** A comment of one line ')],
    ['a.ts', `/**\n${long(' * One of several lines ')}\n */`],
    ['a.ts', long("  it('a title ")],
    ['a.ts', long('  const name = anotherName + ')],
    ['a.mjs', long("const name = 'value' // why ")],
    ['a.md', long('A sentence ')],
    ['a.md', `\`\`\`sh\nls\n\`\`\`\n${long('- an item after a block ')}`],
  ])('would be found in %s: %s', (file, text) => {
    expect(wideLines(file, text)).toHaveLength(1)
  })

  it.each([
    ['a.ts', long("  const text = '")],
    ['a.ts', long('// see https://example.com/')],
    ['a.md', long('| a cell | ')],
    ['a.md', `\`\`\`sh\n${long('curl ')}\n\`\`\``],
    ['a.md', `${long('[a page](page.md')})`],
  ])('are allowed where they cannot be broken, in %s: %s', (file, text) => {
    expect(wideLines(file, text)).toEqual([])
  })

  it('are allowed in templates of the listed files', () => {
    const [file] = LONG_TEMPLATES
    expect(wideLines(file!, long('text '))).toEqual([])
    expect(wideLines('a.ts', long('text '))).toEqual([1])
  })
})

describe('wrapping comments', () => {
  const wrapped = (text: string): string[] => wrapComments(text, 30).split('\n')

  it('fills paragraphs, and makes a block of a comment of one line', () => {
    expect(wrapped('  /** A sentence that is too long for it. */\n  code()')).toEqual([
      '  /**',
      '   * A sentence that is too',
      '   * long for it.',
      '   */',
      '  code()',
    ])
    expect(wrapped('// A sentence that is too long for it.\n// Another one.')).toEqual([
      '// A sentence that is too long',
      '// for it. Another one.',
    ])
  })

  it('keeps lists, columns and examples', () => {
    const text = [
      '/**',
      ' * A list of which one item is too long:',
      ' *   - an item that is too long for it;',
      ' *   - another.',
      ' *   name   what there is to say',
      ' * The end.',
      ' *',
      ' * @example',
      ' * if (a) {',
      ' *   b()',
      ' * }',
      ' */',
    ]
    expect(wrapped(text.join('\n'))).toEqual([
      '/**',
      ' * A list of which one item is',
      ' * too long:',
      ' *   - an item that is too',
      ' *     long for it;',
      ' *   - another.',
      ' *   name   what there is to',
      ' *          say',
      ' * The end.',
      ...text.slice(6),
    ])
  })

  it.each([
    '/** Short enough. */',
    '// biome-ignore lint/suspicious/noExplicitAny: a reason that is too long',
    "const text = 'a string that is too long' // and more",
    '/* of code */ const name = anotherName + yetAnother',
  ])('leaves alone: %s', text => {
    expect(wrapped(text)).toEqual([text])
  })
})
