/**
 * No process outlives its launcher, even if that is killed and can do nothing any more. A separate shell
 * reads from a pipe that only the launcher can write to; when the launcher is gone, the pipe ends, and the
 * shell ends what is left.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { isAlive } from './storage-lock.ts'

/** `+ pid` and `- pid`, line by line; at the end, those that are left. It runs in any shell. */
const WATCH = `pids=
while read -r sign pid; do
  rest=
  for one in $pids; do [ "$one" = "$pid" ] || rest="$rest $one"; done
  pids=$rest
  if [ "$sign" = + ]; then pids="$pids $pid"; fi
done
if [ -n "$pids" ]; then kill -9 $pids; fi`

let watchdog: ChildProcess | undefined

/** From now on this process ends with this one. */
export function endWithLauncher(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined) return
  watchdog ??= startWatchdog()
  watchdog.stdin!.write(`+ ${pid}\n`)
  child.once('exit', () => watchdog!.stdin!.write(`- ${pid}\n`))
}

function startWatchdog(): ChildProcess {
  // In a group of its own: what ends the others, such as Ctrl-C, must not end it first.
  const child = spawn('/bin/sh', ['-c', WATCH], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.on('error', () => {})
  child.stdin!.on('error', () => {})
  // It is no reason for the launcher to go on.
  child.unref()
  ;(child.stdin as Socket).unref()
  return child
}

const EVERY_MS = 1_000

/** npm runs a script in a shell, and neither passes on that it was killed: so the script looks after them. */
export function exitWithNpm(exit: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const shell = process.ppid
  const npm = Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(shell)], { encoding: 'utf8' }))
  const timer = setInterval(() => {
    if (process.ppid === shell && isAlive(npm)) return
    clearInterval(timer)
    exit()
  }, EVERY_MS)
  timer.unref()
}
