/** A thousand requests of `npm run fuzz`. The seed is in the test's name. */
import { expect, it } from 'vitest'
import { runFuzz } from './run.ts'

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
/** A request may wait for 25 s, and the service has time to give its memory back. */
const LIMIT_MS = 300_000

it(
  `bad requests harm nobody (SEED=${SEED})`,
  async () => {
    const result = await runFuzz({ requests: 1_000, seed: SEED, first: 0, print: () => {} })
    const again = ({ number }: { number: number }) =>
      `npm run fuzz -- --seed ${SEED} --first ${number} --requests 1`
    const shown = result.findings.map(finding => ({
      ...{ what: finding.what, target: finding.target, kind: finding.kind, again: again(finding) },
      bytes: finding.bytes.subarray(0, 500).toString('latin1'),
    }))
    expect(shown).toEqual([])
    expect(result.goodClientErrors).toEqual([])
    expect(result.after.heapMB).toBeLessThanOrEqual(result.limit.heapMB)
    expect(result.after.rssMB).toBeLessThanOrEqual(result.limit.rssMB)
    // It was worth it: the service answered in many ways, and sessions were opened.
    expect(Object.keys(result.answers)).toEqual(expect.arrayContaining(['101', '200', '400', '404', '405']))
  },
  LIMIT_MS,
)
