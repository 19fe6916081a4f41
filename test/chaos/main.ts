/**
 * `npm run chaos`: see HELP for the options, run.ts for what a run is, faults.ts for what goes wrong in it.
 */
import { parseOptions, UsageError } from '../../cli/arguments.ts'
import { integerOf } from '../../cli/values.ts'
import { note, say } from '../print.ts'
import { optionsOrExit } from '../tools/options-or-exit.ts'
import type { FaultKind } from './faults.ts'
import { findingsOf, isGood, type RunResult, runChaos } from './run.ts'
import { FAULT_KINDS } from './schedule.ts'

const HELP = `usage: npm run chaos -- [options]

Breaks real processes of a cluster on this machine under load, heals them, and holds what clients were told against what is there.

  --minutes <number>       how long faults go on (default 2)
  --participants <number>  3 to 7 (default 3)
  --seed <number>          the same plan of faults and clients (default: random, printed first)
  --faults <kind,kind>     only these (default all):
                           ${FAULT_KINDS.slice(0, 8).join(', ')},
                           ${FAULT_KINDS.slice(8).join(', ')}
  --json                   the last line is {acknowledged, lost, twice, failedButApplied, bricked, faults, longestStallMs, ...}
  --help                   print this
`

/** Findings of one kind that are printed; the evidence has all of them. */
const LISTED = 10

const OPTIONS = {
  minutes: { type: 'string' },
  participants: { type: 'string' },
  seed: { type: 'string' },
  faults: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

process.exitCode = await main(process.argv.slice(2))

async function main(words: string[]): Promise<number> {
  const options = optionsOrExit('chaos', () => read(words))
  if (options.help) {
    say(HELP)
    return 0
  }
  // With --json, standard output is for the one object alone.
  const print = (line: string) => (options.json ? note : say)(`${line}\n`)
  print(`seed ${options.seed}, ${options.participants} participants, ${options.minutes} minutes`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const result = await runChaos({ ...options, print })
  for (const line of describe(result)) print(line)
  if (options.json) say(`${JSON.stringify(asJson(result))}\n`)
  return isGood(result) ? 0 : 1
}

function read(words: readonly string[]) {
  const { values } = parseOptions(words, OPTIONS)
  const { json, help } = values
  const minutes = Number(values.minutes ?? '2')
  if (!(minutes > 0 && minutes <= 24 * 60)) throw new UsageError('--minutes is a number above 0')
  const participants = integerOf('--participants', values.participants ?? '3', 3, 7)
  const seed = integerOf('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 31)))
  const kinds = (values.faults?.split(',') ?? FAULT_KINDS) as readonly FaultKind[]
  const unknown = kinds.filter(kind => !FAULT_KINDS.includes(kind))
  if (unknown.length > 0) throw new UsageError(`--faults: there is no ${unknown.join(', ')}`)
  return { minutes, participants, seed, kinds, json, help }
}

function describe(result: RunResult): string[] {
  const faults = Object.entries(result.faults).map(([kind, times]) => `${kind} ${times}`)
  return [
    `${result.acknowledged} operations acknowledged on ${result.locks} locks`,
    `faults: ${faults.join(', ')}`,
    ...(result.skipped === null ? [] : [`left out: ${result.skipped}`]),
    `longest stall ${result.longestStallMs} ms, ${result.historiesJudged} histories judged, ` +
      `${result.leftoverProcesses} processes left over`,
    ...Object.entries(findingsOf(result)).flatMap(([name, list]) => [
      `${name}: ${list.length}`,
      ...list.slice(0, LISTED).map(finding => `    ${finding.split('\n')[0]}`),
    ]),
    ...(result.evidence === null ? [] : [`evidence: ${result.evidence}`]),
  ]
}

function asJson(result: RunResult) {
  return {
    acknowledged: result.acknowledged,
    lost: result.lost.length,
    twice: result.twice.length,
    failedButApplied: result.failedButApplied.length,
    bricked: result.bricked.length,
    faults: result.faults,
    longestStallMs: result.longestStallMs,
    wrongFences: result.fences.length,
    disordered: result.disordered.length,
    misconfigured: result.misconfigured.length,
    stuckParticipants: result.stuck.length,
    historiesJudged: result.historiesJudged,
    historyViolations: result.historyViolations.length,
    leftoverProcesses: result.leftoverProcesses,
    evidence: result.evidence,
  }
}
