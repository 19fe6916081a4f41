/** What the main thread asks of its workers, and what they answer. */
import { addCounts, type Counts, zeroCounts } from './counts.ts'
import type { ViolationReport } from './run.ts'
import { runSeed } from './run.ts'
import type { RunOptions } from './scenario.ts'
import type { ServiceAnswer, ServiceJob } from './service/jobs.ts'
import { lastLines, shrink } from './shrink.ts'
import { threadSeconds } from './thread-time.ts'

export type Job =
  | ServiceJob
  | {
      readonly type: 'run'
      readonly options: RunOptions
      readonly firstSeed: number
      readonly seeds: number
      readonly stopAtFirst: boolean
    }
  | { readonly type: 'shrink'; readonly options: RunOptions; readonly seed: number }

export interface Failure extends ViolationReport {
  readonly options: RunOptions
  readonly seed: number
}

export interface RunAnswer {
  readonly type: 'run'
  readonly options: RunOptions
  readonly runs: number
  readonly steps: number
  readonly seconds: number
  readonly counts: Counts
  readonly failures: readonly Failure[]
}

export interface ShrinkAnswer {
  readonly type: 'shrink'
  readonly options: RunOptions
  readonly seed: number
  readonly attempts: number
  readonly violation: ViolationReport | null
  readonly lines: readonly string[]
}

export type Answer = RunAnswer | ShrinkAnswer | ServiceAnswer

/** `beginSeed` is told which seed runs, so that a run that does not end can be noticed from outside. */
export async function doJob(job: Job, beginSeed: (seed: number) => void): Promise<Answer> {
  switch (job.type) {
    case 'run':
      return runSeeds(job, beginSeed)
    case 'shrink':
      return shrinkSeed(job, beginSeed)
    default: {
      // The protocols need nothing from the service.
      const { doServiceJob } = await import('./service/jobs.ts')
      return doServiceJob(job, beginSeed)
    }
  }
}

function runSeeds(job: Extract<Job, { type: 'run' }>, beginSeed: (seed: number) => void): RunAnswer {
  const { options, firstSeed, seeds, stopAtFirst } = job
  const counts = zeroCounts()
  const failures: Failure[] = []
  const begin = threadSeconds()
  let steps = 0
  let runs = 0
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    beginSeed(seed)
    const result = runSeed(options, seed)
    runs++
    steps += result.steps
    addCounts(counts, result.counts)
    if (result.violation === null) continue
    failures.push({ ...result.violation, options, seed })
    if (stopAtFirst) break
  }
  return { type: 'run', options, runs, steps, seconds: threadSeconds() - begin, counts, failures }
}

function shrinkSeed(job: Extract<Job, { type: 'shrink' }>, beginSeed: (seed: number) => void): ShrinkAnswer {
  beginSeed(job.seed)
  const { options, seed, attempts, result } = shrink(job.options, job.seed)
  return {
    type: 'shrink',
    options,
    seed,
    attempts,
    violation: result.violation,
    lines: lastLines(options, seed),
  }
}
