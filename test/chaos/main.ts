/**
 * `npm run chaos`: see HELP for the options, run.ts for what a run is, faults.ts for what goes wrong in it.
 */
import { parseArgs } from 'node:util'
import { note, say } from '../print.ts'
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

/** Written at once: the process may end right after. */

process.exitCode = await main(process.argv.slice(2))

async function main(words: string[]): Promise<number> {
  const options = read(words)
  if (typeof options === 'string') {
    note(`${options}\nTry: npm run chaos -- --help\n`)
    return 2
  }
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

function read(words: string[]) {
  let values: ReturnType<typeof parse>
  try {
    values = parse(words)
  } catch (error) {
    return (error as Error).message
  }
  const { json, help } = values
  const minutes = Number(values.minutes)
  const participants = Number(values.participants)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  const kinds = (values.faults?.split(',') ?? FAULT_KINDS) as readonly FaultKind[]
  const unknown = kinds.filter(kind => !FAULT_KINDS.includes(kind))
  if (!(minutes > 0 && minutes <= 24 * 60)) return '--minutes is a number above 0'
  if (!Number.isInteger(participants) || participants < 3 || participants > 7)
    return '--participants is 3 to 7'
  if (!Number.isSafeInteger(seed) || seed < 0) return '--seed is a whole number'
  if (unknown.length > 0) return `--faults: there is no ${unknown.join(', ')}`
  return { minutes, participants, seed, kinds, json, help }
}

function parse(args: string[]) {
  return parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '2' },
      participants: { type: 'string', default: '3' },
      seed: { type: 'string' },
      faults: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values
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
