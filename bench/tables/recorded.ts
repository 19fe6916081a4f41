/**
 * Which steps leave a row in a participant's history (worker/participant/core/recorder.ts), for runs in which
 * nothing is refused or retried.
 */
import type { Emitted, UserInput } from '../../shared/protocols/protocol.ts'

const EVENTS_OF_USERS: ReadonlySet<UserInput['type']> = new Set(['try', 'issue', 'exit'])

const RECORDED: ReadonlySet<Emitted['type']> = new Set([
  'applied',
  'granted',
  'restored',
  'crit',
  'outcome',
  'rem',
  'ejected',
  'withdrawn',
])

export const isRecorded = (cause: UserInput | null, emitted: readonly Emitted[]): boolean =>
  (cause !== null && EVENTS_OF_USERS.has(cause.type)) || emitted.some(({ type }) => RECORDED.has(type))
