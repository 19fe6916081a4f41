/**
 * Wraps comments at the formatter's width, which breaks code but leaves comments alone:
 *
 *   node scripts/wrap-comments.ts            every comment with a line that is too wide
 *
 * Paragraphs are filled anew. Lists, aligned columns and examples keep their lines and are only broken where
 * one of them is too wide.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Not the source: what is installed, built, stored or hidden. */
const LEFT_OUT = new Set(['node_modules', 'dist', 'coverage'])

/** All files of the project whose names match, by their paths from its root. */
export function projectFiles(names: RegExp, folder = '.'): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (entry.name.startsWith('.') || LEFT_OUT.has(entry.name)) return []
    const path = posix.join(folder, entry.name)
    if (entry.isDirectory()) return projectFiles(names, path)
    return names.test(entry.name) ? [path] : []
  })
}

export function lineWidth(): number {
  const { formatter } = JSON.parse(readFileSync('biome.json', 'utf8')) as { formatter: { lineWidth: number } }
  return formatter.lineWidth
}

/** The text with every comment wrapped that has a line wider than this. */
export function wrapComments(text: string, width: number): string {
  const lines = text.split('\n')
  const wrapped: string[] = []
  for (let at = 0; at < lines.length; ) {
    const comment = commentAt(lines, at)
    const raw = lines.slice(at, comment?.end ?? at + 1)
    const isWide = raw.some(line => [...line].length > width)
    wrapped.push(...(comment !== null && isWide ? render(comment, width) : raw))
    at += raw.length
  }
  return wrapped.join('\n')
}

// ---------------------------------------------------------------- reading

interface Comment {
  readonly kind: 'block' | 'lines'
  readonly indent: string
  /** Without what marks them as a comment. */
  readonly content: readonly string[]
  /** The first line after it. */
  readonly end: number
}

const DIRECTIVE = /^\s*\/\/ (?:-{4}|biome-ignore|@ts-)/

/** The comment that begins with this line and has its lines for itself. */
function commentAt(lines: readonly string[], at: number): Comment | null {
  const line = lines[at]!
  const indent = /^\s*/.exec(line)![0]
  if (/^\s*\/\*/.test(line)) return blockAt(lines, at, indent)
  if (!isLineComment(line)) return null
  let end = at
  while (end < lines.length && isLineComment(lines[end]!) && /^\s*/.exec(lines[end]!)![0] === indent) end++
  const content = lines.slice(at, end).map(each => each.trim().replace(/^\/\/ ?/, ''))
  return { kind: 'lines', indent, content, end }
}

const isLineComment = (line: string): boolean => /^\s*\/\/(?!\/)/.test(line) && !DIRECTIVE.test(line)

function blockAt(lines: readonly string[], at: number, indent: string): Comment | null {
  const last = lines.findIndex((line, index) => index >= at && line.includes('*/'))
  if (last === -1 || !/\*\/\s*$/.test(lines[last]!)) return null
  const content = lines.slice(at, last + 1).map((line, index) => {
    const text = line.trim().replace(/\s*\*\/$/, '')
    return index === 0 ? text.replace(/^\/\*\*? ?/, '') : text.replace(/^\* ?/, '')
  })
  while (content[0] === '') content.shift()
  while (content.at(-1) === '') content.pop()
  return { kind: 'block', indent, content, end: last + 1 }
}

// ---------------------------------------------------------------- wrapping

const ITEM = /^\s*(?:[-*] |\d+\. )/
/** Two columns: a name, and what there is to say about it. */
const COLUMNS = /^( {2,}\S+(?: \S+)* {2,})(\S.*)$/

/** Joins the lines of each paragraph and each item; all others stay lines of their own. */
function paragraphs(content: readonly string[]): string[] {
  const joined: string[] = []
  let isExample = false
  for (const [index, line] of content.entries()) {
    const before = content[index - 1] ?? ''
    const isContinued = /^\s{2,}/.test(line) && !/^\s{2,}/.test(before) && !ITEM.test(before)
    const begins =
      isExample ||
      line === '' ||
      before === '' ||
      ITEM.test(line) ||
      COLUMNS.test(line) ||
      line.startsWith('@')
    const leavesList = /^\S/.test(line) && /^\s/.test(before)
    if (begins || leavesList || isContinued) joined.push(line)
    else joined.push(`${joined.pop()!} ${line.trim()}`)
    isExample ||= line.startsWith('@example')
  }
  return joined
}

function fill(paragraph: string, width: number): string[] {
  const [, start, text] = COLUMNS.exec(paragraph) ?? /^(\s*(?:[-*] |\d+\. )?)(.*)$/.exec(paragraph)!
  const lines: string[] = []
  let line = start!
  for (const word of text!.split(' ')) {
    const isFirst = line.trim() === '' || line === start
    const longer = isFirst ? line + word : `${line} ${word}`
    if (!isFirst && [...longer].length > width) {
      lines.push(line)
      line = ' '.repeat(start!.length) + word
    } else line = longer
  }
  return [...lines, line]
}

function render({ kind, indent, content }: Comment, width: number): string[] {
  const filled = paragraphs(content).flatMap(paragraph => fill(paragraph, width - indent.length - 3))
  if (kind === 'lines') return filled.map(line => `${indent}// ${line}`.trimEnd())
  const single = `${indent}/** ${filled[0]} */`
  if (filled.length === 1 && [...single].length <= width) return [single]
  return [`${indent}/**`, ...filled.map(line => `${indent} * ${line}`.trimEnd()), `${indent} */`]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const width = lineWidth()
  for (const file of projectFiles(/\.(?:tsx?|mjs)$/)) {
    const text = readFileSync(file, 'utf8')
    const wrapped = wrapComments(text, width)
    if (wrapped !== text) writeFileSync(file, wrapped)
  }
}
