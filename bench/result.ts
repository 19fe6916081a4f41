/**
 * Everything that one run of the benchmark found, as `--json` prints it and docs/benchmark.json keeps it. A
 * part that was left out is empty or `null`.
 */
import { readFileSync } from 'node:fs'
import { cpus, loadavg, platform } from 'node:os'
import type { CountReport } from './count/report.ts'
import type { Row } from './measure.ts'
import type { DiskRow } from './parts/disk.ts'
import type { FailoverRow } from './parts/failover.ts'
import type { GrowthRow } from './parts/growth.ts'
import type { ProfileRow } from './parts/profile.ts'
import type { MemoryRow } from './parts/speed.ts'

export interface Machine {
  readonly cores: number
  readonly platform: string
  readonly node: string
  readonly workerd: string
  /** How many processes wanted to run, on average of a minute: before, and at the end. */
  readonly load: readonly number[]
}

export interface Result {
  /** The command that measured it, and those that measured parts of it again. */
  readonly commands: readonly string[]
  /** `2026-11-17` */
  readonly date: string
  readonly machine: Machine | null
  /** What a reader has to know about this run, in sentences. */
  readonly notes: readonly string[]
  readonly rows: readonly Row[]
  readonly memory: readonly MemoryRow[]
  readonly disk: readonly DiskRow[]
  readonly use: CountReport | null
  readonly profile: readonly ProfileRow[]
  readonly layers: readonly Row[]
  readonly failover: readonly FailoverRow[]
  readonly growth: readonly GrowthRow[]
}

export const load = (): number => Number(loadavg()[0]!.toFixed(1))

export function machine(loadBefore: number): Machine {
  const path = new URL('../package.json', import.meta.url)
  const { devDependencies } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly devDependencies: { readonly workerd: string }
  }
  return {
    cores: cpus().length,
    platform: platform(),
    node: process.version,
    workerd: devDependencies.workerd,
    load: [loadBefore, load()],
  }
}

/** Who else wants to be compared. */
export const ETCD = 'etcd'
export const ZOOKEEPER = 'ZooKeeper'
/** What the aims speak of: the default protocol with three participants, in one process. */
export const BATON = { subject: 'wme-2', participants: 3, processes: 'one' } as const

interface Place {
  readonly subject: string
  readonly participants: number
  readonly processes: 'one' | 'each'
  readonly case: string
}

/** The row of Baton, or of another subject by its name. */
export const rowFor = <Found extends Place>(
  rows: readonly Found[],
  subject: string | typeof BATON,
  name: string,
): Found | undefined =>
  rows.find(row =>
    typeof subject === 'string'
      ? row.subject === subject && row.case === name
      : row.subject === subject.subject &&
        row.participants === subject.participants &&
        row.processes === subject.processes &&
        row.case === name,
  )
