/** What a router is made of: the options of whoever mounts it, and what they mean when they are absent. */
import type * as z from 'zod'
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import { formatUser, USER_BYTES } from '../../shared/api/ids.ts'
import type { LedgerHealth } from '../../shared/birth/ledger-types.ts'
import { type LogEntry, logEntry } from '../../shared/log.ts'
import { logToConsole } from '../console-log.ts'
import type { AssetsBinding } from './built-page.ts'
import { DEFAULT_TIMES, type RouterTimes, type Services } from './context.ts'
import { upgradeInWorkers } from './handlers/streams.ts'
import { type KeySource, OPEN, parseKeys } from './keys.ts'
import { KnownConfigurations, Silences } from './memory.ts'
import { Metrics } from './metrics.ts'
import { ParticipantCaller, type ParticipantDirectory } from './participants.ts'
import { Routing } from './routing.ts'

export interface RouterOptions {
  readonly participants: ParticipantDirectory
  /** The value of `BATON_KEYS`, see keys.ts. Without it everything is refused. */
  readonly keys?: string | KeySource | undefined
  /** Everybody may do everything: only for a service that nobody else can reach. */
  readonly open?: boolean
  /** What a lock is made of that nobody configured. A lock's resource is decided here, by its name. */
  readonly defaults: LockConfiguration | ((lock: string) => LockConfiguration)
  /** For resources other than the built-in one: what one op must look like. Without it, any JSON goes. */
  readonly opSchemas?: { readonly [resource: string]: z.ZodType }
  /** More lines for `/metrics`, in the format of Prometheus. */
  readonly participantMetrics?: () => string | Promise<string>
  /** What the ledger of this process says about itself; `null` if it has none. */
  readonly ledgerHealth?: () => Promise<LedgerHealth | null>
  /** Where the built page is. Without it, a browser gets a page without scripts. */
  readonly assets?: AssetsBinding | undefined
  readonly now?: () => number
  readonly randomBytes?: (count: number) => Uint8Array
  readonly log?: (entry: LogEntry) => void
  readonly times?: Partial<RouterTimes>
  /** Makes the answer that carries on the WebSocket of a participant's answer. */
  readonly upgrade?: (answer: Response, headers: Headers) => Response
}

export function servicesFrom(options: RouterOptions): Services {
  const times = { ...DEFAULT_TIMES, ...options.times }
  const { defaults, now = () => Date.now(), log = logToConsole } = options
  const { randomBytes = count => crypto.getRandomValues(new Uint8Array(count)) } = options
  const defaultsOf = typeof defaults === 'function' ? defaults : () => defaults
  const metrics = new Metrics()
  const caller = new ParticipantCaller(options.participants, times)
  const routing = new Routing({
    caller,
    configurations: new KnownConfigurations(defaultsOf),
    silences: new Silences(times.silenceMs),
    now,
    onSilence: (lock, place, reason) => {
      metrics.silence(place.id)
      log(logEntry('participant_silent', { lock, participant: place.id, detail: reason }))
    },
  })
  return {
    routing,
    caller,
    metrics,
    times,
    log,
    keys: keysFrom(options),
    defaults: defaultsOf,
    randomUser: () => formatUser(randomBytes(USER_BYTES)),
    opSchemas: options.opSchemas ?? {},
    ledgerHealth: options.ledgerHealth ?? (async () => null),
    participantMetrics: options.participantMetrics ?? (() => ''),
    upgrade: options.upgrade ?? upgradeInWorkers,
  }
}

function keysFrom({ keys, open = false }: RouterOptions): KeySource {
  if (open) return OPEN
  return typeof keys === 'object' ? keys : parseKeys(keys)
}
