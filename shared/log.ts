/**
 * Every line that the service logs is one JSON object: what happened (`event`, one of these), how bad it is,
 * and where. docs/operations.md explains each of them, and a test holds the two against each other.
 */
export const LOG_EVENTS = {
  ejected: { level: 'warning', message: 'A holder was forced out of the lock.' },
  expired: { level: 'warning', message: 'A grant was not kept alive in time, and its holder lost the lock.' },
  epoch: { level: 'warning', message: 'The participants began a new epoch: the token has a new owner.' },
  eject: { level: 'info', message: 'An operator asked for the holder to be forced out.' },
  instance_over: {
    level: 'error',
    message: 'An instance of a participant has ended itself; the next one goes on.',
  },
  participant_silent: { level: 'warning', message: 'A participant did not answer the router.' },
  defect: { level: 'error', message: 'A request was answered with 500, which is a defect.' },
  misconfigured: { level: 'error', message: 'A variable is wrong: nothing is served until it is mended.' },
  unknown_variable: { level: 'warning', message: 'A variable has no effect.' },
} as const satisfies { readonly [event: string]: { readonly level: LogLevel; readonly message: string } }

export type LogLevel = 'info' | 'warning' | 'error'
export type LogEvent = keyof typeof LOG_EVENTS

/** Never the key itself, the id of a grant, or anything of the guarded state. */
export interface LogFields {
  readonly lock?: string | undefined
  readonly participant?: number | undefined
  readonly fence?: number | undefined
  readonly cause?: string | undefined
  /** How long the holder had the lock. */
  readonly heldMs?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly owner?: number | undefined
  readonly epoch?: number | undefined
  /** The name of the key, as BATON_KEYS has it. */
  readonly key?: string | undefined
  readonly requestId?: string | undefined
  readonly detail?: string | undefined
  readonly stack?: string | undefined
}

export interface LogEntry extends LogFields {
  readonly level: LogLevel
  readonly event: LogEvent
  readonly message: string
}

export function logEntry(event: LogEvent, fields: LogFields): LogEntry {
  const { level, message } = LOG_EVENTS[event]
  return { level, event, message, ...fields }
}
