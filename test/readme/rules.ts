/** Rules by their ids: where they are defined (docs/specification.md), and where they are cited. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Page, pageAt, ROOT } from './markdown.ts'

/** What looks like an id and is none: the text around it, and why. */
export const NO_RULES: readonly (readonly [RegExp, string])[] = [
  [/\bV8\b/, 'The engine of Node and workerd.'],
  [/<path d="M6 /, 'A picture.'],
  [/-O2\b/, 'An option of the compiler.'],
  [/[A-Z]-?Z0-9/, 'A class of characters.'],
  [/%[0-9A-F]{2}/, 'A byte of an address.'],
  [/'W10'/, 'A cursor.'],
  [/\bS[12] (?:without|with|again|and)\b/, "The paper's own names of two sequences of events."],
]

/** An id that was never given. */
const NEVER_GIVEN = 'B6'

const withoutLookalikes = (text: string): string =>
  NO_RULES.reduce((rest, [pattern]) => rest.replaceAll(new RegExp(pattern, 'g'), ''), text)

/** Ids in a text. A range such as the first to the fourth of a letter cites all of them. */
export function citedIn(text: string): Set<string> {
  const cited = new Set<string>()
  const known = withoutLookalikes(text)
  for (const [, letter, first, last] of known.matchAll(/\b([A-Z])(\d{1,2})(?:-| to )\1(\d{1,2})\b/g)) {
    for (let number = Number(first); number <= Number(last); number++) cited.add(`${letter}${number}`)
  }
  for (const [id] of known.matchAll(/\b[A-Z]\d{1,2}\b/g)) cited.add(id)
  cited.delete(NEVER_GIVEN)
  return cited
}

/** A rule is defined by a row of a table that begins with its id. */
export const definitionsIn = (text: string): string[] =>
  [...text.matchAll(/^\| ([A-Z]\d{1,2}) \| /gm)].map(([, id]) => id!)

/** Every rule of the specification, in its order. */
export const specifiedRules = (): string[] => definitionsIn(pageAt('docs/specification.md').text)

/** The sources below a folder, except the test that makes ids up. */
export function sourcesIn(folder: string): Page[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !/(?:specification\.test|readme.rules)\.ts$/.test(file))
    .map(file => pageAt(join(folder, file)))
}
