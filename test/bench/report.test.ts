/** The aims, the page, the chart and the README's figures: all of them follow from the result. */
import { describe, expect, it } from 'vitest'
import { type Aim, aimsOf } from '../../bench/report/aims.ts'
import { chart } from '../../bench/report/chart.ts'
import { benchmarkPage } from '../../bench/report/page.ts'
import { withSpeed } from '../../bench/report/readme.ts'
import { figure, spread } from '../../bench/report/tables.ts'
import type { Result } from '../../bench/result.ts'
import { replaceParts } from '../../bench/run.ts'
import { GOOD, NOTHING, row } from './result.ts'

const LIMITS = [1.1, 1.8, 1, 1, 1, 2, 0.8, 1.2, 1.2, 1.2, 2, 8, 12, 14, 6, 8, 300, 700]

const aimOf = (result: Result, words: string): Aim => aimsOf(result).find(({ aim }) => aim.includes(words))!

/** The result with other figures in one row of Baton's. */
const withRow = (name: Parameters<typeof row>[1], values: Parameters<typeof row>[2]): Result => ({
  ...GOOD,
  rows: GOOD.rows.map(old =>
    old.subject === 'wme-2' && old.case === name ? row('wme-2', name, values) : old,
  ),
})

describe('the aims', () => {
  it('have the limits that we set ourselves', () => {
    expect(aimsOf(GOOD).map(({ limit }) => limit)).toEqual(LIMITS)
  })

  it('are all met by a good result, and each says what was measured', () => {
    const aims = aimsOf(GOOD)
    expect(aims.filter(({ met }) => !met)).toEqual([])
    for (const { measured } of aims) expect(measured).toBeTypeOf('number')
  })

  it('are not met by what was not measured', () => {
    for (const aim of aimsOf(NOTHING)) expect([aim.measured, aim.met]).toEqual([null, false])
  })

  it('are ratios of the same round, and not of medians', () => {
    const slow = withRow('one operation', { ratio: { median: 1.81, low: 1, high: 2 } })
    expect(aimOf(slow, 'one operation, ms, to the plain object')).toMatchObject({
      measured: 1.81,
      met: false,
    })
  })

  it('turn a ratio of times into one of rates', () => {
    const quick = withRow('50 clients on 100 locks', { ratio: { median: 1.25, low: 1, high: 2 } })
    expect(aimOf(quick, 'cycles per second')).toMatchObject({ measured: 0.8, met: true })
    const slow = withRow('50 clients on 100 locks', { ratio: { median: 1.26, low: 1, high: 2 } })
    expect(aimOf(slow, 'cycles per second').met).toBe(false)
  })

  it('compare with etcd and ZooKeeper, and with nobody if they were not there', () => {
    expect(aimOf(GOOD, 'to etcd')).toMatchObject({ measured: 0.5, met: true })
    expect(aimOf(GOOD, 'to ZooKeeper')).toMatchObject({ measured: 2.5, met: true })
    const alone = { ...GOOD, rows: GOOD.rows.filter(({ subject }) => subject !== 'ZooKeeper') }
    expect(aimOf(alone, 'to ZooKeeper')).toMatchObject({ measured: null, met: false })
  })

  it('are about the slower way in which the next client of a frozen owner comes', () => {
    const failover = GOOD.failover.map(old =>
      old.fault === 'frozen' && old.nextClient === 'asks then'
        ? { ...old, milliseconds: { median: 701, low: 600, high: 800 } }
        : old,
    )
    expect(aimOf({ ...GOOD, failover }, 'frozen')).toMatchObject({ measured: 701, met: false })
  })
})

