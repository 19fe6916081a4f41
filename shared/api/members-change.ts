/**
 * What an operator asks for, as the set of members that the lock is to have. It says who is to be a member,
 * not what is to be done: asked again, it is the same set, and nothing is left to do.
 */
import type { Json } from '../json.ts'
import type { Members } from '../protocols/protocol.ts'
import { digest } from '../resource/canonical.ts'
import type { ParticipantPlace } from './configuration.ts'
import { API_LIMITS } from './limits.ts'
import { readAddress, writeAddress } from './member-address.ts'

export interface WantedPlace {
  /** Absent, or `null`: wherever. */
  readonly location?: string | null | undefined
}

export type MembersChange = (
  | { readonly add: WantedPlace }
  | { readonly remove: number }
  | { readonly replace: number; readonly location?: string | null | undefined }
  | { readonly participants: readonly ({ readonly id: number } | WantedPlace)[] }
) & {
  /** Only if this is the number of the present configuration. */
  readonly configuration?: number | undefined
}

export interface PresentPlaces {
  /** The members; those that came later have an address. */
  readonly places: readonly ParticipantPlace[]
  /** The highest number that a member ever had. */
  readonly highest: number
  /** The default participants. If they are behind URLs, each is a process of its own. */
  readonly processes: readonly ParticipantPlace[]
}

export type Wanted =
  | { readonly type: 'set'; readonly members: Members }
  /** The lock has these members already, or again has not the one that was to go. */
  | { readonly type: 'nothing' }
  /** There can be no such set. */
  | { readonly type: 'impossible'; readonly detail: string }

/** Who wants a change: an operator, or the lock itself, which follows its work. */
export type WantedBy = 'operator' | 'follow'

const BY_ITSELF = 'follow/'

/** Names a change by what it asks for, and tells everybody who wanted it. */
export const nameOfChange = (change: MembersChange, by: WantedBy = 'operator'): string =>
  (by === 'follow' ? BY_ITSELF : '') + digest(change as unknown as Json)

/** `change` is the name of it; `null` if there was none. */
export const isByItself = (change: string | null): boolean => change?.startsWith(BY_ITSELF) ?? false

export function wantedMembers(change: MembersChange, present: PresentPlaces): Wanted {
  if ('add' in change) return setOf(present, present.places, [change.add])
  if ('participants' in change) return listed(present, change.participants)
  const id = 'remove' in change ? change.remove : change.replace
  const staying = present.places.filter(place => place.id !== id)
  if (staying.length === present.places.length) return gone(present, id)
  return setOf(present, staying, 'remove' in change ? [] : [{ location: change.location }])
}

/** A number is used once: whoever is no member and had a number that high was one. */
function gone({ highest, places }: PresentPlaces, id: number): Wanted {
  if (id <= highest) return { type: 'nothing' }
  const numbers = places.map(place => place.id).join(', ')
  return impossible(`The lock has no participant ${id}, and never had. Its participants are: ${numbers}.`)
}

/** Places that are named by their location are those of members, as long as there are such. */
function listed(present: PresentPlaces, wanted: readonly ({ readonly id: number } | WantedPlace)[]): Wanted {
  const staying: ParticipantPlace[] = []
  const added: WantedPlace[] = []
  for (const one of wanted) {
    if (!('id' in one)) continue
    const place = present.places.find(({ id }) => id === one.id)
    if (place === undefined) return impossible(`Participant ${one.id} is not a participant of this lock.`)
    if (staying.includes(place)) return impossible(`Participant ${one.id} is named twice.`)
    staying.push(place)
  }
  for (const one of wanted) {
    if ('id' in one) continue
    const isFree = (place: ParticipantPlace) => !staying.includes(place)
    const same = present.places.find(place => isFree(place) && place.location === (one.location ?? null))
    if (same === undefined) added.push(one)
    else staying.push(same)
  }
  return setOf(present, staying, added)
}

function setOf(
  present: PresentPlaces,
  staying: readonly ParticipantPlace[],
  added: readonly WantedPlace[],
): Wanted {
  const { least, most } = API_LIMITS.participants
  const count = staying.length + added.length
  if (count < least) return impossible('A lock has at least one participant.')
  if (count > most) return impossible(`A lock has at most ${most} participants.`)
  if (added.length === 0 && staying.length === present.places.length) return { type: 'nothing' }
  const addresses = addressesFor(present, staying, added)
  if (typeof addresses === 'string') return impossible(addresses)
  const first = Math.max(present.highest, present.processes.length) + 1
  if (first + added.length - 1 > API_LIMITS.participantNumber.most)
    return impossible('This lock has used up all numbers for participants. Export it, and import it anew.')
  const members: { [participant: string]: string } = {}
  for (const { id, address = '' } of staying) members[id] = address
  addresses.forEach((address, index) => {
    members[first + index] = address
  })
  return { type: 'set', members }
}

const impossible = (detail: string): Wanted => ({ type: 'impossible', detail })

// ---------------------------------------------------------------- where

/** The addresses of those that are added; or why there is no place for one. */
function addressesFor(
  present: PresentPlaces,
  staying: readonly ParticipantPlace[],
  added: readonly WantedPlace[],
): string[] | string {
  const { processes } = present
  if (processes.every(({ url }) => url === null))
    return added.map(({ location }) => writeAddress({ location: location ?? null, processNumber: null }))
  const taken = new Set(staying.map(processOf))
  const left = new Set(present.places.map(processOf))
  const addresses: string[] = []
  for (const { location } of added) {
    const fits = ({ id, location: there }: ParticipantPlace) =>
      !taken.has(id) && (location == null || location === there)
    // A process that has just been left may be one that is gone.
    const free = processes.find(one => fits(one) && !left.has(one.id)) ?? processes.find(fits)
    if (free === undefined) return noProcess(processes.length, location)
    taken.add(free.id)
    addresses.push(writeAddress({ location: free.location, processNumber: free.id }))
  }
  return addresses
}

/** The participants that a lock was born with are in the processes with their numbers. */
const processOf = ({ id, address }: ParticipantPlace): number =>
  address === undefined ? id : (readAddress(address)?.processNumber ?? id)

function noProcess(processes: number, location: WantedPlace['location']): string {
  const where = location == null ? '' : ` at ${location}`
  return `There is no process${where} without a participant of this lock: this service has ${processes} processes, and each holds one.`
}
