/** Where objects with a location hint live, and how far that is from anywhere. */
import type { Location } from './limits.ts'

export interface Coordinates {
  readonly latitude: number
  readonly longitude: number
}

export const at = (latitude: number, longitude: number): Coordinates => ({ latitude, longitude })

/**
 * Where objects with this hint really live. There are none in South America, Africa and the Middle East:
 * objects hinted there are put nearby (developers.cloudflare.com/durable-objects/reference/data-location, as
 * of 2026).
 */
export const COORDINATES: { readonly [location in Location]: Coordinates } = {
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

const EARTH_RADIUS_KM = 6_371

export function distanceKm(from: Coordinates, to: Coordinates): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const halfLatitude = Math.sin(radians(to.latitude - from.latitude) / 2)
  const halfLongitude = Math.sin(radians(to.longitude - from.longitude) / 2)
  const parallels = Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude))
  const chord = halfLatitude ** 2 + parallels * halfLongitude ** 2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(chord)))
}

export const isLocation = (value: unknown): value is Location =>
  typeof value === 'string' && Object.hasOwn(COORDINATES, value)

/** `null` if either of them is anywhere. */
export function distanceBetween(one: string | null, other: string | null): number | null {
  return isLocation(one) && isLocation(other) ? distanceKm(COORDINATES[one], COORDINATES[other]) : null
}

/** The location that is nearest to this point. */
export function nearestLocation(point: Coordinates): Location {
  const locations = Object.keys(COORDINATES) as Location[]
  return locations.reduce((nearest, location) =>
    distanceKm(point, COORDINATES[location]) < distanceKm(point, COORDINATES[nearest]) ? location : nearest,
  )
}
