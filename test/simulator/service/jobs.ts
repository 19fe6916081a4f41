/** What the main thread asks of its workers about the whole service, and what they answer. */
import type { ViolationReport } from '../run.ts'
import { threadSeconds } from '../thread-time.ts'
import { addCounts, type Counts, zeroCounts } from './counts.ts'
import { runService } from './run.ts'
import { lastLines, shrinkService } from './shrink.ts'

export type ServiceJob =
  | {
      readonly type: 'run-service'
      readonly firstSeed: number
      readonly seeds: number
      readonly stopAtFirst: boolean
    }
  | { readonly type: 'shrink-service'; readonly seed: number }

export interface ServiceFailure extends ViolationReport {
  readonly seed: number
}

export interface ServiceRunAnswer {
  readonly type: 'run-service'
  readonly runs: number
  readonly steps: number
  readonly seconds: number
  readonly counts: Counts
  readonly failures: readonly ServiceFailure[]
}

export interface ServiceShrinkAnswer {
  readonly type: 'shrink-service'
  readonly seed: number
  readonly without: readonly string[]
  readonly left: number
  readonly attempts: number
  readonly violation: ViolationReport | null
  readonly lines: readonly string[]
}

export type ServiceAnswer = ServiceRunAnswer | ServiceShrinkAnswer

export function doServiceJob(job: ServiceJob, beginSeed: (seed: number) => void): Promise<ServiceAnswer> {
  return job.type === 'run-service' ? runSeeds(job, beginSeed) : shrinkSeed(job.seed, beginSeed)
}

async function runSeeds(
  job: Extract<ServiceJob, { type: 'run-service' }>,
  beginSeed: (seed: number) => void,
): Promise<ServiceRunAnswer> {
  const { firstSeed, seeds, stopAtFirst } = job
  const counts = zeroCounts()
  const failures: ServiceFailure[] = []
  const begin = threadSeconds()
  let steps = 0
  let runs = 0
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    beginSeed(seed)
    const result = await runService(seed)
    runs++
    steps += result.steps
    addCounts(counts, result.counts)
    if (result.violation === null) continue
    failures.push({ ...result.violation, seed })
    if (stopAtFirst) break
  }
  return { type: 'run-service', runs, steps, seconds: threadSeconds() - begin, counts, failures }
}

async function shrinkSeed(seed: number, beginSeed: (seed: number) => void): Promise<ServiceShrinkAnswer> {
  beginSeed(seed)
  const { without, left, attempts, result } = await shrinkService(seed)
  const lines = await lastLines(seed, without)
  const { violation } = result
  return { type: 'shrink-service', seed, without: [...without], left, attempts, violation, lines }
}
