/** What was counted, with its price, as `npm run count` and the benchmark tell it. */
import { fullPrice, usageOfMillion } from '../prices.ts'
import { rounded } from '../statistics.ts'
import type { Cost, Counted } from './count.ts'
import { USES, type Use } from './counted-lock.ts'

export interface UsePrice {
  readonly rowsWritten: number
  readonly rowsRead: number
  readonly requestsBetweenObjects: number
  readonly alarms: number
  readonly alarmsSet: number
  /** In dollars, as if nothing were included in the plan. */
  readonly pricePerMillion: number
}

export type CountReport = { readonly [use in Use]: { readonly busy: UsePrice; readonly woken: UsePrice } } & {
  /** The most rows that all participants of the old lock together read when they were woken. */
  readonly wake: { readonly rowsRead: number }
}

/**
 * How often the owner waits for the others while a client waits for it: not at all if it only lets somebody
 * in again, once for an operation, and once more if it has just been woken.
 */
const ROUND_TRIPS: { readonly [use in Use]: { readonly busy: number; readonly woken: number } } = {
  transact: { busy: 1, woken: 2 },
  operation: { busy: 1, woken: 2 },
  cycle: { busy: 0, woken: 1 },
  threeCalls: { busy: 1, woken: 2 },
}

/** An assumption: from Western Europe to Asia and back (docs/deploy.md). */
const SECONDS_OF_ROUND_TRIP = 0.25

export function countReport({ busy, woken, mostRowsReadToWake }: Counted): CountReport {
  const uses = USES.map(use => [
    use,
    {
      busy: priced(busy[use], ROUND_TRIPS[use].busy),
      woken: priced(woken[use], ROUND_TRIPS[use].woken),
    },
  ])
  return { ...Object.fromEntries(uses), wake: { rowsRead: mostRowsReadToWake } } as CountReport
}

function priced(cost: Cost, roundTrips: number): UsePrice {
  const seconds = roundTrips * SECONDS_OF_ROUND_TRIP
  return {
    rowsWritten: rounded(cost.rowsWritten),
    rowsRead: rounded(cost.rowsRead),
    requestsBetweenObjects: rounded(cost.peers),
    alarms: rounded(cost.alarms),
    alarmsSet: rounded(cost.alarmsSet),
    pricePerMillion: rounded(fullPrice(usageOfMillion({ ...cost, seconds }))),
  }
}
