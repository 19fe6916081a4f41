/**
 * Calls to the disk of one cycle, operation and `transact`. They are counted apart from everything that is
 * timed, because counting them slows everything down.
 */
import { setTimeout } from 'node:timers/promises'
import { type CaseName, type Subject, yardstickOf } from '../case.ts'
import { canCountDiskCalls, DiskCallCounter } from '../processes.ts'
import { rounded } from '../statistics.ts'

export interface DiskRow {
  readonly subject: string
  readonly participants: number
  readonly processes: 'one' | 'each'
  readonly case: CaseName
  /** Of one unit; `null` where the platform does not let us count. */
  readonly pwrites: number | null
  readonly fsyncs: number | null
}

export const DISK_CASES = ['acquire and release', 'one operation', 'transact'] as const

/** A lock is warm after this, and what follows its last use has happened. */
const WARM = 20
const SETTLE_MS = 500

export async function measureDisk(
  subjects: readonly Subject[],
  repeats: number,
  onSubject?: (name: string) => void,
): Promise<DiskRow[]> {
  const isCounted = canCountDiskCalls()
  const rows: DiskRow[] = []
  for (const subject of subjects) {
    onSubject?.(subject.name)
    for (const name of DISK_CASES) {
      // The plain object's `transact` is its three calls.
      const isThere = subject.cases[name] !== undefined
      const done = isThere ? name : yardstickOf(name)
      if (subject.cases[done] === undefined) continue
      const calls = isCounted ? await countCase(subject, done, repeats) : null
      const { name: of, participants, processes } = subject
      const none = { pwrites: null, fsyncs: null }
      rows.push({ subject: of, participants, processes, case: name, ...(calls ?? none) })
    }
  }
  return rows
}

async function countCase(subject: Subject, name: CaseName, repeats: number) {
  const work = subject.cases[name]!
  await work.prepare?.()
  await work.run(WARM)
  await setTimeout(SETTLE_MS)
  const counter = await DiskCallCounter.attach(subject.pids())
  const units = counter === null ? 0 : (await work.run(repeats)).length
  await setTimeout(SETTLE_MS)
  const calls = await counter?.stop()
  await work.finish?.()
  if (calls === undefined) return null
  return { pwrites: rounded(calls.pwrites / units), fsyncs: rounded(calls.fsyncs / units) }
}
