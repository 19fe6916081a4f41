/** The configuration of a lock: from what a client asks for, and back to what it is told. */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type { ConfigurationAnswer, ConfigureRequest } from '../../shared/api/types.ts'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { Json } from '../../shared/json.ts'
import type { ProtocolOptions } from '../../shared/protocols/protocol.ts'
import { canonical } from '../../shared/resource/canonical.ts'
import { byNearness, type Coordinates } from './nearest.ts'

/**
 * Fields that are left out have their defaults. A participant of the default with a URL of its own keeps it.
 */
export function configurationFrom(
  lock: string,
  defaults: LockConfiguration,
  request: ConfigureRequest,
  from: Coordinates | null,
): LockConfiguration {
  const { protocol, participants, ttlMs, detector, localHandoffs, follow, options } = request
  const places =
    participants?.map(({ location }, index) => {
      const url = defaults.participants.find(({ id }) => id === index + 1)?.url ?? null
      return { id: index + 1, location: location ?? null, url }
    }) ?? defaults.participants
  return {
    ...defaults,
    protocol: protocol ?? defaults.protocol,
    participants: places,
    firstOwner: byNearness(places, from, firstOwnerOf(lock, defaults.participants.length))[0]!.id,
    ttlMs: ttlMs ?? defaults.ttlMs,
    detector: {
      heartbeatMs: detector?.heartbeatMs ?? defaults.detector.heartbeatMs,
      timeoutMs: detector?.timeoutMs ?? defaults.detector.timeoutMs,
    },
    localHandoffs: localHandoffs ?? defaults.localHandoffs,
    ...(follow && { follow }),
    ...(options !== undefined && Object.keys(options).length > 0 && { options: options as ProtocolOptions }),
  }
}

export function describeConfiguration(lock: string, configuration: LockConfiguration): ConfigurationAnswer {
  const { protocol, participants, ttlMs, detector, localHandoffs, follow, options } = configuration
  const { heartbeatMs, timeoutMs } = detector
  return {
    lock,
    protocol,
    participants: participants.map(({ id, location }) => ({ id, location })),
    ttlMs,
    detector: { heartbeatMs, timeoutMs },
    localHandoffs,
    ...(follow && { follow }),
    ...(options && { options: { ...options } }),
  }
}

/** Says in words what the lock has instead of what was wanted. Nobody can wish who has the token first. */
export function differences(wanted: LockConfiguration, actual: LockConfiguration): string[] {
  const [left, right] = [aspects(wanted), aspects(actual)]
  return Object.keys(left).flatMap(name =>
    left[name] === right[name] ? [] : [`${name} is ${right[name]} and not ${left[name]}`],
  )
}

function aspects(configuration: LockConfiguration): { readonly [name: string]: string } {
  const { protocol, participants, ttlMs, detector, localHandoffs, follow, options, resource } = configuration
  return {
    protocol,
    participants: JSON.stringify(participants.map(({ location }) => (location === null ? {} : { location }))),
    ttlMs: String(ttlMs),
    'detector.heartbeatMs': String(detector.heartbeatMs),
    'detector.timeoutMs': String(detector.timeoutMs),
    localHandoffs: String(localHandoffs),
    follow: String(follow ?? false),
    options: canonical((options ?? {}) as Json),
    resource,
  }
}
