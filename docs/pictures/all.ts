/** Every picture of the documentation, by the name of its file. */
import { decision } from './decision.ts'
import { failover } from './failover.ts'
import { folders } from './folders.ts'
import { requestWay } from './request-way.ts'
import { staleHolder } from './stale-holder.ts'
import { threeRegions } from './three-regions.ts'

export const PICTURES: { readonly [file: string]: () => string } = {
  'three-regions.svg': threeRegions,
  'stale-holder.svg': staleHolder,
  'failover.svg': failover,
  'request-way.svg': requestWay,
  'decision.svg': decision,
  'folders.svg': folders,
}
