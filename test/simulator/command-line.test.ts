/**
 * `npm run sim` as a program: its options, its exit status, its JSON, and what it says when a bug is put
 * back.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../cli/arguments.ts'
import { parseCommandLine, replayCommand } from './command-line.ts'
import { FAULTS } from './faults.ts'
import { OPTIONS } from './fixtures.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

function sim(words: readonly string[], root = ROOT) {
  const result = spawnSync(process.execPath, [join(root, 'test/simulator/main.ts'), ...words], {
    encoding: 'utf8',
    timeout: 100_000,
    maxBuffer: 100_000_000,
  })
  return { status: result.status, output: result.stdout, progress: result.stderr }
}

describe('options', () => {
  it('are read from the command line', () => {
    const line =
      '--protocol wme-2 --participants 3,5 --seeds 7 --first-seed 9 --faults loss,clients --json --workers 2'
    expect(parseCommandLine(line.split(' '))).toMatchObject({
      protocols: ['wme-2'],
      participants: [3, 5],
      seeds: 7,
      firstSeed: 9,
      faults: ['loss', 'client-crashes', 'withdrawals', 'expiries', 'operator', 'mischief'],
      json: true,
      workers: 2,
    })
    expect(parseCommandLine(['--faults=none', '--protocol=all']).faults).toEqual([])
    expect(parseCommandLine([]).faults).toEqual(FAULTS)
    expect(parseCommandLine([])).toEqual(parseCommandLine(['--protocol', 'all']))
    expect(parseCommandLine(['--protocol', 'maekawa,ricart-agrawala', '--plain'])).toMatchObject({
      protocols: ['maekawa', 'ricart-agrawala'],
      plain: true,
    })
  })

  it('of the whole service are few: the rest is drawn from the seed', () => {
    const words = '--service --seeds 7 --workers 2 --json'.split(' ')
    expect(parseCommandLine(words)).toMatchObject({ service: true, seeds: 7, workers: 2, json: true })
    const replay = '--service --replay 7 --without loss,1001,3 --trace'.split(' ')
    expect(parseCommandLine(replay)).toMatchObject({ replay: 7, without: ['loss', '1001', '3'], trace: true })
    expect(parseCommandLine([]).service).toBe(false)
  })

  it('are refused when they are bad', () => {
    for (const line of [
      '--nonsense',
      '--seeds',
      '--seeds 0',
      '--seeds 1.5',
      '--seeds --json',
      '--participants 14',
      '--participants 3,x',
      '--protocol raft',
      '--faults loss,earthquake',
      '--trace',
      '--replay 1',
      '--replay 1 --protocol wme-1 --participants 3,4',
      '--service --protocol wme-1',
      '--service --participants 3',
      '--service --without loss',
      '--replay 1 --protocol wme-1 --participants 3 --without loss',
    ]) {
      expect(() => parseCommandLine(line.split(' ')), line).toThrow(UsageError)
    }
  })

  it('make up the command that runs a seed again', () => {
    const options = { ...OPTIONS, faults: ['loss', 'skew'] as const, durationMs: 500, users: 1, plain: true }
    const command = replayCommand(options, 17)
    expect(command).toBe(
      'npm run sim -- --protocol wme-1 --participants 3 --replay 17 --faults loss,skew --duration 500 --users 1 --plain --trace',
    )
    expect(parseCommandLine(command.split(' ').slice(4))).toMatchObject({
      replay: 17,
      trace: true,
      plain: true,
      durationMs: 500,
    })
  })
})

describe('the program', () => {
  it('prints its options first and counts at the end', () => {
    const { status, output } = sim(['--protocol', 'wme-1', '--seeds', '2', '--participants', '2'])
    expect(status).toBe(0)
    expect(output).toMatch(/^protocol +wme-1\n/)
    expect(output).toMatch(/2 runs, \d+ steps, \d+ steps per second of one core, 0 violations\n$/)
  })

  it('prints one JSON object with --json', () => {
    const { status, output, progress } = sim([
      '--json',
      '--protocol',
      'wme-1,wme-2',
      '--seeds',
      '2',
      '--participants',
      '2,3',
      '--workers',
      '2',
    ])
    expect(status).toBe(0)
    const report = JSON.parse(output)
    expect(report).toMatchObject({
      protocol: ['wme-1', 'wme-2'],
      participants: [2, 3],
      runs: 8,
      violations: 0,
    })
    expect(report.steps).toBeGreaterThan(1_000)
    expect(report.stepsPerSecond).toBeGreaterThan(0)
    expect(report.counts.grants).toBeGreaterThan(0)
    expect(progress).toContain('8 of 8 runs')
  })

  it('runs the whole service, and one seed of it again', () => {
    const { status, output, progress } = sim(['--service', '--seeds', '4', '--json', '--workers', '2'])
    expect(status).toBe(0)
    const report = JSON.parse(output)
    expect(report).toMatchObject({ service: true, runs: 4, violations: 0, failures: [], missing: [] })
    expect(report.steps).toBeGreaterThan(1_000)
    expect(report.counts.acknowledged).toBeGreaterThan(0)
    expect(progress).toContain('4 of 4 runs')
    const replay = sim(['--service', '--replay', '2', '--trace'])
    expect(replay.status).toBe(0)
    expect(replay.output).toMatch(/no violation\n\d+ steps, transcript [0-9a-f]{8}\n$/)
    expect(sim(['--service', '--replay', '2', '--trace']).output).toBe(replay.output)
  })

  it('refuses bad options with status 2 and helps with status 0', () => {
    const { status, progress } = sim(['--seeds', 'many'])
    expect(status).toBe(2)
    expect(progress).toContain("'--seeds' is an integer from 1 to 1000000000, not 'many'")
    expect(sim(['--help'])).toMatchObject({ status: 0 })
  })

  it('runs a seed again, with a transcript that is always the same', () => {
    const words = [
      '--protocol',
      'wme-2',
      '--participants',
      '3',
      '--replay',
      '5',
      '--duration',
      '300',
      '--trace',
    ]
    const { status, output } = sim(words)
    expect(status).toBe(0)
    expect(output).toContain('< start (clock')
    expect(sim(words).output).toBe(output)
  })

  it('fails a batch in which something never happened', () => {
    const words = ['--protocol', 'wme-1', '--participants', '1', '--seeds', '200', '--duration', '1']
    const { status, output } = sim(words)
    expect(status).toBe(1)
    expect(output).toContain('this never happened')
  })
})

describe('a bug that is put back', () => {
  /** A copy of the core in which one line is different. */
  function withBug(file: string, line: string, bug: string, use: (root: string) => void): void {
    const root = mkdtempSync(join(tmpdir(), 'baton-'))
    try {
      writeFileSync(join(root, 'package.json'), '{"type":"module"}')
      cpSync(join(ROOT, 'shared'), join(root, 'shared'), { recursive: true })
      cpSync(join(ROOT, 'test/simulator'), join(root, 'test/simulator'), { recursive: true })
      for (const file of ['cli/arguments.ts', 'test/tools/options-or-exit.ts']) {
        cpSync(join(ROOT, file), join(root, file))
      }
      const path = join(root, file)
      const text = readFileSync(path, 'utf8')
      expect(text).toContain(line)
      writeFileSync(path, text.replace(line, bug))
      use(root)
    } finally {
      rmSync(root, { recursive: true })
    }
  }

  it('is found, named, made smaller and can be run again', () => {
    const line = 'export const majority = (participants: number): number => Math.floor(participants / 2) + 1'
    const bug = 'export const majority = (participants: number): number => Math.floor(participants / 2)'
    withBug('shared/protocols/quorum.ts', line, bug, root => {
      const words = ['--protocol', 'wme-2', '--participants', '4', '--seeds', '60', '--stop-at-first']
      const { status, output } = sim(words, root)
      expect(status).toBe(1)
      expect(output).toMatch(/VIOLATION \(\w+\) of/)
      expect(output).toContain('A smaller run with the same violation')
      const replays = [...output.matchAll(/npm run sim -- (.* --replay .*)/g)].map(match => match[1]!)
      for (const replay of replays) expect(sim(replay.split(' '), root).status).toBe(1)
    })
  })

  it('that makes a step endless is found by the clock', () => {
    const limit = 'const STUCK_MS = { run: 60_000, shrink: 300_000 } as const'
    const shortLimit = 'const STUCK_MS = { run: 2_000, shrink: 2_000 } as const'
    withBug('test/simulator/crew.ts', limit, shortLimit, root => {
      const path = join(root, 'shared/protocols/wme/wme.ts')
      const step = 'const step = beginStep('
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replace(step, `while (input.type === 'start') {}\n${step}`),
      )
      const { status, output } = sim(['--protocol', 'wme-1', '--seeds', '1', '--json'], root)
      expect(status).toBe(1)
      expect(JSON.parse(output)).toMatchObject({ violations: 1, failures: [{ rule: 'endless' }] })
    })
  })
})
