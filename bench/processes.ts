/**
 * What processes have used so far: processor time, memory, and calls to the disk. Linux tells; elsewhere a
 * figure that nobody tells is `null`, and the report says "not counted".
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { sum } from './statistics.ts'

/** Seconds on a processor, of all threads of these processes together. */
export function cpuSeconds(pids: readonly number[]): number | null {
  try {
    return sum(pids.flatMap(pid => readdirSync(`/proc/${pid}/task`).map(thread => ranSeconds(pid, thread))))
  } catch {
    return null
  }
}

/** The scheduler counts nanoseconds, where `/proc/…/stat` counts hundredths of a second. */
function ranSeconds(pid: number, thread: string): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
  return Number(nanoseconds) / 1e9
}

/** Resident memory of these processes together. */
export function megabytes(pids: readonly number[]): number | null {
  try {
    return sum(pids.map(residentMegabytes))
  } catch {
    return null
  }
}

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kilobytes) / 1024
}

export interface DiskCalls {
  readonly pwrites: number
  readonly fsyncs: number
}

const WRITES = ['pwrite64', 'pwritev', 'pwritev2']
const SYNCS = ['fsync', 'fdatasync']

/** `strace` counts them, if it is installed and may attach. Everything is slower meanwhile. */
export const canCountDiskCalls = (): boolean =>
  process.platform === 'linux' && spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0

export class DiskCallCounter {
  private readonly child: ChildProcess
  private readonly ended: Promise<unknown>
  private output = ''

  private constructor(child: ChildProcess) {
    this.child = child
    this.ended = once(child, 'close')
  }

  /** Resolves once every thread of these processes is watched; `null` if that is not allowed. */
  static async attach(pids: readonly number[]): Promise<DiskCallCounter | null> {
    const traced = ['-e', `trace=${[...WRITES, ...SYNCS].join(',')}`]
    const child = spawn('strace', ['-f', '-c', ...traced, ...pids.flatMap(pid => ['-p', String(pid)])], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const counter = new DiskCallCounter(child)
    return (await counter.isAttached(pids)) ? counter : null
  }

  private isAttached(pids: readonly number[]): Promise<boolean> {
    return new Promise(resolve => {
      this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
        if (pids.every(pid => this.output.includes(`Process ${pid} attached`))) resolve(true)
      })
      this.ended.then(
        () => resolve(false),
        () => resolve(false),
      )
    })
  }

  async stop(): Promise<DiskCalls> {
    this.child.kill('SIGINT')
    await this.ended
    return readSummary(this.output)
  }
}

/** The table of `strace -c`: `% time, seconds, usecs/call, calls, errors, syscall`; errors may be absent. */
export function readSummary(output: string): DiskCalls {
  const calls = (names: readonly string[]): number =>
    sum(
      [...output.matchAll(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/gm)]
        .filter(([, , name]) => names.includes(name!))
        .map(([, count]) => Number(count)),
    )
  return { pwrites: calls(WRITES), fsyncs: calls(SYNCS) }
}
