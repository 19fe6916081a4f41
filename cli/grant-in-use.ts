/**
 * Inside of `baton run` the lock is held already: to acquire it again for an operation would wait for ever. So operations on
 * that lock use the grant that is there.
 */
import type { Environment } from './settings.ts'

export function grantFor(lock: string, environment: Environment): string | undefined {
  return environment.BATON_LOCK === lock ? environment.BATON_GRANT || undefined : undefined
}

export const GRANT_OPTION = {
  type: 'string',
  value: '<id>',
  help: 'under this grant, instead of one of its own (inside of `baton run`: the one of its lock)',
} as const
