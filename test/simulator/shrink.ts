/**
 * Looks for a smaller run that breaks the same rule: fewer faults, fewer users, fewer participants, a shorter
 * time. Each change is kept if the rule is still broken, with the same seed or with one of a few others. The
 * result need not be the smallest run, but it is small enough to be read.
 */
import type { Fault } from './faults.ts'
import { type RunResult, runSeed, type ViolationReport } from './run.ts'
import type { RunOptions } from './scenario.ts'

export interface Shrunk {
  readonly options: RunOptions
  readonly seed: number
  readonly result: RunResult
  readonly attempts: number
}

const OTHER_SEEDS = 6
const SEED_STRIDE = 7_919

export type Run = (options: RunOptions, seed: number) => RunResult

export function shrink(
  options: RunOptions,
  seed: number,
  run: Run = runSeed,
  budgetSteps = 4_000_000,
): Shrunk {
  let best = { options, seed, result: run(options, seed) }
  const { violation } = best.result
  let attempts = 1
  let steps = best.result.steps
  const improves = (candidate: RunOptions, otherSeeds: number): boolean => {
    for (let other = 0; other <= otherSeeds && steps < budgetSteps; other++) {
      const tried = best.seed + other * SEED_STRIDE
      const result = run(candidate, tried)
      attempts++
      steps += result.steps
      if (!isSame(result.violation, violation)) continue
      best = { options: candidate, seed: tried, result }
      return true
    }
    return false
  }
  if (violation === null) return { ...best, attempts }
  improves({ ...options, faults: [] }, OTHER_SEEDS)
  for (const fault of best.options.faults)
    improves({ ...best.options, faults: without(best.options.faults, fault) }, 1)
  if (!options.plain) improves({ ...best.options, plain: true }, 1)
  for (let participants = 1; participants < best.options.participants; participants++) {
    if (improves({ ...best.options, participants }, OTHER_SEEDS)) break
  }
  for (const users of [1, 2]) if (improves({ ...best.options, users }, OTHER_SEEDS)) break
  for (const fault of best.options.faults)
    improves({ ...best.options, faults: without(best.options.faults, fault) }, 2)
  for (let tries = 0; tries < 8; tries++) if (!improves(shorter(best.options, best.result), 2)) break
  return { ...best, attempts }
}

/** Two exceptions are the same only if they say the same. */
function isSame(one: ViolationReport | null, other: ViolationReport | null): boolean {
  return one?.rule === other?.rule && (one?.rule !== 'thrown' || one.message === other?.message)
}

const without = (faults: readonly Fault[], gone: Fault): Fault[] => faults.filter(fault => fault !== gone)

/** Half of the time before the violation. */
function shorter(options: RunOptions, { violation }: RunResult): RunOptions {
  const before = Math.min(options.durationMs ?? Number.POSITIVE_INFINITY, violation!.at)
  return { ...options, durationMs: Math.max(1, Math.ceil(before / 2)) }
}

const LINES_KEPT = 100
const LINE_LENGTH = 240

/** The end of the transcript, which is where the violation is. */
export function lastLines(options: RunOptions, seed: number): string[] {
  const lines: string[] = []
  runSeed(options, seed, line => {
    lines.push(line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH)}…`)
    if (lines.length > 2 * LINES_KEPT) lines.splice(0, LINES_KEPT)
  })
  return lines.slice(-LINES_KEPT)
}
