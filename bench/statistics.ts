/** Medians and their like. All of them are values that were measured: nothing is interpolated. */

/** The value below or at which this share of the values lies; 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('there is no quantile of nothing')
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** A median with its quartiles, which are `null` if nobody wrote them down. */
export interface Spread {
  readonly median: number
  readonly low: number | null
  readonly high: number | null
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: rounded(quantile(values, 0.5)),
  low: rounded(quantile(values, 0.25)),
  high: rounded(quantile(values, 0.75)),
})

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Nobody needs more than four digits of a measurement. */
export const rounded = (value: number): number => Number(value.toPrecision(4))
