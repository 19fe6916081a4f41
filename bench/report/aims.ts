/** What we aim at, beside what was measured: the first table of the page, and `aims` of the JSON. */
import { type CaseName, yardstickOf } from '../case.ts'
import type { Row } from '../measure.ts'
import { BATON, ETCD, type Result, rowFor, ZOOKEEPER } from '../result.ts'
import { PLAIN } from '../started.ts'
import { rounded } from '../statistics.ts'

export interface Aim {
  readonly aim: string
  readonly bound: 'at most' | 'at least'
  readonly limit: number
  /** `null` if this run did not measure it; then it is not met. */
  readonly measured: number | null
  readonly met: boolean
  /** What it was measured from, as it is. */
  readonly figures: Figures
}

export interface Figures {
  readonly plain: number | null
  readonly etcd: number | null
  readonly zooKeeper: number | null
  readonly baton: number | null
}

interface Definition {
  readonly aim: string
  readonly bound: Aim['bound']
  readonly limit: number
  /** What the ratio to the plain object may be, if that is what it is about. */
  readonly ratio?: { readonly of: CaseName; readonly in: 'time' | 'processor time'; readonly limit: number }
  figures(result: Result): Figures
  measured(result: Result, figures: Figures): number | null
}

const NONE: Figures = { plain: null, etcd: null, zooKeeper: null, baton: null }

/** One figure of each subject's row; the plain object has that of its yardstick. */
const figuresOf =
  (name: CaseName, figure: (row: Row) => number | null) =>
  ({ rows }: Result): Figures => {
    const of = (subject: string | typeof BATON, done: CaseName) => {
      const row = rowFor(rows, subject, done)
      return row === undefined ? null : figure(row)
    }
    return {
      plain: of(PLAIN, yardstickOf(name)),
      etcd: of(ETCD, name),
      zooKeeper: of(ZOOKEEPER, name),
      baton: of(BATON, name),
    }
  }

const ratioOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : rounded(one / other)

/** The time of Baton to the plain object's in the same round. */
const timeAim = (aim: string, name: CaseName, limit: number): Definition => ({
  aim: `${aim}, ms, to the plain object`,
  bound: 'at most',
  limit,
  ratio: { of: name, in: 'time', limit },
  figures: figuresOf(name, row => row.milliseconds.median),
  measured: ({ rows }) => rowFor(rows, BATON, name)?.ratio?.median ?? null,
})

const rateAim = (aim: string, name: CaseName, limit: number): Definition => ({
  aim: `${aim}, to the plain object`,
  bound: 'at least',
  limit,
  ratio: { of: name, in: 'time', limit: 1 / limit },
  figures: figuresOf(name, row => row.perSecond),
  measured: ({ rows }) => ratioOf(1, rowFor(rows, BATON, name)?.ratio?.median ?? null),
})

const cpuAim = (aim: string, name: CaseName): Definition => ({
  aim: `${aim}, processor seconds per 1,000, to the plain object`,
  bound: 'at most',
  limit: 1.2,
  ratio: { of: name, in: 'processor time', limit: 1.2 },
  figures: figuresOf(name, row => row.cpuSecondsPer1000),
  measured: ({ rows }) => rowFor(rows, BATON, name)?.cpuRatio ?? null,
})

const diskAim = (aim: string, name: CaseName, limit: number): Definition => ({
  aim: `${aim}, write calls to the disk`,
  bound: 'at most',
  limit,
  // Others write by other calls too, so a count of these would flatter them.
  figures: ({ disk }) => ({
    ...NONE,
    plain: rowFor(disk, PLAIN, name)?.pwrites ?? null,
    baton: rowFor(disk, BATON, name)?.pwrites ?? null,
  }),
  measured: (_, { baton }) => baton,
})

const ownAim = (aim: string, limit: number, own: (result: Result) => number | null): Definition => ({
  aim,
  bound: 'at most',
  limit,
  figures: result => ({ ...NONE, baton: own(result) }),
  measured: (_, { baton }) => baton,
})

/** The slower of the two ways in which the next client can come. */
function slowestFrozen({ failover }: Result): number | null {
  const medians = failover.filter(({ fault }) => fault === 'frozen').map(row => row.milliseconds.median)
  return medians.length === 0 ? null : Math.max(...medians)
}

const DEFINITIONS: readonly Definition[] = [
  timeAim('acquire and release, same place', 'acquire and release', 1.1),
  timeAim('one operation', 'one operation', 1.8),
  {
    aim: 'one operation, ms, to etcd',
    bound: 'at most',
    limit: 1,
    figures: figuresOf('one operation', row => row.milliseconds.median),
    measured: (_, { baton, etcd }) => ratioOf(baton, etcd),
  },
  timeAim("`transact`, beside the others' three calls", 'transact', 1),
  rateAim('handoffs per second, 10 clients at one participant', '10 clients at one participant', 1),
  {
    aim: 'handoffs per second, 10 clients at all participants, to ZooKeeper',
    bound: 'at least',
    limit: 2,
    figures: result => ({
      ...figuresOf('10 clients at all participants', row => row.perSecond)(result),
      plain: null,
    }),
    measured: (_, { baton, zooKeeper }) => ratioOf(baton, zooKeeper),
  },
  rateAim('cycles per second, 50 clients on 100 locks', '50 clients on 100 locks', 0.8),
  cpuAim('acquire and release', 'acquire and release'),
  cpuAim('`transact`', 'transact'),
  cpuAim('cycles of 50 clients on 100 locks', '50 clients on 100 locks'),
  timeAim('first acquire and release of a lock that nobody used before', 'first use of a lock', 2),
  diskAim('acquire and release', 'acquire and release', 8),
  diskAim('one operation', 'one operation', 12),
  diskAim('`transact`', 'transact', 14),
  ownAim(
    'rows written per `transact`, busy, old lock',
    6,
    ({ use }) => use?.transact.busy.rowsWritten ?? null,
  ),
  ownAim('price of a million `transact`, $', 8, ({ use }) => use?.transact.busy.pricePerMillion ?? null),
  ownAim('rows read to wake a full lock', 300, ({ use }) => use?.wake.rowsRead ?? null),
  ownAim('owner frozen in its critical section, ms to the next grant', 700, slowestFrozen),
]

export const aimsOf = (result: Result): Aim[] =>
  DEFINITIONS.map(({ aim, bound, limit, ...definition }) => {
    const figures = definition.figures(result)
    const measured = definition.measured(result, figures)
    return { aim, bound, limit, measured, met: measured !== null && isMet(measured, bound, limit), figures }
  })

/** `null` if no aim says so. */
export const aimedRatio = (name: CaseName, what: 'time' | 'processor time'): number | null =>
  DEFINITIONS.find(({ ratio }) => ratio?.of === name && ratio.in === what)?.ratio?.limit ?? null

const isMet = (measured: number, bound: Aim['bound'], limit: number): boolean =>
  bound === 'at most' ? measured <= limit : measured >= limit
