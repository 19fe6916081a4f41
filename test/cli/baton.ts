/**
 * Runs `baton` as a user does: a process of its own, with an environment that has nothing of the tester's in
 * it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach } from 'vitest'

export const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
/** Node 20 cannot run TypeScript by itself. */
const TYPESCRIPT = ['--import', String(new URL('../../scripts/typescript.mjs', import.meta.url))]

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface BatonOptions {
  readonly environment?: { readonly [name: string]: string }
  /** What it reads from standard input; `null` to leave that open. */
  readonly input?: string | null
}

export class RunningBaton {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly ended: Promise<Ended>

  constructor(
    args: readonly string[],
    environment: { readonly [name: string]: string },
    input: string | null,
  ) {
    this.process = spawn(process.execPath, [...TYPESCRIPT, MAIN, ...args], {
      env: environment,
      stdio: 'pipe',
    })
    this.process.stdout!.setEncoding('utf8').on('data', text => {
      this.stdout += text
    })
    this.process.stderr!.setEncoding('utf8').on('data', text => {
      this.stderr += text
    })
    this.process.stdin!.on('error', () => {})
    if (input !== null) this.process.stdin!.end(input)
    this.ended = once(this.process, 'close').then(([code]) => {
      return { code: code as number | null, stdout: this.stdout, stderr: this.stderr }
    })
  }

  /** Resolves once it has printed this; rejects if it ends before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const found = () => pattern.exec(this.stdout) ?? pattern.exec(this.stderr)
    for (;;) {
      const match = found()
      if (match !== null) return match
      const next = Promise.race([once(this.process.stdout!, 'data'), once(this.process.stderr!, 'data')])
      const isOver = await Promise.race([next.then(() => false), this.ended.then(() => true)])
      if (isOver && found() === null) {
        throw new Error(`it ended without ${pattern}:\n${this.stdout}\n${this.stderr}`)
      }
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal)
  }

  /** With the commands that it ran and that said who they are: a test that fails leaves nobody behind. */
  end(): void {
    this.process.kill('SIGKILL')
    for (const [, pid] of this.stdout.matchAll(/^pid (\d+)$/gm)) {
      if (isAlive(Number(pid))) process.kill(Number(pid), 'SIGKILL')
    }
  }
}

/** `baton` with these settings of the service; `urlOf` is asked at each call. */
export function useBaton(urlOf: () => string) {
  const home = mkdtempSync(join(tmpdir(), 'baton-cli-'))
  const running = new Set<RunningBaton>()
  afterEach(() => {
    for (const one of running) one.end()
    running.clear()
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  const start = (
    args: readonly string[],
    { environment = {}, input = '' }: BatonOptions = {},
  ): RunningBaton => {
    // What lets a Node that cannot run TypeScript by itself run it comes with these options.
    const { PATH: path = '', NODE_OPTIONS: nodeOptions = '' } = process.env
    const one = new RunningBaton(
      args,
      { PATH: path, NODE_OPTIONS: nodeOptions, XDG_CONFIG_HOME: home, BATON_URL: urlOf(), ...environment },
      input,
    )
    running.add(one)
    return one
  }
  const run = (args: readonly string[], options?: BatonOptions): Promise<Ended> => start(args, options).ended
  return { home, start, run }
}

/** The lines of standard output, each of them JSON. */
export function jsonLines({ stdout }: Ended): unknown[] {
  return stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}

/** The one JSON object that a command prints. */
export function jsonOf(ended: Ended): { readonly [name: string]: unknown } {
  const lines = jsonLines(ended)
  if (lines.length !== 1)
    throw new Error(`${lines.length} lines instead of one: ${ended.stdout}${ended.stderr}`)
  return lines[0] as { readonly [name: string]: unknown }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
