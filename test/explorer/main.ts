/**
 * `npm run explore`: exhaustive search of the shipped core up to a bound, protocols side by side. Progress
 * goes to standard error. Exit status 1 if a property is violated, 2 if the options make no sense.
 */
import { Worker } from 'node:worker_threads'
import { UsageError } from '../../cli/arguments.ts'
import {
  LOCK_LADDER,
  LOCK_MEMBERS_LADDER,
  lockBoundOf,
  MEMBERS_LADDER,
  type Rung,
  wholeRungs,
} from './ladder.ts'
import { type ExploredName, isLockOnly } from './models.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import {
  describeBound,
  describeReport,
  describeRung,
  type ProtocolReport,
  type RungOutcome,
  reportOf,
} from './report.ts'
import type { WorkerMessage, WorkerTask } from './worker.ts'

const GIGABYTE = 2 ** 30
/** The limit for tables and queues, for each protocol; the heap comes on top. */
const TABLE_BYTES = 6 * GIGABYTE
const HEAP_MEGABYTES = 4_096

async function main(): Promise<number> {
  let options: Options
  try {
    options = parseOptions(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message}\n${USAGE}`)
    return 2
  }
  if (options.help) {
    console.log(USAGE)
    return 0
  }
  for (const protocol of options.protocols) {
    const rungs = rungsOf(options, protocol)
    if (rungs.length === 0) {
      const names = ladderOf(protocol).map(({ name }) => name)
      console.error(`no rung ${options.rung} of ${protocol}; there are ${names.join(', ')}`)
      return 2
    }
    const { bound } = rungs.at(-1)!
    console.error(`${protocol}: ${describeBound(bound)}; at most ${options.minutes} minutes`)
  }
  const reports = await Promise.all(
    options.protocols.map(protocol => search(protocol, rungsOf(options, protocol), options)),
  )
  if (options.json) console.log(JSON.stringify(reports))
  else for (const report of reports) console.log(describeReport(report))
  return reports.some(({ violations }) => violations > 0) ? 1 : 0
}

function ladderOf(protocol: ExploredName): readonly Rung[] {
  if (!isLockOnly(protocol)) return MEMBERS_LADDER
  return protocol === 'maekawa' ? LOCK_LADDER : LOCK_MEMBERS_LADDER
}

function rungsOf({ bound, ladder, rising, rung }: Options, protocol: ExploredName): readonly Rung[] {
  const whole = isLockOnly(protocol) ? lockBoundOf(bound) : bound
  if (rung === null)
    return [...(ladder ? ladderOf(protocol) : []), ...wholeRungs(whole).slice(rising ? 0 : -1)]
  return ladderOf(protocol)
    .filter(({ name }) => name === rung)
    .map(only => ({ ...only, isWhole: true }))
}

function search(protocol: ExploredName, rungs: readonly Rung[], options: Options): Promise<ProtocolReport> {
  const task: WorkerTask = { protocol, rungs, seconds: 60 * options.minutes, bytes: TABLE_BYTES }
  const outcomes: RungOutcome[] = []
  const bound = rungs.at(-1)!.bound
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
    })
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'progress') return showProgress(protocol, message)
      outcomes.push(message.outcome)
      const line = describeRung(protocol, message.outcome.report)
      if (options.json) console.error(line)
      else console.log(line)
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve(reportOf(protocol, bound, outcomes)))
  })
}

function showProgress(protocol: ExploredName, message: Extract<WorkerMessage, { type: 'progress' }>): void {
  const { states, transitions, waiting, faults, seconds, bytes } = message.progress
  const rate = Math.round(transitions / seconds).toLocaleString('en')
  const gigabytes = (bytes / GIGABYTE).toFixed(1)
  console.error(
    `${protocol} ${message.rung}: ${states.toLocaleString('en')} states, ${waiting.toLocaleString('en')} waiting, ` +
      `${faults} faults, ${Math.round(seconds)} s, ${rate} transitions/s, ${gigabytes} GiB`,
  )
}

process.exitCode = await main()
