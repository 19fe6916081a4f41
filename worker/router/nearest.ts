/**
 * Which participant is nearest to a request. Cloudflare tells where a request comes from (`request.cf`); a
 * location hint stands for a place on earth; the distance over its surface is a fair guess at the time a
 * message takes.
 */
import type { ParticipantPlace } from '../../shared/api/configuration.ts'
import type { Location } from '../../shared/api/limits.ts'

export interface Coordinates {
  readonly latitude: number
  readonly longitude: number
}

const at = (latitude: number, longitude: number): Coordinates => ({ latitude, longitude })

/**
 * Where objects with this hint really live. There are none in South America, Africa and the Middle East:
 * objects hinted there are put nearby (developers.cloudflare.com/durable-objects/reference/data-location, as
 * of 2026).
 */
const LOCATIONS: { readonly [location in Location]: Coordinates } = {
  wnam: at(37.4, -121.9),
  enam: at(39.0, -77.5),
  sam: at(39.0, -77.5),
  weur: at(50.1, 8.7),
  eeur: at(52.2, 21.0),
  apac: at(22.3, 114.2),
  'apac-ne': at(35.7, 139.7),
  'apac-se': at(1.4, 103.9),
  oc: at(-33.9, 151.2),
  afr: at(50.1, 8.7),
  me: at(50.1, 8.7),
}

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

const EARTH_RADIUS_KM = 6_371

/**
 * Where the request comes from, if the platform says so. A request that a Worker made itself has no such
 * information.
 */
export function whereFrom(request: Request): Coordinates | null {
  const { cf } = request as { readonly cf?: { readonly [property: string]: unknown } | null }
  if (typeof cf !== 'object' || cf === null) return null
  // Said by a Worker that calls through a binding (the client's `near`): nothing from outside can have it.
  const { batonLocation } = cf
  if (isLocation(batonLocation)) return LOCATIONS[batonLocation]
  const latitude = numberIn(cf.latitude, 90)
  const longitude = numberIn(cf.longitude, 180)
  if (latitude !== null && longitude !== null) return { latitude, longitude }
  return typeof cf.continent === 'string' ? (CONTINENTS[cf.continent] ?? null) : null
}

function isLocation(value: unknown): value is Location {
  return typeof value === 'string' && Object.hasOwn(LOCATIONS, value)
}

/** Cloudflare gives coordinates as text. */
function numberIn(value: unknown, most: number): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const number = value === '' ? Number.NaN : Number(value)
  return Math.abs(number) <= most ? number : null
}

/**
 * Nearest first. Participants that are equally near, or whose place is unknown, come in the order of their
 * ids, which is always the same.
 */
export function byNearness(
  places: readonly ParticipantPlace[],
  from: Coordinates | null,
): ParticipantPlace[] {
  const distances = new Map(places.map(place => [place.id, distanceTo(place, from)]))
  return [...places].sort((left, right) => {
    const [near, far] = [distances.get(left.id)!, distances.get(right.id)!]
    return near === far ? left.id - right.id : near - far
  })
}

function distanceTo(place: ParticipantPlace, from: Coordinates | null): number {
  const to = LOCATIONS[place.location as Location] as Coordinates | undefined
  return from === null || to === undefined ? Number.POSITIVE_INFINITY : distanceKm(from, to)
}

export function distanceKm(from: Coordinates, to: Coordinates): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const halfLatitude = Math.sin(radians(to.latitude - from.latitude) / 2)
  const halfLongitude = Math.sin(radians(to.longitude - from.longitude) / 2)
  const parallels = Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude))
  const chord = halfLatitude ** 2 + parallels * halfLongitude ** 2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(chord)))
}
