/**
 * The memory of workerd processes. An isolate collects its garbage when it needs room, not when it is idle,
 * so what a process holds at some moment says little about what it needs. Therefore each is made to collect
 * first, and two figures are taken: the heap in use then, which goes back to where it was unless something is
 * kept, and the resident set, which also has what V8 and SQLite keep for the next time.
 */
import { readFile } from 'node:fs/promises'
import type { RunningWorkerd } from '../../worker/local/workerd.ts'
import { Inspector } from '../tools/inspector.ts'

export interface Memory {
  readonly heapMB: number
  readonly rssMB: number
}

export async function memoryOf(processes: readonly RunningWorkerd[]): Promise<Memory> {
  const heaps = await Promise.all(processes.map(({ inspectorPort }) => heapBytes(inspectorPort!)))
  return { heapMB: megabytes(heaps), rssMB: await residentMB(processes) }
}

/** Without a collection. */
export async function residentMB(processes: readonly RunningWorkerd[]): Promise<number> {
  const bytes = await Promise.all(processes.map(({ process }) => residentBytes(process.pid!)))
  return Math.round(megabytes(bytes))
}

const megabytes = (bytes: readonly number[]): number =>
  Math.round(bytes.reduce((sum, one) => sum + one, 0) / 1024 / 102.4) / 10

async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1_024
}

interface HeapUsage {
  readonly usedSize: number
  readonly embedderHeapUsedSize: number
  readonly backingStorageSize: number
}

/** The heap of the isolate that all objects of a process share, after a collection. */
async function heapBytes(inspectorPort: number): Promise<number> {
  const inspector = new Inspector(inspectorPort)
  try {
    const contextId = await inspector.context()
    // The second collection frees what the first one finalises.
    for (let round = 1; round <= 2; round++)
      await inspector.ask('Runtime.evaluate', { expression: 'gc()', contextId })
    const usage = (await inspector.ask('Runtime.getHeapUsage', {})) as HeapUsage
    return usage.usedSize + usage.embedderHeapUsedSize + usage.backingStorageSize
  } finally {
    inspector.close()
  }
}
