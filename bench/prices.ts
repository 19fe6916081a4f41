/**
 * Cloudflare's published prices of the Workers Paid plan, in dollars. docs/deploy.md says where they are
 * from, and when.
 */
export interface Usage {
  readonly routerRequests: number
  readonly objectRequests: number
  readonly gigabyteSeconds: number
  readonly rowsWritten: number
  readonly rowsRead: number
}

interface Price {
  readonly perMillion: number
  readonly includedPerMonth: number
}

export const PRICES: { readonly [unit in keyof Usage]: Price } = {
  routerRequests: { perMillion: 0.3, includedPerMonth: 10e6 },
  objectRequests: { perMillion: 0.15, includedPerMonth: 1e6 },
  gigabyteSeconds: { perMillion: 12.5, includedPerMonth: 400e3 },
  rowsWritten: { perMillion: 1, includedPerMonth: 50e6 },
  rowsRead: { perMillion: 0.001, includedPerMonth: 25e9 },
}

const PLAN_PER_MONTH = 5
const GIGABYTES_OF_AN_OBJECT = 0.128

/** Counts of one use, all participants together. */
export interface UseCounts {
  readonly router: number
  readonly calls: number
  readonly peers: number
  readonly alarms: number
  readonly rowsWritten: number
  readonly alarmsSet: number
  readonly rowsRead: number
}

/**
 * From the counts of one cycle, the usage of a million of them. An alarm that runs is a request, an alarm
 * that is set is a row.
 */
export function usageOfMillion(cycle: UseCounts & { readonly seconds: number }): Usage {
  const { router, calls, peers, alarms, rowsWritten, alarmsSet, rowsRead, seconds } = cycle
  return {
    routerRequests: router * 1e6,
    objectRequests: (calls + peers + alarms) * 1e6,
    gigabyteSeconds: seconds * GIGABYTES_OF_AN_OBJECT * 1e6,
    rowsWritten: (rowsWritten + alarmsSet) * 1e6,
    rowsRead: rowsRead * 1e6,
  }
}

const units = Object.keys(PRICES) as (keyof Usage)[]

export const priceOf = (unit: keyof Usage, amount: number): number => (amount / 1e6) * PRICES[unit].perMillion

/** The price as if nothing were included in the plan. */
export const fullPrice = (usage: Usage): number =>
  units.reduce((sum, unit) => sum + priceOf(unit, usage[unit]), 0)

/** The bill of a month in which this is all that happens. */
export const billOfMonth = (usage: Usage): number =>
  units.reduce((sum, unit) => {
    const billed = Math.max(0, usage[unit] - PRICES[unit].includedPerMonth)
    return sum + priceOf(unit, billed)
  }, PLAN_PER_MONTH)
