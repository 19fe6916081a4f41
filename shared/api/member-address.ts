/**
 * Where a participant is that came after the birth of its lock, as a text that the members agree on. The
 * participants that a lock was born with are where its configuration says, and have no such text.
 *
 * `weur@` is an object of this service that was made with this location hint, `@` one that was made without,
 * and `weur@4` is in process 4 of a service whose processes are apart.
 */
import type { ParticipantPlace } from './configuration.ts'

export interface MemberAddress {
  readonly location: string | null
  /** The number of the process; `null` if all participants are objects of one service. */
  readonly processNumber: number | null
}

const ADDRESS = /^([a-z-]{0,16})@([1-9]\d{0,3})?$/

export const writeAddress = ({ location, processNumber }: MemberAddress): string =>
  `${location ?? ''}@${processNumber ?? ''}`

/** `null` if it is none. */
export function readAddress(text: string): MemberAddress | null {
  const match = ADDRESS.exec(text)
  if (match === null) return null
  const [, location, processNumber] = match
  return {
    location: location || null,
    processNumber: processNumber === undefined ? null : Number(processNumber),
  }
}

/** `processes`: the default participants, each in a process of its own if they have URLs. */
export function placeAt(
  id: number,
  address: string,
  processes: readonly ParticipantPlace[],
): ParticipantPlace {
  const { location = null, processNumber = null } = readAddress(address) ?? {}
  const url = processes.find(place => place.id === processNumber)?.url ?? null
  return { id, location, url, address }
}
