/** Options that make no sense are refused when a recipe is made, in words that say what would make sense. */

export function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw new RangeError(`${name} is a whole number from ${least} to ${most}, not ${value}`)
}

/** How long to wait: any length, even `Infinity`. */
export function duration(name: string, value: number): number {
  if (value >= 0) return value
  throw new RangeError(`${name} is a number of milliseconds from 0, or Infinity, not ${value}`)
}

export function text(name: string, value: string, mostCharacters: number): string {
  if (typeof value === 'string' && value !== '' && value.length <= mostCharacters) return value
  throw new RangeError(`${name} is a text of 1 to ${mostCharacters} characters`)
}

/** The time to live of a grant, as the service limits it. */
export const timeToLive = (name: string, value: number): number => wholeNumber(name, value, 1_000, 600_000)

/** What the service accepts as the name of an owner. */
export const ownerName = (name: string, value: string): string => text(name, value, 128)