describe('the page', () => {
  it('has every part that was measured, and no other', () => {
    const headings = (result: Result) =>
      [...benchmarkPage(result).matchAll(/^## (.*)$/gm)].map(([, title]) => title)
    expect(headings(GOOD)).toEqual([
      'Aims',
      'Times',
      'The disk',
      'Rows, requests and prices',
      'Where the time goes',
      'One layer after the other',
      'When the owner is lost',
      'Growth',
    ])
    expect(headings(NOTHING)).toEqual(['Aims'])
  })

  it('says what is met, what is not, and what was not measured', () => {
    const page = benchmarkPage(withRow('transact', { ratio: { median: 1.5, low: 1, high: 2 } }))
    expect(page).toMatch(
      /^\| one operation, ms, to the plain object \| 2.00 \| .* \| ≤ 1.8 \| 1.00 \| yes \|$/m,
    )
    expect(page).toMatch(/^\| `transact`, beside .* \| ≤ 1 \| 1.50 \| no \|$/m)
    expect(benchmarkPage(NOTHING)).toMatch(/ \| – \| not measured \|$/m)
  })

  it('shows each layer beside the aim', () => {
    expect(benchmarkPage(GOOD)).toMatch(/^\| the aim \| 1.80 \|$/m)
    const layers = [row("Baton's Worker", '50 clients on 100 locks', { participants: 1 })]
    expect(benchmarkPage({ ...GOOD, layers })).toMatch(/^\| the aim \| 1.25 \(1.20\) \|$/m)
  })

  it('says what nobody could count', () => {
    const disk = GOOD.disk.map(old => ({ ...old, pwrites: null, fsyncs: null }))
    expect(benchmarkPage({ ...GOOD, disk })).toContain('| wme-2 | transact | not counted | not counted |')
  })

  it('has figures with as many digits as one can use', () => {
    expect([0, 0.123, 12.34, 123.4, 66_334].map(figure)).toEqual(['0.00', '0.12', '12.3', '123', '66,334'])
    expect(figure(null)).toBe(null)
    expect(spread({ median: 1, low: 0.5, high: 20 })).toBe('1.00 (0.50-20.0)')
    expect(spread({ median: 1, low: null, high: null })).toBe('1.00')
  })
})

describe('the chart', () => {
  it('has a bar for each ratio of three participants, with colours for a dark page', () => {
    const drawn = chart(GOOD)
    const bars = GOOD.rows.filter(({ ratio, participants }) => ratio !== null && participants === 3)
    expect(drawn.match(/<rect class="(?:baton|other)"/g)).toHaveLength(bars.length)
    expect(drawn).toContain('prefers-color-scheme: dark')
  })
})

describe('parts that are measured again', () => {
  const now: Result = {
    ...NOTHING,
    commands: ['npm run bench -- --only speed --write'],
    rows: [row('wme-2', 'transact', { p99: 99 })],
  }

  it('replace their own rows alone', () => {
    const merged = replaceParts(GOOD, now, new Set(['speed']))
    expect(merged.rows).toHaveLength(GOOD.rows.length)
    expect(merged.rows.filter(({ p99 }) => p99 === 99)).toEqual(now.rows)
    const { disk, use, failover, growth, memory, notes } = GOOD
    expect(merged).toMatchObject({ disk, use, failover, growth, memory, notes })
    expect(merged.commands).toEqual([...GOOD.commands, ...now.commands])
  })

  it('replace a whole part, also by nothing', () => {
    expect(replaceParts(GOOD, now, new Set(['failover'])).failover).toEqual([])
  })
})

describe('the README', () => {
  const readme =
    'taking the lock again takes 9.99 times as\nlong, one operation 9.99 times, and a whole `transact` 9 times.'

  it('gets the figures, and keeps its words and lines', () => {
    expect(withSpeed(readme, GOOD)).toBe(readme.replaceAll('9.99', '1.00').replace('9 times', '1.00 times'))
  })

  it('stays as it is if they were not measured', () => {
    expect(withSpeed(readme, NOTHING)).toBe(readme)
  })

  it('must have the sentence', () => {
    expect(() => withSpeed('Baton is quick.', GOOD)).toThrow('no sentence')
  })
})
