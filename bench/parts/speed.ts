/** Times, processor time, memory and requests: Baton in its forms, the yardsticks, and other services. */
import type { CaseName, Subject } from '../case.ts'
import { CASES } from '../case.ts'
import { measure, type Rounds, type Row } from '../measure.ts'
import { megabytes } from '../processes.ts'
import {
  batonSubject,
  clusterSubject,
  floorSubject,
  plainSubject,
  type Started,
  startBaton,
  startCluster,
  startYardsticks,
} from '../started.ts'
import { type DiskRow, measureDisk } from './disk.ts'

export interface MemoryRow {
  readonly subject: string
  readonly processes: 'one' | 'each'
  readonly megabytes: number | null
}

export interface SpeedResult {
  readonly rows: readonly Row[]
  readonly memory: readonly MemoryRow[]
  readonly disk: readonly DiskRow[]
}

export interface SpeedOptions extends Rounds {
  readonly parts: ReadonlySet<'speed' | 'protocols' | 'processes' | 'disk'>
  /** Other services that were started. */
  readonly peers: readonly Subject[]
  /** Fewer than are timed: everything is slower while calls to the disk are counted. */
  readonly diskRepeats: number
  readonly manyLocks?: number | undefined
  onProgress?(what: string): void
}

/** What every protocol and number of participants is compared by. */
const BASIC: readonly CaseName[] = CASES.slice(0, CASES.indexOf('10 clients at one participant') + 1)
const OTHERS = [
  ['wme-1', 3],
  ['wme-1', 5],
  ['wme-2', 5],
] as const

export async function measureSpeed(options: SpeedOptions): Promise<SpeedResult> {
  const { parts, peers, manyLocks } = options
  const started: Started[] = []
  const start = async <Running extends Started>(starting: Promise<Running>): Promise<Running> => {
    const running = await starting
    started.push(running)
    return running
  }
  try {
    const yardsticks = await start(startYardsticks())
    const baton = await start(startBaton())
    const plain = plainSubject(yardsticks, manyLocks)
    const main = await batonSubject(baton, 'wme-2', 3, manyLocks)
    const subjects: Subject[] = []
    if (parts.has('speed'))
      subjects.push(main, floorSubject(yardsticks, 2), floorSubject(yardsticks, 1), ...peers)
    if (parts.has('processes')) subjects.push(clusterSubject(await start(startCluster(3)), 3, manyLocks))
    if (parts.has('protocols')) {
      for (const [protocol, number] of OTHERS)
        subjects.push(basic(await batonSubject(baton, protocol, number)))
    }
    const rows = subjects.length === 0 ? [] : await measure(plain, subjects, CASES, options)
    const memory = memoryOf(subjects.length === 0 ? [] : [plain, ...subjects])
    const disk = parts.has('disk') ? await diskOf(options, start) : []
    return { rows, memory, disk }
  } finally {
    for (const running of started) await running.stop()
  }
}

/**
 * In processes of its own: objects that were used before and are put away meanwhile write to the disk, too,
 * and nothing tells their calls from those that are counted.
 */
async function diskOf(
  { diskRepeats, onProgress }: SpeedOptions,
  start: <Running extends Started>(starting: Promise<Running>) => Promise<Running>,
): Promise<DiskRow[]> {
  const plain = plainSubject(await start(startYardsticks()))
  const main = await batonSubject(await start(startBaton()), 'wme-2', 3)
  return measureDisk([plain, main], diskRepeats, name => onProgress?.(`disk: ${name}`))
}

const basic = (subject: Subject): Subject => ({
  ...subject,
  cases: Object.fromEntries(BASIC.map(name => [name, subject.cases[name]!])),
})

/** Subjects of the same processes have the same memory. */
function memoryOf(subjects: readonly Subject[]): MemoryRow[] {
  const seen = new Set<string>()
  return subjects.flatMap(({ name, processes, pids }) => {
    const key = pids().join()
    if (seen.has(key)) return []
    seen.add(key)
    const now = megabytes(pids())
    return [{ subject: name, processes, megabytes: now === null ? null : Math.round(now) }]
  })
}
