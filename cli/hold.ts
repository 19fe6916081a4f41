/** What `run` and `acquire` have in common: how they ask for a lock. */
import type { AcquireOptions } from '../client/index.ts'
import { type OptionValues, UsageError } from './arguments.ts'
import { durationOf, optionalInteger, optionalTtl } from './values.ts'

export const WAIT_OPTION = {
  type: 'string',
  value: '<duration>',
  help: "how long to wait while somebody else holds the lock: '30s', '5m' or 'forever' (default 10s)",
} as const

export const AT_OPTION = {
  type: 'string',
  value: '<participant>',
  help: 'ask this participant, instead of the nearest',
} as const

export const OWNER_OPTION = {
  type: 'string',
  value: '<text>',
  help: 'what you call yourself, for those who look at the lock or do not get it',
} as const

export const HOLD_OPTIONS = {
  wait: WAIT_OPTION,
  try: { type: 'boolean', help: 'do not wait, except up to 1s for the token to come from another region' },
  ttl: {
    type: 'string',
    value: '<duration>',
    help: "how long the grant lasts without a sign of life, 1s to 10m (default: the lock's own, 30s)",
  },
  shared: { type: 'boolean', help: 'share the lock with others that share it (only with ricart-agrawala)' },
  confirm: { type: 'boolean', help: 'take the grant only once a majority knows of it' },
  owner: OWNER_OPTION,
  at: AT_OPTION,
} as const

const TRY_MS = 1_000

export function holdOptionsOf(options: OptionValues<typeof HOLD_OPTIONS>): AcquireOptions {
  if (options.try && options.wait !== undefined) throw new UsageError('--try and --wait exclude each other')
  const waitMs = options.try ? TRY_MS : waitOf(options.wait)
  const ttlMs = optionalTtl(options.ttl)
  const at = optionalInteger('--at', options.at, 1)
  return {
    ...(waitMs !== undefined && { waitMs }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(at !== undefined && { at }),
    ...(options.shared && { mode: 'shared' }),
    ...(options.confirm && { confirm: true }),
    ...(options.owner !== undefined && { owner: options.owner }),
  }
}

export function waitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return text === 'forever' ? Number.POSITIVE_INFINITY : durationOf('--wait', text)
}
