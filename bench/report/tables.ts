/** The benchmark's tables, as Markdown. */
import type { Row } from '../measure.ts'
import { PROFILE_PARTS, type ProfilePart } from '../profile/parts.ts'
import type { Result } from '../result.ts'
import type { Spread } from '../statistics.ts'
import { type Aim, aimedRatio, aimsOf } from './aims.ts'

type Cell = string | number | null

/** What nobody measured, or what the platform does not let us count. */
const NOTHING = '–'

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]): string => `| ${cells.map(cell => cell ?? NOTHING).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** As many digits as a reader can use. */
export function figure(value: number | null | undefined): string | null {
  if (value === null || value === undefined) return null
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}

/** `1.44 (1.20-1.63)` */
export function spread(of: Spread | null): string | null {
  if (of === null) return null
  const { median, low, high } = of
  return low === null || high === null ? figure(median) : `${figure(median)} (${figure(low)}-${figure(high)})`
}

export const subjectOf = ({ subject, participants, processes }: Omit<Row, 'case'> | Row): string => {
  if (!subject.startsWith('wme')) return subject
  return `${subject}, N = ${participants}${processes === 'each' ? ', a process each' : ''}`
}

export function aimsTable(result: Result): string {
  const head = ['N = 3, wme-2', 'plain object', 'etcd', 'ZooKeeper', 'Baton', 'aim', 'measured', 'met']
  const rows = aimsOf(result).map(({ aim, figures, measured, met, ...bound }) => {
    const { plain, etcd, zooKeeper, baton } = figures
    const answer = measured === null ? 'not measured' : met ? 'yes' : 'no'
    return [aim, ...[plain, etcd, zooKeeper, baton].map(figure), limitOf(bound), figure(measured), answer]
  })
  return table(head, rows)
}

const limitOf = ({ bound, limit }: Pick<Aim, 'bound' | 'limit'>): string =>
  `${bound === 'at most' ? '≤' : '≥'} ${limit}`

export function speedTable({ rows }: Result): string {
  const head = ['subject', 'what', 'ratio (quartiles)', 'ms (quartiles)', 'p99, ms', 'per second']
  head.push('CPU s per 1,000', 'requests between objects', 'repeated')
  return table(
    head,
    rows.map(row => [
      subjectOf(row),
      row.case,
      spread(row.ratio),
      spread(row.milliseconds),
      figure(row.p99),
      figure(row.perSecond),
      figure(row.cpuSecondsPer1000),
      figure(row.requestsBetweenObjects),
      row.repeatedRequests === 0 ? null : row.repeatedRequests,
    ]),
  )
}

export const memoryTable = ({ memory }: Result): string =>
  table(
    ['processes of', 'memory after the run, MB'],
    memory.map(({ subject, processes, megabytes }) => [
      processes === 'each' && subject.startsWith('wme')
        ? `${subject}, a process each, and a router`
        : subject,
      megabytes ?? 'not counted',
    ]),
  )

export const diskTable = ({ disk }: Result): string =>
  table(
    ['subject', 'what', 'pwrite', 'fsync'],
    disk.map(row => [
      row.subject,
      row.case,
      figure(row.pwrites) ?? 'not counted',
      figure(row.fsyncs) ?? 'not counted',
    ]),
  )

export function profileTable({ profile }: Result): string {
  const head = ['', ...profile.map(({ subject, case: of }) => `${subject}: ${of}`)]
  const rows = PART_NAMES.map(part => [
    PROFILE_PARTS[part],
    ...profile.map(({ microseconds }) => figure(microseconds[part])),
  ])
  return table(head, rows)
}

/** What each layer takes to the plain object of the same round: time, and in brackets processor time. */
/** In brackets that of the processor time. */
const ratios = (time: number | null, processor: number | null): Cell =>
  time === null ? null : `${figure(time)}${processor === null ? '' : ` (${figure(processor)})`}`

export function layersTable({ layers }: Result): string {
  const cases = [...new Set(layers.map(row => row.case))]
  const subjects = [...new Set(layers.filter(({ ratio }) => ratio !== null).map(({ subject }) => subject))]
  const cell = (subject: string, name: string): Cell => {
    const row = layers.find(one => one.subject === subject && one.case === name)
    return row === undefined ? null : ratios(row.ratio!.median, row.cpuRatio)
  }
  const rows = subjects.map(subject => [subject, ...cases.map(name => cell(subject, name))])
  const aims = cases.map(name => ratios(aimedRatio(name, 'time'), aimedRatio(name, 'processor time')))
  rows.push(['the aim', ...aims])
  return table(['to the plain object', ...cases], rows)
}

const PART_NAMES = Object.keys(PROFILE_PARTS) as ProfilePart[]

const USED = ['transact', 'operation', 'cycle', 'threeCalls'] as const
const USE_NAMES = {
  transact: '`transact`',
  operation: 'operation',
  cycle: 'cycle',
  threeCalls: 'three calls',
}

export function useTable({ use }: Result): string {
  const head = ['of one', '', 'rows written', 'rows read', 'requests between objects', 'alarms', 'alarms set']
  head.push('price of a million')
  const rows = USED.flatMap(name =>
    (['busy', 'woken'] as const).map(state => {
      const of = use![name][state]
      const { rowsWritten, rowsRead, requestsBetweenObjects, alarms, alarmsSet, pricePerMillion } = of
      const counts = [rowsWritten, rowsRead, requestsBetweenObjects, alarms, alarmsSet].map(figure)
      return [USE_NAMES[name], state, ...counts, `$${pricePerMillion.toFixed(2)}`]
    }),
  )
  return table(head, rows)
}

export const failoverTable = ({ failover }: Result): string =>
  table(
    ['owner', 'the next client', 'ms to the next grant (quartiles)', 'worst', 'times'],
    failover.map(({ fault, nextClient, milliseconds, worst, times }) => [
      fault,
      nextClient,
      spread(milliseconds),
      figure(worst),
      times,
    ]),
  )

export const growthTable = ({ growth }: Result): string =>
  table(
    ['', '', '`transact`, ms', 'p99', 'cycle, ms', 'ms to wake', 'requests between objects', 'memory, MB'],
    growth.map(row => [
      row.of,
      row.number.toLocaleString('en'),
      figure(row.transactMs),
      figure(row.transactP99),
      figure(row.cycleMs),
      figure(row.wakeMs),
      figure(row.requestsBetweenObjects),
      row.megabytes,
    ]),
  )
