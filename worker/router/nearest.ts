/**
 * Which participant is nearest to a request. Cloudflare tells where a request comes from (`request.cf`); a
 * location hint stands for a place on earth; the distance over its surface is a fair guess at the time a
 * message takes.
 */
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import {
  at,
  COORDINATES,
  type Coordinates,
  distanceKm,
  isLocation,
  nearestLocation,
} from '../../shared/api/geography.ts'
import type { Location } from '../../shared/api/limits.ts'

export type { Coordinates } from '../../shared/api/geography.ts'
export { distanceKm } from '../../shared/api/geography.ts'

/** The middle of where people live, for a request whose coordinates are not known. */
const CONTINENTS: { readonly [continent: string]: Coordinates } = {
  NA: at(39, -90),
  SA: at(-15, -55),
  EU: at(49, 10),
  AF: at(5, 15),
  AS: at(22, 105),
  OC: at(-33, 150),
  AN: at(-75, 0),
}

/**
 * Where the request comes from, if the platform says so. A request that a Worker made itself has no such
 * information.
 */
export function whereFrom(request: Request): Coordinates | null {
  const { cf } = request as { readonly cf?: { readonly [property: string]: unknown } | null }
  if (typeof cf !== 'object' || cf === null) return null
  // Said by a Worker that calls through a binding (the client's `near`): nothing from outside can have it.
  const { batonLocation } = cf
  if (isLocation(batonLocation)) return COORDINATES[batonLocation]
  const latitude = numberIn(cf.latitude, 90)
  const longitude = numberIn(cf.longitude, 180)
  if (latitude !== null && longitude !== null) return { latitude, longitude }
  return typeof cf.continent === 'string' ? (CONTINENTS[cf.continent] ?? null) : null
}

/** The location that is nearest to the client, for locks that follow their work. */
export function nearOf(request: Request): { readonly near?: string } {
  const from = whereFrom(request)
  return from === null ? {} : { near: nearestLocation(from) }
}

/** Cloudflare gives coordinates as text. */
function numberIn(value: unknown, most: number): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const number = value === '' ? Number.NaN : Number(value)
  return Math.abs(number) <= most ? number : null
}

/**
 * Nearest first. Of participants that are equally near, or whose place is unknown, `first` comes first and
 * the others in the order of their ids: every router asks the same one, so the token stays there.
 */
export function byNearness(
  places: readonly ParticipantPlace[],
  from: Coordinates | null,
  first: number,
): ParticipantPlace[] {
  const distances = new Map(places.map(place => [place.id, distanceTo(place, from)]))
  const rank = ({ id }: ParticipantPlace) => (id === first ? 0 : id)
  return [...places].sort((left, right) => {
    const [near, far] = [distances.get(left.id)!, distances.get(right.id)!]
    return near === far ? rank(left) - rank(right) : near - far
  })
}

function distanceTo(place: ParticipantPlace, from: Coordinates | null): number {
  const to = COORDINATES[place.location as Location] as Coordinates | undefined
  return from === null || to === undefined ? Number.POSITIVE_INFINITY : distanceKm(from, to)
}
