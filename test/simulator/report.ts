/** What a batch of runs says, as text for people and as one JSON object for programs. */
import { type Batch, FAILURES_KEPT } from './batch.ts'
import { type CommandLine, replayCommand } from './command-line.ts'
import { addCounts, COUNT_NAMES, type Counts, zeroCounts } from './counts.ts'
import { describeFaults } from './faults.ts'
import type { Failure, ShrinkAnswer } from './jobs.ts'

export function describeOptions(command: CommandLine): string {
  const { protocols, participants, seeds, firstSeed, faults, durationMs, users, workers } = command
  const lines = [
    `protocol      ${protocols.join(', ')}`,
    `participants  ${participants.join(', ')}`,
    `seeds         ${firstSeed} to ${firstSeed + seeds - 1}, for each`,
    `faults        ${describeFaults(faults)}`,
    `duration      ${durationMs === null ? 'drawn from the seed' : `${durationMs} ms`}`,
    `users         ${users === null ? 'drawn from the seed' : `at most ${users} for each participant`}`,
    `workers       ${workers}`,
  ]
  return `${lines.join('\n')}\n`
}

const sum = (batches: readonly Batch[], of: (batch: Batch) => number): number =>
  batches.reduce((total, batch) => total + of(batch), 0)

export function countsOf(batches: readonly Batch[]): Counts {
  const counts = zeroCounts()
  for (const batch of batches) addCounts(counts, batch.counts)
  return counts
}

export const stepsPerSecond = (batches: readonly Batch[]): number =>
  Math.round(
    sum(batches, batch => batch.steps) /
      Math.max(
        1e-9,
        sum(batches, batch => batch.seconds),
      ),
  )

export const failuresOf = (batches: readonly Batch[]): Failure[] => batches.flatMap(batch => batch.failures)

export const isGood = (batches: readonly Batch[]): boolean =>
  batches.every(batch => batch.failures.length === 0 && batch.missing.length === 0)

export function asJson(command: CommandLine, batches: readonly Batch[], shrunk: ShrinkAnswer | null): object {
  const { protocols, participants, seeds, firstSeed, faults } = command
  const failures = failuresOf(batches)
  const kinds = { safety: 0, liveness: 0, defect: 0 }
  for (const failure of failures) kinds[failure.kind]++
  return {
    protocol: protocols.length === 1 ? protocols[0] : protocols,
    participants: participants.length === 1 ? participants[0] : participants,
    faults: describeFaults(faults),
    firstSeed,
    seeds,
    runs: sum(batches, batch => batch.runs),
    steps: sum(batches, batch => batch.steps),
    seconds: sum(batches, batch => batch.seconds),
    stepsPerSecond: stepsPerSecond(batches),
    violations: failures.length,
    violationsByKind: kinds,
    failures: failures.slice(0, FAILURES_KEPT).map(failureAsJson),
    shrunk: shrunk === null ? null : shrunkAsJson(shrunk),
    missing: batches.flatMap(({ missing, options }) =>
      missing.map(count => ({ protocol: options.protocol, participants: options.participants, count })),
    ),
    counts: countsOf(batches),
    batches: batches.map(batch => ({
      protocol: batch.options.protocol,
      participants: batch.options.participants,
      runs: batch.runs,
      steps: batch.steps,
      stepsPerSecond: stepsPerSecond([batch]),
      violations: batch.failures.length,
      counts: batch.counts,
    })),
  }
}

function failureAsJson({ options, seed, kind, rule, message, at }: Failure): object {
  const { protocol, participants } = options
  return { protocol, participants, seed, kind, rule, message, at, replay: replayCommand(options, seed) }
}

function shrunkAsJson({ options, seed, attempts, violation }: ShrinkAnswer): object {
  return { seed, attempts, rule: violation?.rule ?? null, replay: replayCommand(options, seed) }
}

export function describeBatches(batches: readonly Batch[]): string {
  const lines: string[] = []
  for (const batch of batches) {
    const { options, runs, steps, failures } = batch
    const name = `${options.protocol}, ${options.participants} participants`
    lines.push(
      `${name}: ${runs} runs, ${steps} steps, ${stepsPerSecond([batch])} steps/s, ${failures.length} violations`,
    )
    if (batch.missing.length > 0) lines.push(`  FAILED: this never happened: ${batch.missing.join(', ')}`)
  }
  const counts = countsOf(batches)
  lines.push('', ...COUNT_NAMES.map(name => `${name.padEnd(22)} ${counts[name]}`), '')
  const failures = failuresOf(batches)
  const steps = sum(batches, batch => batch.steps)
  lines.push(
    `${sum(batches, batch => batch.runs)} runs, ${steps} steps, ${stepsPerSecond(batches)} steps per second of one core, ` +
      `${failures.length} violations`,
  )
  return `${lines.join('\n')}\n`
}

const FAILURES_SHOWN = 10

export function describeFailures(failures: readonly Failure[], shrunk: ShrinkAnswer | null): string {
  const lines: string[] = []
  for (const failure of failures.slice(0, FAILURES_SHOWN)) lines.push(...describeFailure(failure), '')
  if (failures.length > FAILURES_SHOWN) lines.push(`... and ${failures.length - FAILURES_SHOWN} more`, '')
  if (shrunk !== null && shrunk.violation !== null) {
    const { rule, message, at } = shrunk.violation
    lines.push(`A smaller run with the same violation (${shrunk.attempts} attempts):`)
    lines.push(
      `  ${rule} at ${at.toFixed(2)} ms: ${message}`,
      `  ${replayCommand(shrunk.options, shrunk.seed)}`,
      '',
    )
    lines.push('How it ends:', ...shrunk.lines, '')
  }
  return lines.join('\n')
}

function describeFailure({ options, seed, kind, rule, message, at }: Failure): string[] {
  return [
    `VIOLATION (${kind}) of ${rule}: ${options.protocol}, ${options.participants} participants, seed ${seed}, at ${at.toFixed(2)} ms`,
    `  ${message}`,
    `  ${replayCommand(options, seed)}`,
  ]
}
