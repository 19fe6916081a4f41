/**
 * Which files of tests are likely to notice a mutant that nobody has judged before: those that use the file
 * that it changes, have its name, or name its rule. They are asked before all others, which decides nothing
 * and saves most of the time.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './catalogue.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** `R1` of `R1 REPLYs are a set`; other names of traps are words that occur everywhere. */
const RULE = /^[A-Z]\d+\b/

const files = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
  .map(path => `test/${path.replaceAll('\\', '/')}`)
  .filter(path => path.endsWith('.test.ts'))

const texts = new Map<string, string>()

function textOf(file: string): string {
  const known = texts.get(file) ?? readFileSync(`${ROOT}${file}`, 'utf8')
  texts.set(file, known)
  return known
}

/** `suites`: folders and files, as vitest takes them. */
export function likelyKillers({ file, trap }: Mutant, suites: readonly string[]): string[] {
  const [rule] = RULE.exec(trap) ?? []
  const named = rule === undefined ? null : new RegExp(`\\b${rule}\\b`)
  const name = basename(file, '.ts')
  return files.filter(path => {
    if (!suites.some(suite => path.startsWith(suite))) return false
    return basename(path).startsWith(name) || textOf(path).includes(`/${file}'`) || named?.test(textOf(path))
  })
}
