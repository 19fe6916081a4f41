/** What a client may have wished a lock to be: two versions of the service have defaults of their own. */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import type { Asked } from './asked.ts'
import type { World } from './world.ts'

type Places = readonly { readonly location?: string | null }[]

interface Wished extends Partial<Pick<LockConfiguration, 'protocol' | 'ttlMs' | 'localHandoffs' | 'follow'>> {
  readonly participants?: Places
  readonly detector?: { readonly heartbeatMs?: number; readonly timeoutMs?: number }
}

const VERSIONS = [0, 1] as const

const defaultsOf = (world: World): LockConfiguration[] =>
  VERSIONS.map(version => world.defaultsOf({ version }, 1))

const placesOf = (places: Places): string => JSON.stringify(places.map(({ location }) => location ?? null))

/** Who has the token first is nobody's wish. */
function isMadeOf(made: LockConfiguration, wish: Wished, defaults: LockConfiguration): boolean {
  const { detector = {}, participants = defaults.participants } = wish
  return (
    made.protocol === (wish.protocol ?? defaults.protocol) &&
    placesOf(made.participants) === placesOf(participants) &&
    made.ttlMs === (wish.ttlMs ?? defaults.ttlMs) &&
    made.detector.heartbeatMs === (detector.heartbeatMs ?? defaults.detector.heartbeatMs) &&
    made.detector.timeoutMs === (detector.timeoutMs ?? defaults.detector.timeoutMs) &&
    made.localHandoffs === (wish.localHandoffs ?? defaults.localHandoffs) &&
    (made.follow ?? false) === (wish.follow ?? false)
  )
}

/** Whether this is what this client wished, by the defaults of one version at least. */
export const mayBeWished = (world: World, made: LockConfiguration, { body }: Asked): boolean =>
  defaultsOf(world).some(defaults => isMadeOf(made, body as Wished, defaults))

/** The same, whatever the version. */
export const isWished = (world: World, made: LockConfiguration, { body }: Asked): boolean =>
  defaultsOf(world).every(defaults => isMadeOf(made, body as Wished, defaults))

/** Whether whoever uses the lock without a wish may make it like this. */
export const isDefault = (world: World, made: LockConfiguration): boolean =>
  defaultsOf(world).some(defaults => isMadeOf(made, {}, defaults))
