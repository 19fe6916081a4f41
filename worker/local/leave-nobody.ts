/**
 * No process outlives its launcher, also if that is killed and can do nothing any more. A watchdog, which is
 * a process of its own, reads from a pipe that only the launcher can write to; when the launcher is gone, the
 * pipe ends, and the watchdog ends what is left.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { isAlive } from './storage-lock.ts'

/** `+ pid` and `- pid`, line by line; at the end, those that are left. */
const WATCH = `const pids = new Set()
require('node:readline').createInterface({ input: process.stdin })
  .on('line', line => pids[line[0] === '+' ? 'add' : 'delete'](Number(line.slice(2))))
  .on('close', () => { for (const pid of pids) try { process.kill(pid, 'SIGKILL') } catch {} })`

let watchdog: ChildProcess | undefined

export interface Waiting {
  readonly child: ChildProcess
  /** Until then nothing of the program has run. */
  begin(): void
}

/**
 * The program is stopped at a gate that opens only once the watchdog knows of it: if the launcher is killed
 * before that, the gate never opens. The shell that waits there becomes the program, so its id stays. Windows
 * needs neither gate nor watchdog, because Node puts all children into a job that ends with it.
 */
const GATE = 'read -r _ && exec "$0" "$@" </dev/null'

export async function startToEndWithLauncher(
  program: string,
  args: readonly string[],
  options: { readonly output: readonly ('ignore' | 'pipe')[]; readonly env?: NodeJS.ProcessEnv },
): Promise<Waiting> {
  const { output, env = process.env } = options
  if (process.platform === 'win32') {
    return { child: spawn(program, args, { stdio: ['ignore', ...output], env }), begin() {} }
  }
  watchdog ??= startWatchdog()
  const { stdin } = watchdog
  const child = spawn('/bin/sh', ['-c', GATE, program, ...args], { stdio: ['pipe', ...output], env })
  // One that has ended is told nothing.
  child.stdin!.on('error', () => {})
  if (child.pid !== undefined) {
    child.once('exit', () => stdin!.write(`- ${child.pid}\n`))
    await new Promise(resolve => stdin!.write(`+ ${child.pid}\n`, resolve))
  }
  return { child, begin: () => child.stdin!.end('\n') }
}

function startWatchdog(): ChildProcess {
  // It needs nothing of what the launcher was started with.
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(process.execPath, ['-e', WATCH], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
    // In a group of its own: what ends the others, such as Ctrl-C, must not end it first.
    detached: true,
    windowsHide: true,
  })
  child.on('error', () => {})
  child.stdin!.on('error', () => {})
  // It is no reason for the launcher to go on.
  child.unref()
  ;(child.stdin as Socket).unref()
  return child
}

const EVERY_MS = 1_000

/**
 * Ctrl-C in npm comes twice, from the terminal and from npm: the second one must not end a launcher that is
 * cleaning up. A terminal that is closed hangs up, and one has a key to quit as well.
 */
export function stopOnSignals(stop: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => stop())
  exitWithNpm(stop)
}

/** npm runs a script in a shell, and neither passes on that it was killed: so the script looks after them. */
function exitWithNpm(exit: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const shell = process.ppid
  const npm = parentOf(shell)
  const timer = setInterval(() => {
    if (process.ppid === shell && isAlive(shell) && (npm === null || isAlive(npm))) return
    clearInterval(timer)
    exit()
  }, EVERY_MS)
  timer.unref()
}

/** `null` where the system does not tell. */
function parentOf(pid: number): number | null {
  if (process.platform === 'win32') return null
  try {
    // Not every Linux has `ps`. The name of the command comes before, in parentheses, and may have some of
    // its own.
    const [, parent] = /.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!
    return Number(parent)
  } catch {
    return parentByPs(pid)
  }
}

function parentByPs(pid: number): number | null {
  try {
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }))
  } catch {
    return null
  }
}
