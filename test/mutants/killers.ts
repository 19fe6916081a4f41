/**
 * The killers of mutants, cheapest first. Each runs in a copy of the project, in a process of its own, with a
 * time limit.
 */
import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import type { Subject } from './catalogue.ts'

export interface Killer {
  readonly name: string
  readonly command: readonly string[]
}

export interface Verdict {
  readonly killed: boolean
  /** What noticed the mutant: the test that failed, if a suite did, or the time limit. */
  readonly how: string
  readonly output: string
}

const TIME_LIMIT_MS = 300_000
const KEPT_OUTPUT = 8_000

interface Judges {
  readonly suites: readonly string[]
  /** Paths in the suites' folders that say nothing about the subject. */
  readonly without?: string
  /** As the simulator names them. */
  readonly protocols: string
  readonly participants: readonly number[]
  /** More words for the simulator. */
  readonly simulator?: readonly string[]
  readonly explorer: readonly string[]
  /** Whether the simulator of the whole service is a judge, too. */
  readonly service?: true
}

/** Tests of what all protocols share. */
const COMMON = 'test/protocols/common'

const LOCKS = ['test/explorer/locks.test.ts']

const JUDGES: { readonly [subject in Subject]: Judges } = {
  wme: {
    // The slash keeps wme-consensus out.
    suites: ['test/protocols/wme/', COMMON, 'test/resource'],
    protocols: 'wme-1,wme-2',
    participants: [3, 5],
    explorer: ['test/explorer'],
  },
  members: {
    suites: ['test/protocols/members'],
    protocols: 'wme-1,wme-2',
    participants: [3],
    simulator: ['--members'],
    explorer: [],
  },
  'wme-consensus': {
    suites: ['test/protocols/wme-consensus', COMMON],
    protocols: 'wme-consensus',
    participants: [3, 5],
    explorer: [],
  },
  'ricart-agrawala': {
    suites: ['test/protocols/ricart-agrawala'],
    protocols: 'ricart-agrawala',
    participants: [3, 5],
    explorer: LOCKS,
  },
  // With 13 nodes about one run in eight of the printed algorithm ends in a deadlock; with 3 hardly any does.
  maekawa: {
    suites: ['test/protocols/maekawa'],
    protocols: 'maekawa',
    participants: [3, 7, 13],
    explorer: LOCKS,
  },
  'lock-only': {
    suites: ['test/protocols/lock-only', 'test/protocols/maekawa', 'test/protocols/ricart-agrawala', COMMON],
    protocols: 'maekawa,ricart-agrawala',
    participants: [3],
    explorer: LOCKS,
  },
  birth: {
    suites: ['test/birth', 'test/simulator/service/births.test.ts'],
    protocols: '',
    participants: [],
    explorer: [],
    service: true,
  },
  participant: {
    suites: [
      'test/participant',
      'test/members',
      'test/service/superseded.test.ts',
      'test/service/contract-delete.test.ts',
      'test/service/contract-export.test.ts',
      'test/service/contract-holders.test.ts',
      'test/service/contract-import.test.ts',
      'test/simulator/service/births.test.ts',
      'test/simulator/service/clocks.test.ts',
      'test/simulator/service/regressions.test.ts',
    ],
    without: 'test/participant/memory.test.ts',
    protocols: '',
    participants: [],
    explorer: [],
    service: true,
  },
  service: {
    suites: [
      'test/router',
      'test/client',
      'test/recipes',
      'test/cli/child.test.ts',
      'test/cli/run.test.ts',
      'test/members',
      'test/participant/lock-index.test.ts',
      'test/service/contract-export.test.ts',
      'test/service/contract-import.test.ts',
      'test/service/contract-holders.test.ts',
      'test/service/contract-list-locks.test.ts',
      'test/simulator/service/regressions.test.ts',
    ],
    protocols: '',
    participants: [],
    explorer: [],
    service: true,
  },
}

export const suitesOf = (subject: Subject): readonly string[] => JUDGES[subject].suites

/** `first`: the files of tests that are asked before all others. */
export function killersOf(subject: Subject, seeds: number, first: readonly string[] = []): Killer[] {
  const { suites, without, protocols, participants, simulator = [], explorer, service } = JUDGES[subject]
  const test = (name: string, paths: readonly string[], options: readonly string[] = []): Killer => ({
    name,
    command: [
      ...[
        'node_modules/vitest/vitest.mjs',
        'run',
        '--root',
        '.',
        '--config',
        'test/mutants/vitest.config.ts',
      ],
      ...[...options, ...paths],
    ],
  })
  const simulate = (count: number): Killer => ({
    name: `simulator, ${seeds} seeds, N = ${count}`,
    command: [
      'test/simulator/main.ts',
      ...['--protocol', protocols, '--participants', String(count)],
      ...['--seeds', String(seeds), '--workers', '1', '--stop-at-first', '--no-shrink', ...simulator],
    ],
  })
  const simulateBirth: Killer = {
    name: `simulator, ${10 * seeds} births`,
    command: ['test/simulator/main.ts', '--birth', '--seeds', String(10 * seeds), '--stop-at-first'],
  }
  const simulateService: Killer = {
    name: `simulator, ${seeds} seeds of the service`,
    command: [
      ...['test/simulator/main.ts', '--service', '--seeds', String(seeds)],
      ...['--workers', '1', '--stop-at-first', '--no-shrink'],
    ],
  }
  return [
    ...(first.length === 0 ? [] : [test('suites', first)]),
    test('suites', suites, without === undefined ? [] : ['--exclude', without]),
    ...participants.map(simulate),
    ...(subject === 'birth' ? [simulateBirth] : []),
    ...(explorer.length === 0 ? [] : [test('explorer', explorer)]),
    ...(service ? [simulateService] : []),
  ]
}

/** Node 20 cannot run TypeScript by itself. What turns it into JavaScript is not what is tested. */
const TYPESCRIPT = ['--import', String(new URL('../../scripts/typescript.mjs', import.meta.url))]

/** The killers that run, each with a group of processes of its own. */
const running = new Set<number>()

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const group of running) killGroup(group)
    process.exit(1)
  })

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // All of them are gone.
  }
}

/**
 * A killer that fails has killed the mutant. So has one that runs into the time limit if the mutant made it
 * run without end; on a machine that is slow for other reasons, that says nothing, so the report tells them
 * apart.
 */
export function runKiller(folder: string, killer: Killer): Promise<Verdict> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [...TYPESCRIPT, ...killer.command], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    running.add(child.pid!)
    let late = false
    const timer = setTimeout(() => {
      late = true
      killGroup(child.pid!)
    }, TIME_LIMIT_MS)
    let output = ''
    const keep = (chunk: Buffer) => {
      output = (output + chunk).slice(-KEPT_OUTPUT)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    // What a mutant makes run without end would go on by itself.
    child.once('exit', () => killGroup(child.pid!))
    child.once('close', status => {
      clearTimeout(timer)
      running.delete(child.pid!)
      const how = late ? 'the time limit' : (failedTest(output) ?? killer.name)
      resolve({ killed: status !== 0, how, output })
    })
  })
}

/** The first test that the reporter says has failed. */
function failedTest(output: string): string | undefined {
  return /^ *FAIL +(.+)$/m.exec(stripVTControlCharacters(output))?.[1]?.trim()
}
