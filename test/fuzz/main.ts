/** `npm run fuzz`: see HELP for the options, run.ts for what a run is. */
import { parseOptions } from '../../cli/arguments.ts'
import { integerOf } from '../../cli/values.ts'
import { note, say } from '../print.ts'
import { optionsOrExit } from '../tools/options-or-exit.ts'
import type { Memory } from './memory.ts'
import { type FuzzResult, isGood, runFuzz } from './run.ts'

const HELP = `usage: npm run fuzz -- [options]

Sends bad requests to a cluster on this machine while a good client goes on. Memory is measured after a quarter of
the requests and after all, each time after a pause and a collection of garbage: the heap in use must be back where
it was, within a quarter and 4 MB, and the resident set within a third and 64 MB.

  --requests <number>  how many (default 20000)
  --seed <number>      the same requests (default: random, printed first)
  --first <number>     the number of the first request (default 0), to send one again
  --json               the last line is {requests, status500, hangs, rssBeforeMB, rssAfterMB, heapBeforeMB, heapAfterMB, goodClientErrors}
  --help               print this
`

/** Findings that are printed, and how much of each. */
const LISTED = 20
const SHOWN_BYTES = 600

const OPTIONS = {
  requests: { type: 'string' },
  first: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

process.exitCode = await main(process.argv.slice(2))

async function main(words: string[]): Promise<number> {
  const options = optionsOrExit('fuzz', () => read(words))
  if (options.help) {
    say(HELP)
    return 0
  }
  // With --json, standard output is for the one object alone.
  const print = (line: string) => (options.json ? note : say)(`${line}\n`)
  print(`seed ${options.seed}, ${options.requests} requests`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const result = await runFuzz({ ...options, print })
  for (const line of describe(result, options.seed)) print(line)
  if (options.json) say(`${JSON.stringify(asJson(result))}\n`)
  return isGood(result) ? 0 : 1
}

function read(words: readonly string[]) {
  const { values } = parseOptions(words, OPTIONS)
  return {
    requests: integerOf('--requests', values.requests ?? '20000', 1),
    first: integerOf('--first', values.first ?? '0'),
    seed: integerOf('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 31))),
    json: values.json,
    help: values.help,
  }
}

function describe(result: FuzzResult, seed: number): string[] {
  const answers = Object.entries(result.answers).map(([status, times]) => `${status} ${times}`)
  return [
    `answers: ${answers.join(', ')}`,
    ...result.findings
      .slice(0, LISTED)
      .flatMap(({ number, target, kind, what, bytes }) => [
        `${what} of the ${target}: ${kind} (again: npm run fuzz -- --seed ${seed} --first ${number} --requests 1)`,
        `    ${JSON.stringify(bytes.subarray(0, SHOWN_BYTES).toString('latin1'))}${bytes.length > SHOWN_BYTES ? ' ...' : ''}`,
      ]),
    ...result.goodClientErrors.slice(0, LISTED).map(error => `the good client: ${error}`),
    `${result.requests} requests, ${result.status500} × 500, ${result.hangs} hangs, ` +
      `${result.goodClientErrors.length} errors of the good client`,
    `heap in use of all processes, collected: ${inAll('heapMB', result)}`,
    `resident set of all processes, collected: ${inAll('rssMB', result)}`,
  ]
}

function inAll(name: keyof Memory, { fresh, before, after, limit }: FuzzResult): string {
  return (
    `${fresh[name]} MB at the start, ${before[name]} MB after a quarter of the requests, ` +
    `${after[name]} MB after all (may be ${limit[name]} MB)`
  )
}

function asJson({ requests, status500, hangs, before, after, goodClientErrors }: FuzzResult) {
  return {
    ...{ requests, status500, hangs, rssBeforeMB: before.rssMB, rssAfterMB: after.rssMB },
    ...{ heapBeforeMB: before.heapMB, heapAfterMB: after.heapMB },
    goodClientErrors: goodClientErrors.length,
  }
}
