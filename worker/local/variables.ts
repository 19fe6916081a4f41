/**
 * The variables of a service on this machine. They are checked before any process starts, as the Worker
 * itself checks them before its first request: whoever made a mistake reads of it where they started it.
 */
import { checkEnvironment, isVariable } from '../check-environment.ts'
import type { BatonEnvironment } from '../environment.ts'

export type Variables = { readonly [name: string]: string }

/** What the launchers and the command line read themselves: no typos, and not for the Worker. */
const NOT_OF_THE_WORKER = [
  'BATON_STORAGE',
  'BATON_URL',
  'BATON_KEY',
  'BATON_CONFIG',
  'BATON_LOCK',
  'BATON_FENCE',
  'BATON_GRANT',
]

export class WrongVariables extends Error {}

/** Throws if one of them is wrong. `onWarning` hears of names that mean nothing. */
export function checkVariables(variables: Variables, onWarning: (line: string) => void): void {
  // The objects are bound by whoever starts the process.
  const env = { ...variables, PARTICIPANT: {} } as unknown as BatonEnvironment
  const { mistakes, warnings } = checkEnvironment(env)
  for (const warning of warnings) onWarning(warning)
  if (mistakes.length > 0) throw new WrongVariables(mistakes.join(' ').replace(/\.$/, ''))
}

/** Those of this environment. The service is open, unless it has keys or `BATON_OPEN` says otherwise. */
export function variablesFrom(environment: NodeJS.ProcessEnv, onWarning: (line: string) => void): Variables {
  const given = Object.entries(environment).filter(
    ([name, value]) => name.startsWith('BATON_') && !NOT_OF_THE_WORKER.includes(name) && value !== undefined,
  ) as [string, string][]
  const values: Variables = Object.fromEntries(given)
  const isOpen = values.BATON_OPEN ?? String(!values.BATON_KEYS?.trim())
  const variables = { ...values, BATON_OPEN: isOpen }
  checkVariables(variables, onWarning)
  return Object.fromEntries(Object.entries(variables).filter(([name]) => isVariable(name)))
}
