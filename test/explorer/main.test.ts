import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { DEFAULT_BOUND } from './bound.ts'
import { COVERAGE_GOALS } from './coverage-goals.ts'
import { LOCK_MEMBERS_LADDER, MEMBERS_LADDER } from './ladder.ts'
import { LOCK_COVERAGE_GOALS } from './lock-model.ts'
import { parseOptions } from './options.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
const SMALL = '--tries 1 --operations 0 --crashes 0 --suspicions 0 --losses 0 --duplicates 0'.split(' ')

describe('the options', () => {
  it('are those of the issue by default', () => {
    const options = parseOptions([])
    expect(options).toMatchObject({ protocols: ['wme-1', 'wme-2'], minutes: 10, json: false, ladder: true })
    expect(options.bound).toEqual(DEFAULT_BOUND)
    expect(options.bound).toMatchObject({ participants: 3, tries: 2, operations: 2, lag: 0 })
    expect(options.bound).toMatchObject({ crashes: 1, suspicions: 1, losses: 1, duplicates: 1, faults: 4 })
  })

  it('change the bound, and leave the ladder out', () => {
    const options = parseOptions(['--crashes', '0', '--users', '2,3', '--order', 'none', '--minutes', '0.5'])
    expect(options).toMatchObject({ ladder: false, minutes: 0.5 })
    expect(options.bound).toMatchObject({ crashes: 0, users: [2, 3], order: 'none', faults: 3 })
  })

  it.each([
    ['--crashes'],
    ['--crashes', 'x'],
    ['--nonsense', '1'],
    ['crashes'],
    ['--order', 'any'],
    ['--users', '4'],
    ['--readers', '3'],
  ])('are refused when they make no sense: %s %s', (...args) => {
    expect(() => parseOptions(args)).toThrow()
  })
})

describe('the ladder', () => {
  it('has rungs of different names, each within the reach of the whole bound', () => {
    for (const ladder of [MEMBERS_LADDER, LOCK_MEMBERS_LADDER])
      expect(new Set(ladder.map(({ name }) => name)).size).toBe(ladder.length)
  })
})

describe('npm run explore', () => {
  it('prints one JSON array with one object for each protocol, and nothing else', () => {
    const output = execFileSync(process.execPath, [MAIN, '--json', ...SMALL], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
    const reports = JSON.parse(output)
    expect(reports).toHaveLength(2)
    expect(reports.map(({ protocol }: { protocol: string }) => protocol)).toEqual(['wme-1', 'wme-2'])
    for (const report of reports) {
      expect(report).toMatchObject({ complete: true, violations: 0, violation: null, ladder: [] })
      expect(report.states).toBeGreaterThan(100)
      expect(report.seconds).toBeGreaterThan(0)
      expect(report.bound).toMatchObject({ tries: 1, operations: 0, faults: 0 })
      expect(Object.keys(report.coverageGoals)).toEqual([...COVERAGE_GOALS])
    }
  })

  it('explores locks that guard no state, with bounds of their own', () => {
    const words = ['--json', '--protocol', 'ricart-agrawala,maekawa', ...SMALL]
    const reports = JSON.parse(
      execFileSync(process.execPath, [MAIN, ...words], { encoding: 'utf8', stdio: 'pipe' }),
    )
    expect(reports.map(({ protocol }: { protocol: string }) => protocol)).toEqual([
      'ricart-agrawala',
      'maekawa',
    ])
    for (const report of reports) {
      expect(report).toMatchObject({ complete: true, violations: 0 })
      expect(report.states).toBeGreaterThan(20)
      expect(Object.keys(report.coverageGoals)).toEqual([...LOCK_COVERAGE_GOALS])
    }
  })

  it('refuses what it does not know', () => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, '--what', '1'], { encoding: 'utf8' })
    expect(status).toBe(2)
    expect(stderr).toContain('unknown option --what')
  })
})
