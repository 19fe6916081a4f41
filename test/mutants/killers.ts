/** Who may kill a mutant, cheapest first. Each runs in a copy of the project, in a process of its own, with a time limit. */
import { spawn } from 'node:child_process'

export interface Killer {
  readonly name: string
  readonly command: readonly string[]
}

export interface Verdict {
  readonly killed: boolean
  readonly seconds: number
  readonly output: string
}

const TIME_LIMIT_MS = 300_000
const KEPT_OUTPUT = 4_000

export function killers(seeds: number): Killer[] {
  const simulate = (participants: number): Killer => ({
    name: `simulator, ${seeds} seeds, N = ${participants}`,
    command: [
      'test/simulator/main.ts',
      ...['--protocol', 'wme-1,wme-2', '--participants', String(participants)],
      ...['--seeds', String(seeds), '--workers', '1', '--stop-at-first', '--no-shrink'],
    ],
  })
  return [
    {
      name: 'suites',
      command: [
        'node_modules/vitest/vitest.mjs',
        'run',
        '--bail=1',
        '--reporter=dot',
        'test/protocols',
        'test/resource',
      ],
    },
    simulate(3),
    simulate(5),
    {
      name: 'explorer',
      command: ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--reporter=dot', 'test/explorer'],
    },
  ]
}

/** A killer that fails has killed; one that runs into the time limit has, too: the mutant made it run without end. */
export function runKiller(folder: string, killer: Killer): Promise<Verdict> {
  return new Promise(resolve => {
    const began = performance.now()
    const child = spawn(process.execPath, [...killer.command], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS)
    let output = ''
    const keep = (chunk: Buffer) => {
      output = (output + chunk).slice(-KEPT_OUTPUT)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('close', status => {
      clearTimeout(timer)
      resolve({ killed: status !== 0, seconds: (performance.now() - began) / 1_000, output })
    })
  })
}
