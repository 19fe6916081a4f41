/**
 * 90 seconds of `npm run chaos` with three participants. The seed is in the test's name; a failing run keeps
 * its evidence.
 */
import { expect, it } from 'vitest'
import { findingsOf, runChaos } from './run.ts'
import { FAULT_KINDS } from './schedule.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
/** Faults, the last of them to its end, healing, and the check of every lock. */
const LIMIT_MS = 400_000

it(
  `what clients were told stays true while processes break (SEED=${SEED})`,
  async () => {
    const lines: string[] = []
    const result = await runChaos({
      ...{ minutes: 1.5, participants: 3, seed: SEED, kinds: FAULT_KINDS },
      print: line => lines.push(line),
    })
    const nothing = Object.fromEntries(Object.keys(findingsOf(result)).map(name => [name, []]))
    expect(findingsOf(result), `evidence: ${result.evidence}\n${lines.join('\n')}`).toEqual(nothing)
    expect(result.leftoverProcesses).toBe(0)
    // It was worth it: much was acknowledged, many kinds of faults came, and histories could be judged.
    expect(result.acknowledged).toBeGreaterThan(100)
    expect(Object.keys(result.faults).length).toBeGreaterThan(3)
    expect(result.historiesJudged).toBeGreaterThan(0)
  },
  LIMIT_MS,
)
