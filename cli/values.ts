/**
 * What the values of options and arguments mean: durations, whole numbers, JSON. What makes no sense is a
 * `UsageError`.
 */
import { API_LIMITS } from '../shared/api/limits.ts'
import { UsageError } from './arguments.ts'

const MILLISECONDS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** `500ms`, `30s`, `2m`, `1.5h`: always with its unit, so that nobody takes seconds for milliseconds. */
export function durationOf(option: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text)
  if (match === null) throw new UsageError(`${option} is a duration such as 500ms, 30s or 2m, not '${text}'`)
  return Math.round(Number(match[1]) * MILLISECONDS[match[2]!]!)
}

export function optionalDuration(option: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationOf(option, text)
}

/** The time to live of a grant. */
export function optionalTtl(text: string | undefined): number | undefined {
  const { least, most } = API_LIMITS.ttlMs
  const ttlMs = optionalDuration('--ttl', text)
  if (ttlMs === undefined || (ttlMs >= least && ttlMs <= most)) return ttlMs
  throw new UsageError(`--ttl is from ${writeDuration(least)} to ${writeDuration(most)}, not '${text}'`)
}

/** As a person would write it. */
export function writeDuration(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return 'forever'
  const unit = ['h', 'm', 's'].find(name => ms >= MILLISECONDS[name]! && ms % MILLISECONDS[name]! === 0)
  return unit === undefined ? `${ms}ms` : `${ms / MILLISECONDS[unit]!}${unit}`
}

export function integerOf(
  option: string,
  text: string,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`
  throw new UsageError(`${option} is a whole number ${range}, not '${text}'`)
}

export function optionalInteger(option: string, text: string | undefined, least = 0): number | undefined {
  return text === undefined ? undefined : integerOf(option, text, least)
}

export function jsonOf(what: string, text: string, advice = ''): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${what} is not JSON: ${text.length > 60 ? `${text.slice(0, 60)}…` : text}${advice}`)
  }
}

/** A list of words with commas between them. */
export const listOf = (text: string): string[] => text.split(',').filter(word => word !== '')
