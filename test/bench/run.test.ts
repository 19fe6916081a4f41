/** A real run of everything, as short as it can be: each part gives its rows, and the report has them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { CASES } from '../../bench/case.ts'
import { type BenchOptions, PARTS, readOptions } from '../../bench/options.ts'
import { LAYERS } from '../../bench/parts/layers.ts'
import { canCountDiskCalls } from '../../bench/processes.ts'
import { aimsOf } from '../../bench/report/aims.ts'
import { reportOf } from '../../bench/report/page.ts'
import type { Result } from '../../bench/result.ts'
import { type Amounts, run } from '../../bench/run.ts'

const SHORTEST: Amounts = {
  manyLocks: 2,
  disk: 2,
  uses: 1,
  wakings: 1,
  profiled: 20,
  failovers: 1,
  growth: { keys: [2], operations: [3], participants: [1, 3], locks: [1, 2] },
  growthRepeats: 2,
}
/** test/bench/count.test.ts counts rows. */
const WITHOUT_ROWS = PARTS.filter(part => part !== 'rows').join()

describe('a run of the benchmark', () => {
  const progress: string[] = []
  let result: Result
  beforeAll(async () => {
    const options = readOptions(['--only', WITHOUT_ROWS, '--rounds', '1', '--repeats', '1'])
    result = await run(options, 'npm run bench', line => progress.push(line), SHORTEST)
  }, 300_000)

  it('leaves nothing out', () => {
    expect(result.notes).toEqual([])
  })

  it('measures every case with one process and with one for each participant', () => {
    for (const processes of ['one', 'each'] as const) {
      const measured = result.rows.filter(
        row => row.subject === 'wme-2' && row.participants === 3 && row.processes === processes,
      )
      expect(measured.map(row => row.case)).toEqual(CASES)
      for (const { ratio, p99 } of measured) {
        expect(ratio!.median).toBeGreaterThan(0)
        expect(p99).toBeGreaterThan(0)
      }
    }
  })

  it('measures the other protocols, the yardstick and the floor', () => {
    const subjects = new Set(result.rows.map(row => `${row.subject} ${row.participants} ${row.processes}`))
    expect([...subjects].sort()).toEqual([
      'plain object 1 one',
      'replicated write, both peers asked 3 one',
      'replicated write, one peer asked 3 one',
      'wme-1 3 one',
      'wme-1 5 one',
      'wme-2 3 each',
      'wme-2 3 one',
      'wme-2 5 one',
    ])
  })

  it('counts requests between objects where one lock is used', () => {
    const of = (name: string) =>
      result.rows.find(row => row.subject === 'wme-2' && row.processes === 'one' && row.case === name)!
    expect(of('transact').requestsBetweenObjects).toBeGreaterThanOrEqual(1)
    expect(of('50 clients on 100 locks').requestsBetweenObjects).toBe(null)
  })

  it('counts calls to the disk where it can, and says so where it cannot', () => {
    expect(result.disk.map(row => `${row.subject}: ${row.case}`)).toEqual(
      ['plain object', 'wme-2'].flatMap(subject =>
        ['acquire and release', 'one operation', 'transact'].map(name => `${subject}: ${name}`),
      ),
    )
    const counts = result.disk.flatMap(({ pwrites, fsyncs }) => [pwrites, fsyncs])
    if (canCountDiskCalls()) for (const count of counts) expect(count).toBeGreaterThan(0)
    else expect(new Set(counts)).toEqual(new Set([null]))
  })

  it('has the memory of each group of processes once', () => {
    const names = result.memory.map(({ subject, processes }) => `${subject} ${processes}`)
    expect(names).toEqual(['plain object one', 'wme-2 one', 'wme-2 each'])
  })

  it('finds time in every part of the code', () => {
    const names = result.profile.map(({ subject, case: of }) => `${subject}: ${of}`)
    expect(names).toContain('wme-2: one operation')
    expect(new Set(names).size).toBe(9)
    const total = (of: 'router' | 'participant' | 'protocol') =>
      result.profile.reduce((sum, { microseconds }) => sum + microseconds[of], 0)
    for (const part of ['router', 'participant', 'protocol'] as const) expect(total(part)).toBeGreaterThan(0)
  })

  it('measures one layer after the other', () => {
    const measured = result.layers.map(row => `${row.subject}: ${row.case}`)
    for (const layer of [LAYERS.anew, LAYERS.rpc, LAYERS.worker, 'wme-2'])
      for (const name of ['acquire and release', 'one operation', '50 clients on 100 locks'])
        expect(measured).toContain(`${layer}: ${name}`)
    expect(measured.filter(of => of.startsWith(LAYERS.replicated))).toEqual([
      `${LAYERS.replicated}: one operation`,
    ])
  })

  it('loses the owner in every way', () => {
    expect(result.failover.map(({ fault, nextClient }) => `${fault}, ${nextClient}`)).toEqual([
      'killed, waits already',
      'killed, asks then',
      'frozen, waits already',
      'frozen, asks then',
    ])
    for (const { milliseconds } of result.failover) expect(milliseconds.median).toBeGreaterThan(0)
  })

  it('grows in every way', () => {
    expect(result.growth.map(({ of, number }) => `${number} ${of}`)).toEqual([
      '2 keys',
      '3 operations',
      '1 participants',
      '3 participants',
      '1 locks',
      '2 locks',
      '1 locks, plain object',
      '2 locks, plain object',
    ])
  })

  it('has measured the aims, but for rows and other services', () => {
    const left = aimsOf(result).filter(({ measured }) => measured === null)
    const isElsewhere = /to etcd|to ZooKeeper|^rows|^price/
    const isCounted = /write calls|processor seconds/
    for (const { aim } of left) {
      expect(
        isElsewhere.test(aim) ||
          (process.platform !== 'linux' && isCounted.test(aim)) ||
          !canCountDiskCalls(),
      ).toBe(true)
    }
    expect(reportOf(result).length).toBeGreaterThan(10)
  })

  it('says how far it is', () => {
    expect(progress).toContain('round 1/1')
    expect(progress.some(line => line.startsWith('failover: frozen'))).toBe(true)
    expect(progress.some(line => line.startsWith('growth: 2 keys'))).toBe(true)
  })
})

describe('a part that fails', () => {
  it('is left out, and the result says why', async () => {
    const sizes = { keys: [], operations: [], participants: [99], locks: [] }
    const options = readOptions(['--only', 'growth'])
    const said: string[] = []
    const failed = await run(options, 'npm run bench', line => said.push(line), {
      ...SHORTEST,
      growth: sizes,
    })
    expect(failed.growth).toEqual([])
    expect(failed.notes).toEqual([expect.stringMatching(/^The part `growth` is not here.* 400 /)])
    expect(said.at(-1)).toMatch(/^growth failed: /)
  })
})

describe('the options', () => {
  const parts = (...args: string[]) => [...readOptions(args).parts]

  it('leave out what takes long unless it is asked for', () => {
    expect(parts()).toEqual([
      'speed',
      'protocols',
      'processes',
      'disk',
      'rows',
      'profile',
      'layers',
      'failover',
    ])
    expect(parts('--growth')).toEqual([...PARTS])
    expect(parts('--only', 'growth,disk')).toEqual(['growth', 'disk'])
  })

  it('know whether everything is measured', () => {
    const isPartial = (...args: string[]): BenchOptions['isPartial'] => readOptions(args).isPartial
    expect([isPartial('--write'), isPartial('--only', 'speed')]).toEqual([false, true])
  })
})
