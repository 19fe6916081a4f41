/**
 * Places on earth, and how long a packet takes between them and back.
 *
 * Cloudflare publishes no table of round-trip times between its locations. What it does publish, and what
 * others measure of it, is the time to make a *new* object far away, which is several round trips
 * (where.durableobjects.live, read on 4 January 2026). So these are Microsoft's figures for the backbone
 * between Azure's regions in the same cities: the 95th percentile of the 30 days that ended on 30 July 2026.
 * https://learn.microsoft.com/en-us/azure/networking/azure-network-latency has them; they were taken from the
 * source of that page (articles/networking/azure-network-latency.md, commit 5b3e2055 of
 * mbender-ms/azure-docs, the fork of the page's author). The fibres between two cities are much the same for
 * everybody; your own figures will differ by some percent.
 */
import type { Location } from '../../shared/api/limits.ts'

export const SOURCE = {
  title: 'Azure network round-trip latency statistics',
  url: 'https://learn.microsoft.com/en-us/azure/networking/azure-network-latency',
  dataset: '95th percentile of the 30 days that ended on 30 July 2026',
} as const

interface PlaceFacts {
  readonly city: string
  readonly azure: string
  /** Cloudflare's hint for an object there; `null` if Cloudflare keeps no objects there. */
  readonly hint: Location | null
}

/** https://developers.cloudflare.com/durable-objects/reference/data-location says where objects live. */
export const PLACES = {
  california: { city: 'California', azure: 'West US', hint: 'wnam' },
  virginia: { city: 'Virginia', azure: 'East US', hint: 'enam' },
  saoPaulo: { city: 'São Paulo', azure: 'Brazil South', hint: null },
  london: { city: 'London', azure: 'UK South', hint: 'weur' },
  amsterdam: { city: 'Amsterdam', azure: 'West Europe', hint: 'weur' },
  warsaw: { city: 'Warsaw', azure: 'Poland Central', hint: 'eeur' },
  johannesburg: { city: 'Johannesburg', azure: 'South Africa North', hint: null },
  dubai: { city: 'Dubai', azure: 'UAE North', hint: null },
  singapore: { city: 'Singapore', azure: 'Southeast Asia', hint: 'apac-se' },
  tokyo: { city: 'Tokyo', azure: 'Japan East', hint: 'apac-ne' },
  sydney: { city: 'Sydney', azure: 'Australia East', hint: 'oc' },
} as const satisfies { readonly [place: string]: PlaceFacts }

export type Place = keyof typeof PLACES

export const ALL_PLACES = Object.keys(PLACES) as Place[]

/**
 * Milliseconds there and back, in the order of `PLACES`: each place with those before it. Azure lists both
 * directions; they differ by a few milliseconds, and this is the longer one.
 */
const ROUND_TRIPS: readonly (readonly number[])[] = [
  [],
  [74],
  [171, 121],
  [144, 80, 184],
  [153, 91, 191, 13],
  [168, 112, 212, 34, 28],
  [279, 226, 327, 169, 171, 199],
  [257, 191, 293, 122, 124, 139, 105],
  [172, 229, 337, 183, 182, 202, 211, 90],
  [110, 165, 275, 237, 242, 260, 255, 155, 74],
  [142, 207, 298, 277, 282, 300, 348, 182, 98, 105],
]

/** Between different places. */
function listedRoundTrip(one: Place, other: Place): number {
  const [first, second] = [ALL_PLACES.indexOf(one), ALL_PLACES.indexOf(other)]
  return ROUND_TRIPS[Math.max(first, second)]![Math.min(first, second)]!
}

/** `nearMs` is the round trip between two machines of one place. */
export const roundTripMs = (one: Place, other: Place, nearMs: number): number =>
  one === other ? nearMs : listedRoundTrip(one, other)

export function nearest(from: Place, places: readonly Place[]): Place {
  const distance = (to: Place) => roundTripMs(from, to, 0)
  return places.reduce((best, place) => (distance(place) < distance(best) ? place : best))
}
