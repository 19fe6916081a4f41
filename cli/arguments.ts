/**
 * Reads the words of a command line by a table of options, with Node's own `parseArgs`, and refuses what the
 * table does not have in words that help. The project's tools (simulator, explorer, chaos and others) read
 * theirs with it too.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util'

export interface Option {
  readonly type: 'string' | 'boolean'
  /** May be given several times. */
  readonly multiple?: true
  readonly short?: string
}

export interface OptionTable {
  readonly [name: string]: Option
}

export type OptionValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name]['type'] extends 'boolean'
    ? boolean
    : Table[Name] extends { readonly multiple: true }
      ? readonly string[]
      : string | undefined
}

export interface Parsed<Table extends OptionTable> {
  readonly values: OptionValues<Table>
  /** Words that are neither options nor their values, up to `--`. */
  readonly positionals: readonly string[]
  /** What stands after `--`; `null` if there is none. */
  readonly rest: readonly string[] | null
}

/** The command line makes no sense. The message is a sentence without its full stop. */
export class UsageError extends Error {}

type Token = NonNullable<ReturnType<typeof parseArgs<ParseArgsConfig & { tokens: true }>>['tokens']>[number]

export function parseOptions<const Table extends OptionTable>(
  args: readonly string[],
  table: Table,
): Parsed<Table> {
  const values: { [name: string]: unknown } = {}
  for (const [name, { type, multiple }] of Object.entries(table)) {
    values[name] = multiple === true ? [] : type === 'boolean' ? false : undefined
  }
  const positionals: string[] = []
  let rest: string[] | null = null
  for (const token of tokensOf(args, table)) {
    if (token.kind === 'option-terminator') rest = []
    else if (token.kind === 'positional') (rest ?? positionals).push(token.value)
    else {
      const value = optionValue(token, table)
      if (table[token.name]!.multiple === true) (values[token.name] as unknown[]).push(value)
      else values[token.name] = value
    }
  }
  return { values: values as OptionValues<Table>, positionals, rest }
}

/** Not strict: what is unknown comes as a token too, and is refused here and not by Node. */
export function tokensOf(args: readonly string[], options: OptionTable): readonly Token[] {
  const { tokens } = parseArgs({
    args: [...args],
    options: options as NonNullable<ParseArgsConfig['options']>,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  return tokens
}

function optionValue(token: Extract<Token, { kind: 'option' }>, table: OptionTable): string | true {
  const { name, rawName, value, inlineValue } = token
  if (!Object.hasOwn(table, name)) throw new UsageError(`unknown option ${rawName}${nearest(rawName, table)}`)
  if (table[name]!.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`)
    return true
  }
  if (value === undefined || value === '') throw new UsageError(`${rawName} needs a value`)
  // Most likely the value was forgotten, and this is the next option.
  if (inlineValue === false && /^--?[a-z]/.test(value)) {
    throw new UsageError(`${rawName} needs a value, and ${value} is an option`)
  }
  return value
}

function nearest(rawName: string, table: OptionTable): string {
  if (/^-\d/.test(rawName)) return '; a word that begins with a dash goes after --'
  const name = mostSimilar(
    rawName,
    Object.keys(table).map(name => `--${name}`),
  )
  return name === undefined ? '' : `; did you mean ${name}?`
}

/** The one of the words that was probably meant, if one of them is near. */
export function mostSimilar(word: string, words: readonly string[]): string | undefined {
  const allowed = Math.max(1, Math.floor(word.replace(/^-+/, '').length / 3))
  const ranked = words
    .map(candidate => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((left, right) => left.distance - right.distance)
  return ranked[0] !== undefined && ranked[0].distance <= allowed ? ranked[0].candidate : undefined
}

/** How many letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= from.length; row++) {
    const line = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = rows[row - 1]![column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1)
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const swapped = isSwap ? rows[row - 2]![column - 2]! + 1 : replaced
      line.push(Math.min(rows[row - 1]![column]! + 1, line[column - 1]! + 1, replaced, swapped))
    }
    rows.push(line)
  }
  return rows[from.length]![to.length]!
}
