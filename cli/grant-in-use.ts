/**
 * Inside `baton run` the lock is held already: to acquire it again for an operation would wait for ever. So
 * operations on that lock use the grant that is there.
 */
import type { Environment } from './settings.ts'

export function grantFor(lock: string, environment: Environment): string | undefined {
  return environment.BATON_LOCK === lock ? environment.BATON_GRANT || undefined : undefined
}

export const GRANT_OPTION = {
  type: 'string',
  value: '<id>',
  help: 'use this grant instead of acquiring the lock (inside `baton run`: that of its lock)',
} as const
