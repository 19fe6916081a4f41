/**
 * What a deployment sets: bindings, variables and secrets, and what they mean when they are absent.
 * check-environment.ts checks them.
 */
import type { LockConfiguration, ParticipantPlace } from '../shared/api/configuration.ts'
import { DEFAULT_TIMING, type ProtocolName } from '../shared/protocols/protocol.ts'
import type { DirectoryEnvironment } from './directory.ts'
import type { AssetsBinding } from './router/built-page.ts'

export interface BatonEnvironment extends DirectoryEnvironment {
  /**
   * The participants of a lock that nobody configured: JSON, `[{"location": "weur"}, …]`; a `url` for another
   * process.
   */
  readonly BATON_PARTICIPANTS?: string
  readonly BATON_PROTOCOL?: string
  /** Secret: who may do what, see docs/keys.md. */
  readonly BATON_KEYS?: string
  /** `true` lets in every program on the same machine. */
  readonly BATON_OPEN?: string
  /** How many steps of history each participant keeps; 0 for none. */
  readonly BATON_EVENTS_KEPT?: string
  /**
   * Where the others find the participants of this process: URLs as in `BATON_PARTICIPANTS`, with commas
   * between them. What they sign names one of them.
   */
  readonly BATON_URL?: string
  /**
   * Pages of these origins may call the service from a browser: `https://shop.example`, with commas between
   * them.
   */
  readonly BATON_CORS_ORIGINS?: string
  /** Static assets that have the built page in their folder `baton`, see docs/library.md. */
  readonly ASSETS?: AssetsBinding
}

const DEFAULT_LOCATIONS = ['weur', 'enam', 'apac']
export const DEFAULT_TTL_MS = 30_000
const DEFAULT_EVENTS_KEPT = 10_000

export function defaultPlaces(env: BatonEnvironment): ParticipantPlace[] {
  const listed = env.BATON_PARTICIPANTS
    ? (JSON.parse(env.BATON_PARTICIPANTS) as { location?: string | null; url?: string }[])
    : DEFAULT_LOCATIONS.map(location => ({ location }) as { location?: string; url?: string })
  return listed.map(({ location, url }, index) => ({
    id: index + 1,
    location: location ?? null,
    url: url ?? null,
  }))
}

/** The resource that a lock guards unless its Worker says otherwise. */
export const DEFAULT_RESOURCE = 'key-value'

export function defaultConfiguration(
  env: BatonEnvironment,
  firstOwner: number,
  resource = DEFAULT_RESOURCE,
): LockConfiguration {
  return {
    number: 1,
    protocol: (env.BATON_PROTOCOL || 'wme-2') as ProtocolName,
    participants: defaultPlaces(env),
    firstOwner,
    ttlMs: DEFAULT_TTL_MS,
    detector: { heartbeatMs: DEFAULT_TIMING.heartbeatMs, timeoutMs: DEFAULT_TIMING.timeoutMs },
    localHandoffs: 1,
    resource,
  }
}

export const eventsKept = (env: BatonEnvironment): number =>
  env.BATON_EVENTS_KEPT ? Number(env.BATON_EVENTS_KEPT) : DEFAULT_EVENTS_KEPT

export const isOpen = (env: BatonEnvironment): boolean => env.BATON_OPEN === 'true'

/** Something else of the Worker may have this name. */
export const assetsOf = ({ ASSETS }: BatonEnvironment): AssetsBinding | undefined =>
  typeof ASSETS?.fetch === 'function' ? ASSETS : undefined

/** The first signs; all of them are accepted. Without any, this process answers no other one. */
export function peerSecrets(env: BatonEnvironment): string[] {
  return [env.BATON_PEER_SECRET, env.BATON_PEER_SECRET_OLD].filter(secret => !!secret) as string[]
}

/** Empty if it does not say: then this process answers no other one. */
export const ownUrls = (env: BatonEnvironment): string[] => commaSeparated(env.BATON_URL)

/** `*` stands for every origin. */
export const corsOrigins = (env: BatonEnvironment): string[] => commaSeparated(env.BATON_CORS_ORIGINS)

function commaSeparated(list: string | undefined): string[] {
  const items = (list ?? '').split(',').map(item => item.trim())
  return items.filter(item => item !== '')
}
