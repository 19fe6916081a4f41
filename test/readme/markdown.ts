/** What the tests of the documentation read out of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Page {
  /** From the project's root. */
  readonly path: string
  readonly text: string
}

export interface Block {
  readonly language: string
  readonly text: string
  /** The number of the block's first line in its page. */
  readonly line: number
}

export const pageAt = (path: string): Page => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })

/** Every page of the project: in its root, in `docs/`, and of each example. The README comes first. */
export function allPages(): Page[] {
  const pagesIn = (folder: string): string[] =>
    readdirSync(join(ROOT, folder))
      .filter(name => name.endsWith('.md'))
      .map(name => join(folder, name))
  const examples = readdirSync(join(ROOT, 'examples')).flatMap(name => pagesIn(join('examples', name)))
  const others = [...pagesIn(''), ...pagesIn('docs'), ...examples].filter(path => path !== 'README.md')
  return ['README.md', ...others].map(path => pageAt(path.replaceAll('\\', '/')))
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let open: { language: string; from: number } | null = null
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    const fence = /^```(\S*)$/.exec(line)
    if (fence === null) continue
    if (open === null) open = { language: fence[1]!, from: index + 1 }
    else {
      const { language, from } = open
      blocks.push({ language, text: lines.slice(from, index).join('\n'), line: from + 1 })
      open = null
    }
  }
  if (open !== null) throw new Error(`a block that begins in line ${open.from} has no end`)
  return blocks
}

/** The text without its blocks: what stands in them is no link. */
export const proseOf = (text: string): string => text.replace(/^```.*?^```$/gms, '')

export interface Command {
  readonly command: string
  /** What the page says comes of it: a comment of JSON right below. */
  readonly answer: unknown
  readonly line: number
}

/** The commands of a shell block, each with its continued lines. */
export function commandsOf(block: Block): Command[] {
  const commands: { command: string; answer: unknown; line: number }[] = []
  let continued = false
  for (const [index, line] of block.text.split('\n').entries()) {
    if (continued) commands.at(-1)!.command += `\n${line}`
    else if (/^# [{[]/.test(line)) commands.at(-1)!.answer = JSON.parse(line.slice(2))
    else if (line.trim() !== '' && !line.startsWith('#')) {
      commands.push({ command: line.trim(), answer: undefined, line: block.line + index })
    } else continue
    continued = line.endsWith('\\')
  }
  return commands
}

/** Where two JSON values differ in their members or types; booleans also in their value. */
export function differencesOfShape(documented: unknown, actual: unknown, path = '$'): string[] {
  const [wanted, found] = [typeOf(documented), typeOf(actual)]
  if (wanted !== found) return [`${path} is ${found}, not ${wanted}`]
  if (wanted !== 'array' && wanted !== 'object') return []
  const [left, right] = [Object(documented), Object(actual)] as { [key: string]: unknown }[]
  const missing = Object.keys(left!).filter(key => !(key in right!))
  const added = Object.keys(right!).filter(key => !(key in left!))
  return [
    ...missing.map(key => `${path}.${key} is missing`),
    ...added.map(key => `${path}.${key} is not documented`),
    ...Object.keys(left!)
      .filter(key => key in right!)
      .flatMap(key => differencesOfShape(left![key], right![key], `${path}.${key}`)),
  ]
}

function typeOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'array' : typeof value
}
