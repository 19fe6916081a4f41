/** `npm run fuzz`: see HELP for the options, run.ts for what a run is. */
import { parseArgs } from 'node:util'
import { note, say } from '../print.ts'
import { type FuzzResult, isGood, runFuzz } from './run.ts'

const HELP = `usage: npm run fuzz -- [options]

Sends bad requests to a cluster on this machine while a good client goes on.

  --requests <number>  how many (default 20000)
  --seed <number>      the same requests (default: random, printed first)
  --first <number>     the number of the first request (default 0), to send one again
  --json               the last line is {requests, status500, hangs, rssBeforeMB, rssAfterMB, goodClientErrors}
  --help               print this
`

/** Findings that are printed, and how much of each. */
const LISTED = 20
const SHOWN_BYTES = 600

/** Written at once: the process may end right after. */

process.exitCode = await main(process.argv.slice(2))

async function main(words: string[]): Promise<number> {
  const options = read(words)
  if (typeof options === 'string') {
    note(`${options}\nTry: npm run fuzz -- --help\n`)
    return 2
  }
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

function read(words: string[]) {
  let values: ReturnType<typeof parse>
  try {
    values = parse(words)
  } catch (error) {
    return (error as Error).message
  }
  const [requests, first] = [Number(values.requests), Number(values.first)]
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  if (!Number.isSafeInteger(requests) || requests < 1) return '--requests is a whole number above 0'
  if (!Number.isSafeInteger(first) || first < 0) return '--first is a whole number'
  if (!Number.isSafeInteger(seed) || seed < 0) return '--seed is a whole number'
  return { requests, first, seed, json: values.json, help: values.help }
}

function parse(args: string[]) {
  return parseArgs({
    args,
    options: {
      requests: { type: 'string', default: '20000' },
      first: { type: 'string', default: '0' },
      seed: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values
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
    `memory of all processes: ${result.rssFreshMB} MB at the start, ${result.rssBeforeMB} MB after a quarter of the ` +
      `requests, ${result.rssAfterMB} MB after all (may be ${result.rssLimitMB} MB)`,
  ]
}

function asJson({ requests, status500, hangs, rssBeforeMB, rssAfterMB, goodClientErrors }: FuzzResult) {
  return { requests, status500, hangs, rssBeforeMB, rssAfterMB, goodClientErrors: goodClientErrors.length }
}
