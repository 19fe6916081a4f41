/** Many seeds, for each protocol and number of participants, on several threads. */
import type { CommandLine } from './command-line.ts'
import { addCounts, type CountName, type Counts, zeroCounts } from './counts.ts'
import { CrewMember, Stuck } from './crew.ts'
import { missing } from './expectations.ts'
import type { Failure, RunAnswer } from './jobs.ts'
import type { RunOptions } from './scenario.ts'

/** All runs of one protocol with one number of participants. */
export interface Batch {
  readonly options: RunOptions
  runs: number
  steps: number
  /** Seconds of one core. */
  seconds: number
  readonly counts: Counts
  readonly failures: Failure[]
  /** What should have happened and did not. */
  missing: CountName[]
}

interface Slice {
  readonly batch: Batch
  readonly firstSeed: number
  readonly seeds: number
}

export type OnProgress = (runsDone: number, runsInAll: number, failures: number) => void

/** Failures beyond these are counted but not listed: one mistake can fail every run. */
export const FAILURES_KEPT = 100

export async function runBatches(command: CommandLine, onProgress: OnProgress): Promise<Batch[]> {
  const batches: Batch[] = []
  for (const protocol of command.protocols) {
    for (const participants of command.participants) batches.push(emptyBatch(command, protocol, participants))
  }
  const slices = batches.flatMap(batch => slicesOf(command, batch))
  const inAll = command.seeds * batches.length
  let done = 0
  let failures = 0
  const work = async () => {
    const member = new CrewMember()
    for (let slice = slices.shift(); slice !== undefined; slice = slices.shift()) {
      await runSlice(member, slice, command.stopAtFirst)
      done += slice.seeds
      failures = batches.reduce((sum, batch) => sum + batch.failures.length, 0)
      if (command.stopAtFirst && failures > 0) slices.length = 0
      onProgress(Math.min(done, inAll), inAll, failures)
    }
    member.dismiss()
  }
  await Promise.all(Array.from({ length: command.workers }, work))
  for (const batch of batches) {
    batch.missing = missing(batch.counts, batch.runs, batch.options)
  }
  return batches
}

function emptyBatch(command: CommandLine, protocol: RunOptions['protocol'], participants: number): Batch {
  const { faults, durationMs, users, plain, members } = command
  const options = { protocol, participants, faults, durationMs, users, plain, members }
  return { options, runs: 0, steps: 0, seconds: 0, counts: zeroCounts(), failures: [], missing: [] }
}

/**
 * Small enough that progress is shown and threads share the work, large enough that asking for it costs
 * nothing.
 */
function slicesOf({ seeds, firstSeed, workers }: CommandLine, batch: Batch): Slice[] {
  const size = Math.max(1, Math.min(50, Math.ceil(seeds / (4 * workers))))
  const slices: Slice[] = []
  for (let first = firstSeed; first < firstSeed + seeds; first += size) {
    slices.push({ batch, firstSeed: first, seeds: Math.min(size, firstSeed + seeds - first) })
  }
  return slices
}

async function runSlice(member: CrewMember, slice: Slice, stopAtFirst: boolean): Promise<void> {
  const { batch, firstSeed, seeds } = slice
  const { options } = batch
  try {
    add(batch, (await member.perform({ type: 'run', options, firstSeed, seeds, stopAtFirst })) as RunAnswer)
  } catch (thrown) {
    const seed = thrown instanceof Stuck ? thrown.seed : firstSeed
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    batch.runs += seed - firstSeed + 1
    batch.failures.push({ kind: 'defect', rule: 'endless', message, at: 0, options, seed })
    // The rest of the slice is still owed.
    const rest = firstSeed + seeds - seed - 1
    if (rest > 0 && !stopAtFirst)
      await runSlice(member, { batch, firstSeed: seed + 1, seeds: rest }, stopAtFirst)
  }
}

function add(batch: Batch, answer: RunAnswer): void {
  batch.runs += answer.runs
  batch.steps += answer.steps
  batch.seconds += answer.seconds
  addCounts(batch.counts, answer.counts)
  batch.failures.push(...answer.failures)
}
