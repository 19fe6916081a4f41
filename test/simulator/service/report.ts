/** What a batch of runs of the whole service says, as text for people and as one JSON object for programs. */
import { FAILURES_KEPT } from '../batch.ts'
import type { CommandLine } from '../command-line.ts'
import type { ServiceBatch } from './batch.ts'
import { COUNT_NAMES } from './counts.ts'
import type { ServiceFailure, ServiceShrinkAnswer } from './jobs.ts'

export function describeOptions({ seeds, firstSeed, workers }: CommandLine): string {
  return `the whole service\nseeds    ${firstSeed} to ${firstSeed + seeds - 1}\nworkers  ${workers}\n`
}

export const isGood = ({ failures, missing }: ServiceBatch): boolean =>
  failures.length === 0 && missing.length === 0

const seedsPerSecond = ({ runs, seconds }: ServiceBatch): number =>
  Math.round((10 * runs) / Math.max(1e-9, seconds)) / 10

export function replayCommand(seed: number, without: readonly string[] = []): string {
  const left = without.length === 0 ? '' : ` --without ${without.join(',')}`
  return `npm run sim -- --service --replay ${seed}${left} --trace`
}

export function asJson(
  { seeds, firstSeed }: CommandLine,
  batch: ServiceBatch,
  shrunk: ServiceShrinkAnswer | null,
): object {
  const { runs, steps, seconds, failures, missing, counts } = batch
  const kinds = { safety: 0, liveness: 0, defect: 0 }
  for (const { kind } of failures) kinds[kind]++
  return {
    ...{ service: true, firstSeed, seeds, runs, steps, seconds },
    seedsPerSecond: seedsPerSecond(batch),
    violations: failures.length,
    violationsByKind: kinds,
    failures: failures.slice(0, FAILURES_KEPT).map(failureAsJson),
    shrunk: shrunk === null ? null : shrunkAsJson(shrunk),
    missing,
    counts,
  }
}

function failureAsJson({ seed, kind, rule, message, at }: ServiceFailure): object {
  return { seed, kind, rule, message, at, replay: replayCommand(seed) }
}

function shrunkAsJson({ seed, without, left, attempts, violation }: ServiceShrinkAnswer): object {
  return { seed, left, attempts, rule: violation?.rule ?? null, replay: replayCommand(seed, without) }
}

export function describeBatch(batch: ServiceBatch): string {
  const { runs, steps, failures, missing, counts } = batch
  const lines = COUNT_NAMES.map(name => `${name.padEnd(22)} ${counts[name]}`)
  lines.push('', `${runs} runs, ${steps} steps, ${seedsPerSecond(batch)} seeds per second of one core`)
  lines.push(`${failures.length} violations`)
  if (missing.length > 0) lines.push(`FAILED: this never happened: ${missing.join(', ')}`)
  return `${lines.join('\n')}\n`
}

const FAILURES_SHOWN = 10

export function describeFailures(
  failures: readonly ServiceFailure[],
  shrunk: ServiceShrinkAnswer | null,
): string {
  const lines: string[] = []
  for (const failure of failures.slice(0, FAILURES_SHOWN)) lines.push(...describeFailure(failure), '')
  if (failures.length > FAILURES_SHOWN) lines.push(`... and ${failures.length - FAILURES_SHOWN} more`, '')
  if (shrunk !== null && shrunk.violation !== null) {
    const { rule, message, at } = shrunk.violation
    const { left, attempts } = shrunk
    lines.push(`With the same violation, ${left} faults and actions are left (${attempts} attempts):`)
    lines.push(`  ${rule} at ${at.toFixed(2)} ms: ${message}`)
    lines.push(`  ${replayCommand(shrunk.seed, shrunk.without)}`, '', 'How it ends:', ...shrunk.lines, '')
  }
  return lines.join('\n')
}

function describeFailure({ seed, kind, rule, message, at }: ServiceFailure): string[] {
  return [
    `VIOLATION (${kind}) of ${rule}: seed ${seed}, at ${at.toFixed(2)} ms`,
    `  ${message}`,
    `  ${replayCommand(seed)}`,
  ]
}
