/** `npm run count -- --json` on a young lock: what it prints, and that the prices follow from the counts. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CountReport } from '../../bench/count/report.ts'
import { fullPrice, usageOfMillion } from '../../bench/prices.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const UNITS = ['rowsWritten', 'rowsRead', 'requestsBetweenObjects', 'alarms', 'alarmsSet', 'pricePerMillion']

let report: CountReport
beforeAll(() => {
  const args = ['bench/count/main.ts', '--json', '--before', '5', '--number', '3', '--wakings', '1']
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  report = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as CountReport
}, 240_000)

describe('what one use of a lock costs', () => {
  it.each(['transact', 'operation', 'cycle', 'threeCalls'] as const)(
    '%s: every unit, busy and woken',
    use => {
      for (const state of ['busy', 'woken'] as const) {
        expect(Object.keys(report[use][state])).toEqual(UNITS)
        for (const count of Object.values(report[use][state])) expect(count).toBeGreaterThanOrEqual(0)
        expect(report[use][state].rowsWritten).toBeGreaterThan(0)
      }
    },
  )

  it('is more for a lock that has to be brought back into memory', () => {
    for (const use of ['transact', 'operation', 'cycle', 'threeCalls'] as const) {
      expect(report[use].woken.rowsRead).toBeGreaterThan(report[use].busy.rowsRead)
    }
    // Three participants read their journals and checkpoints.
    expect(report.wake.rowsRead).toBeGreaterThanOrEqual(report.transact.woken.rowsRead)
    expect(report.wake.rowsRead).toBeGreaterThan(3)
  })

  it('is a request of the owner to others for an operation', () => {
    expect(report.operation.busy.requestsBetweenObjects).toBeGreaterThanOrEqual(1)
    expect(report.transact.busy.requestsBetweenObjects).toBeGreaterThanOrEqual(1)
  })

  it('has the price that follows from its counts', () => {
    const { rowsWritten, rowsRead, requestsBetweenObjects, alarms, alarmsSet } = report.transact.busy
    const seconds = 0.25
    const counts = {
      router: 1,
      calls: 1,
      peers: requestsBetweenObjects,
      alarms,
      rowsWritten,
      alarmsSet,
      rowsRead,
    }
    const price = fullPrice(usageOfMillion({ ...counts, seconds }))
    expect(report.transact.busy.pricePerMillion).toBeCloseTo(price, 2)
  })
})
