/** The command `npm run check-history -- file`: judges a recorded history. See HELP below. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { judge } from '../../shared/history/judge.ts'
import { HistoryReader, type ParseResult } from '../../shared/history/parse.ts'
import { report } from '../../shared/history/report.ts'
import { resourceByName, resourceNames } from '../../shared/resource/registry.ts'

const HELP = `usage: npm run check-history -- <file> [--json]

Judges a recorded history: a header line, then one event per line, all of them JSON.
Prints a verdict for each property of weak mutual exclusion, with the events that prove a violation.

  --json   print the judgement as JSON
  --help   print this

Exit status: 0 no violation was found (liveness is unknown unless the history has the marks for it),
             1 the history is invalid, 2 wrong usage or not a history.
`

const EXIT_INVALID = 1
const EXIT_NOT_JUDGED = 2

/** A file of this size takes a second or more. */
const PROGRESS_FROM_BYTES = 20_000_000
const PROGRESS_EVERY_LINES = 100_000

async function main(argv: readonly string[]): Promise<number> {
  const usage = readArguments(argv)
  if (typeof usage === 'string') return refuse(`${usage}\n\n${HELP}`)
  if (usage.help) {
    process.stdout.write(HELP)
    return 0
  }
  const parsed = await readHistory(usage.file)
  if (!parsed.ok) return refuse(`${usage.file}:${parsed.problem.line}: ${parsed.problem.message}\n`)
  const { history } = parsed
  const resource = resourceByName(history.header.resource)
  if (resource === undefined) {
    const known = resourceNames().join(', ')
    return refuse(
      `${usage.file}:1: the resource '${history.header.resource}' is not known (known: ${known})\n`,
    )
  }
  const judgement = judge(history, resource)
  const text = usage.json ? `${JSON.stringify(judgement, null, 2)}\n` : report(history.header, judgement)
  process.stdout.write(text)
  return judgement.verdict === 'invalid' ? EXIT_INVALID : 0
}

type Usage = { readonly help: true } | { readonly help: false; readonly file: string; readonly json: boolean }

function readArguments(argv: readonly string[]): Usage | string {
  try {
    const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
    if (values.help === true) return { help: true }
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) return 'one file is needed'
    return { help: false, file, json: values.json === true }
  } catch (error) {
    return messageOf(error)
  }
}

/** Reads the file piece by piece: it may be longer than the longest string. */
async function readHistory(file: string): Promise<ParseResult> {
  const { size } = await stat(file)
  const reader = new HistoryReader()
  const stream = createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })
  const showProgress = size >= PROGRESS_FROM_BYTES ? progressTo(size) : null
  let lines = 0
  for await (const line of linesOf(stream)) {
    if (reader.read(line) !== null) break
    lines++
    if (lines % PROGRESS_EVERY_LINES === 0) showProgress?.(lines, stream.bytesRead)
  }
  if (showProgress !== null) process.stderr.write(`read ${reader.eventsRead} events, judging ...\n`)
  return reader.finish()
}

function progressTo(size: number): (lines: number, bytes: number) => void {
  return (lines, bytes) => {
    process.stderr.write(`read ${lines} lines (${Math.floor((100 * bytes) / size)} %)\n`)
  }
}

/**
 * The pieces of a line are joined only once its end is there: a line without end costs no more than its
 * length.
 */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let open: string[] = []
  for await (const chunk of chunks) {
    const [first, ...rest] = chunk.split('\n') as [string, ...string[]]
    open.push(first)
    if (rest.length === 0) continue
    yield open.join('')
    open = [rest.pop()!]
    yield* rest
  }
  yield open.join('')
}

function refuse(message: string): number {
  process.stderr.write(`check-history: ${message}`)
  return EXIT_NOT_JUDGED
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  // A file that cannot be opened, or a line longer than a string can be.
  process.exitCode = refuse(`${messageOf(error)}\n`)
}
