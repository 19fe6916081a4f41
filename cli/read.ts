/** What `get` and `list` have in common. */
import type { GetOptions } from '../client/index.ts'
import { optionalInteger } from './values.ts'

export const READ_OPTIONS = {
  local: { type: 'boolean', help: 'what the nearest participant knows: quicker, but maybe out of date' },
} as const

export function readOptionsOf(options: {
  readonly local: boolean
  readonly at: string | undefined
}): GetOptions {
  const at = optionalInteger('--at', options.at, 1)
  return { ...(options.local && { consistency: 'local' }), ...(at !== undefined && { at }) }
}
