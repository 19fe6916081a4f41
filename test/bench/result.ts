/** A result as a run would make it, with figures that nobody measured. */
import { CASES, type CaseName } from '../../bench/case.ts'
import type { Row } from '../../bench/measure.ts'
import type { Result } from '../../bench/result.ts'

export function row(subject: string, name: CaseName, values: Partial<Row> = {}): Row {
  return {
    subject,
    participants: subject === 'plain object' ? 1 : 3,
    processes: 'one',
    case: name,
    milliseconds: { median: 2, low: 1.5, high: 2.5 },
    p99: 4,
    perSecond: 500,
    ratio: { median: 1, low: 0.9, high: 1.25 },
    cpuSecondsPer1000: 1.5,
    cpuRatio: 1.1,
    requestsBetweenObjects: 2,
    repeatedRequests: 0,
    ...values,
  }
}

const price = {
  rowsWritten: 4,
  rowsRead: 5,
  requestsBetweenObjects: 2,
  alarms: 0,
  alarmsSet: 0,
  pricePerMillion: 5.5,
}
const use = { busy: price, woken: price }

export const GOOD: Result = {
  commands: ['npm run bench -- --peers --write'],
  date: '2026-11-17',
  machine: { cores: 2, platform: 'linux', node: 'v20.0.0', workerd: '1.0.0', load: [0.1, 1.2] },
  notes: ['A sentence for the reader.'],
  rows: [
    ...CASES.map(name => row('plain object', name, { ratio: null, cpuRatio: null })),
    ...CASES.map(name => row('wme-2', name)),
    ...CASES.map(name =>
      row('etcd', name, { processes: 'each', milliseconds: { median: 4, low: 3, high: 5 } }),
    ),
    ...CASES.map(name => row('ZooKeeper', name, { processes: 'each', perSecond: 200 })),
  ],
  memory: [{ subject: 'wme-2', processes: 'one', megabytes: 80 }],
  disk: (['acquire and release', 'one operation', 'transact'] as const).map(name => ({
    subject: 'wme-2',
    participants: 3,
    processes: 'one',
    case: name,
    pwrites: 6,
    fsyncs: 2,
  })),
  use: { transact: use, operation: use, cycle: use, threeCalls: use, wake: { rowsRead: 120 } },
  profile: ['plain object', 'wme-2'].map(subject => ({
    subject,
    case: 'one operation' as const,
    microseconds: {
      ...{ waiting: 1, runtime: 2, collector: 3, sqlite: 4 },
      ...{ router: 5, participant: 6, protocol: 7 },
    },
  })),
  layers: [row("Baton's Worker, and the plain object behind it", 'one operation', { participants: 1 })],
  failover: (['killed', 'frozen'] as const).flatMap(fault =>
    (['waits already', 'asks then'] as const).map(nextClient => ({
      fault,
      nextClient,
      milliseconds: { median: 400, low: 300, high: 500 },
      worst: 600,
      times: 5,
    })),
  ),
  growth: [
    {
      of: 'keys',
      number: 50_000,
      transactMs: 4,
      transactP99: 9,
      cycleMs: 2,
      wakeMs: 200,
      requestsBetweenObjects: 2,
      megabytes: 120,
    },
  ],
}

export const NOTHING: Result = {
  ...GOOD,
  machine: null,
  notes: [],
  rows: [],
  memory: [],
  disk: [],
  use: null,
  profile: [],
  layers: [],
  failover: [],
  growth: [],
}
