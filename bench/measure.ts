/**
 * Machines are noisy, so subjects take turns in short rounds, and what counts is the ratio to the yardstick
 * of the same round. Right before the others, the plain object does its part of each case; the others follow
 * in another order each time.
 */
import { setTimeout } from 'node:timers/promises'
import { CASES, type Case, type CaseName, type Subject, yardstickOf } from './case.ts'
import { repeatedRequests } from './http.ts'
import { cpuSeconds } from './processes.ts'
import { median, quantile, rounded, type Spread, spreadOf, sum } from './statistics.ts'

/** What one subject did in one case, over all rounds. */
export interface Row {
  readonly subject: string
  readonly participants: number
  readonly processes: 'one' | 'each'
  readonly case: CaseName
  /** Of one cycle or operation: the median of the rounds, and of all single ones the 99th percentile. */
  readonly milliseconds: Spread
  readonly p99: number | null
  readonly perSecond: number
  /** To the plain object's time for the same; `null` for the plain object itself. */
  readonly ratio: Spread | null
  readonly cpuSecondsPer1000: number | null
  readonly cpuRatio: number | null
  readonly requestsBetweenObjects: number | null
  /** Requests that a busy service asked its client to repeat. */
  readonly repeatedRequests: number
}

interface Run {
  /** Of one unit, with everything that went on at the same time. */
  readonly milliseconds: number
  readonly samples: readonly number[]
  readonly cpu: number | null
  readonly requests: number | null
  readonly repeated: number
}

interface Record {
  readonly subject: Subject
  readonly case: CaseName
  readonly runs: Run[]
  readonly yardsticks: Run[]
}

export interface Rounds {
  readonly rounds: number
  readonly repeats: number
  onRound?(round: number): void
}

export async function measure(
  plain: Subject,
  subjects: readonly Subject[],
  names: readonly CaseName[],
  { rounds, repeats, onRound }: Rounds,
): Promise<Row[]> {
  const records = new Map<string, Record>()
  for (let round = 0; round <= rounds; round++) {
    for (const name of CASES.filter(name => names.includes(name))) {
      const turn = rotated(
        subjects.filter(({ cases }) => cases[name] !== undefined),
        round,
      )
      const yardstick = await runOf(plain, plain.cases[yardstickOf(name)]!, repeats)
      for (const subject of [plain, ...turn]) {
        if (subject === plain && yardstickOf(name) !== name) continue
        const run = subject === plain ? yardstick : await runOf(subject, subject.cases[name]!, repeats)
        // The first round warms up and is not counted.
        if (round > 0) record(records, subject, name, run, yardstick)
      }
    }
    onRound?.(round)
  }
  return [...records.values()].map(found => rowOf(found, plain))
}

const rotated = <Item>(items: readonly Item[], by: number): Item[] => {
  const first = items.length === 0 ? 0 : by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

/** What a subject still does when it has answered belongs to its run, and must not disturb the next one. */
const SETTLE_MS = 30

async function runOf(subject: Subject, work: Case, repeats: number): Promise<Run> {
  await work.prepare?.()
  const requestsBefore = await work.requests?.()
  const cpuBefore = cpuSeconds(subject.pids())
  const repeatedBefore = repeatedRequests()
  const began = performance.now()
  const samples = await work.run(repeats)
  const elapsed = performance.now() - began
  await setTimeout(SETTLE_MS)
  const cpu = cpuSeconds(subject.pids())
  const requests = await work.requests?.()
  await work.finish?.()
  const units = samples.length
  return {
    milliseconds: elapsed / units,
    samples,
    cpu: cpu === null || cpuBefore === null ? null : (cpu - cpuBefore) / units,
    requests: requests === undefined ? null : (requests - requestsBefore!) / units,
    repeated: repeatedRequests() - repeatedBefore,
  }
}

function record(records: Map<string, Record>, subject: Subject, name: CaseName, run: Run, yardstick: Run) {
  const key = `${subject.name} ${subject.participants} ${subject.processes} ${name}`
  const known = records.get(key) ?? { subject, case: name, runs: [], yardsticks: [] }
  known.runs.push(run)
  known.yardsticks.push(yardstick)
  records.set(key, known)
}

function rowOf({ subject, case: name, runs, yardsticks }: Record, plain: Subject): Row {
  const isPlain = subject === plain
  const milliseconds = runs.map(run => run.milliseconds)
  const cpu = mean(runs.map(run => run.cpu))
  const plainCpu = mean(yardsticks.map(run => run.cpu))
  const requests = runs.map(run => run.requests)
  return {
    subject: subject.name,
    participants: subject.participants,
    processes: subject.processes,
    case: name,
    milliseconds: spreadOf(milliseconds),
    p99: rounded(
      quantile(
        runs.flatMap(run => run.samples),
        0.99,
      ),
    ),
    perSecond: rounded(1000 / median(milliseconds)),
    ratio: isPlain
      ? null
      : spreadOf(runs.map((run, index) => run.milliseconds / yardsticks[index]!.milliseconds)),
    cpuSecondsPer1000: cpu === null ? null : rounded(cpu * 1000),
    cpuRatio: isPlain || cpu === null || plainCpu === null ? null : rounded(cpu / plainCpu),
    requestsBetweenObjects: requests.every(count => count !== null) ? rounded(median(requests)) : null,
    repeatedRequests: sum(runs.map(run => run.repeated)),
  }
}

/** Processor time is added up: single runs are too short for its counter. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null)
  return known.length < values.length || known.length === 0 ? null : sum(known) / known.length
}
