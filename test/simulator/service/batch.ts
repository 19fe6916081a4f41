/** Many seeds of the whole service, on several threads. */
import type { OnProgress } from '../batch.ts'
import type { CommandLine } from '../command-line.ts'
import { CrewMember, Stuck } from '../crew.ts'
import { addCounts, type CountName, type Counts, zeroCounts } from './counts.ts'
import { missing } from './expectations.ts'
import type { ServiceFailure, ServiceRunAnswer } from './jobs.ts'

export interface ServiceBatch {
  runs: number
  steps: number
  /** Of one core. */
  seconds: number
  readonly counts: Counts
  readonly failures: ServiceFailure[]
  /** What should have happened and did not. */
  missing: CountName[]
}

interface Slice {
  readonly firstSeed: number
  readonly seeds: number
}

export async function runServiceBatch(command: CommandLine, onProgress: OnProgress): Promise<ServiceBatch> {
  const { seeds, stopAtFirst, workers } = command
  const batch: ServiceBatch = {
    ...{ runs: 0, steps: 0, seconds: 0, failures: [], missing: [] },
    counts: zeroCounts(),
  }
  const slices = slicesOf(command)
  let done = 0
  const work = async () => {
    const member = new CrewMember()
    for (let slice = slices.shift(); slice !== undefined; slice = slices.shift()) {
      await runSlice(member, batch, slice, stopAtFirst)
      done += slice.seeds
      if (stopAtFirst && batch.failures.length > 0) slices.length = 0
      onProgress(Math.min(done, seeds), seeds, batch.failures.length)
    }
    member.dismiss()
  }
  await Promise.all(Array.from({ length: workers }, work))
  batch.failures.sort((left, right) => left.seed - right.seed)
  batch.missing = missing(batch.counts, batch.runs)
  return batch
}

function slicesOf({ seeds, firstSeed, workers }: CommandLine): Slice[] {
  const size = Math.max(1, Math.min(25, Math.ceil(seeds / (4 * workers))))
  const slices: Slice[] = []
  for (let first = firstSeed; first < firstSeed + seeds; first += size) {
    slices.push({ firstSeed: first, seeds: Math.min(size, firstSeed + seeds - first) })
  }
  return slices
}

async function runSlice(
  member: CrewMember,
  batch: ServiceBatch,
  { firstSeed, seeds }: Slice,
  stopAtFirst: boolean,
): Promise<void> {
  try {
    const job = { type: 'run-service', firstSeed, seeds, stopAtFirst } as const
    add(batch, (await member.perform(job)) as ServiceRunAnswer)
  } catch (thrown) {
    const seed = thrown instanceof Stuck ? thrown.seed : firstSeed
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    batch.runs += seed - firstSeed + 1
    batch.failures.push({ kind: 'defect', rule: 'endless', message, at: 0, seed })
    // The rest of the slice is still owed.
    const rest = firstSeed + seeds - seed - 1
    if (rest > 0 && !stopAtFirst)
      await runSlice(member, batch, { firstSeed: seed + 1, seeds: rest }, stopAtFirst)
  }
}

function add(batch: ServiceBatch, answer: ServiceRunAnswer): void {
  batch.runs += answer.runs
  batch.steps += answer.steps
  batch.seconds += answer.seconds
  addCounts(batch.counts, answer.counts)
  batch.failures.push(...answer.failures)
}
