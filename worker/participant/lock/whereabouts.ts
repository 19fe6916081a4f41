/**
 * Where the other participants of the lock are. Those that it was born with, and the default ones, are where
 * the configuration says; the members that came later are where the members agreed. A participant that is to
 * become a member is known from the change that names it, or from what it says itself, and only until this
 * instance ends: it says it again.
 */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { placeAt, readAddress } from '../../../shared/api/member-address.ts'
import type { BirthRecord } from '../../../shared/birth/lock-types.ts'
import type { Members } from '../../../shared/protocols/protocol.ts'

export interface WhereaboutsHost {
  /** What is known of the lock: valid in a turn. */
  birth(): BirthRecord
  configuration(): LockConfiguration | undefined
  registrars(): readonly ParticipantPlace[]
}

/** As many as can be on their way into a lock at once, and some more. */
const MOST = 64

export class Whereabouts {
  private readonly host: WhereaboutsHost
  private readonly heard = new Map<number, string>()

  constructor(host: WhereaboutsHost) {
    this.host = host
  }

  expect(members: Members): void {
    for (const [id, address] of Object.entries(members)) if (address !== '') this.note(Number(id), address)
  }

  /** A participant that came later says with each request where it is. */
  note(id: number, address: string): void {
    if (readAddress(address) === null) return
    this.heard.delete(id)
    this.heard.set(id, address)
    if (this.heard.size > MOST) this.heard.delete(this.heard.keys().next().value!)
  }

  /** `null`: nobody has said. To guess would make a participant that nobody knows. */
  placeOf(peer: number): ParticipantPlace | null {
    const { members, former, untold } = this.host.birth()
    const registrars = this.host.registrars()
    const address = members?.members[peer] || former?.[peer] || undefined
    if (address !== undefined) return placeAt(peer, address, registrars)
    const isPeer = ({ id }: ParticipantPlace) => id === peer
    const listed = this.host.configuration()?.participants.find(isPeer) ?? registrars.find(isPeer)
    if (listed !== undefined) return listed
    // It was a participant of the lock that was deleted: its number says it all.
    if (untold?.includes(peer)) return { id: peer, location: null, url: null }
    const heard = this.heard.get(peer)
    return heard === undefined ? null : placeAt(peer, heard, registrars)
  }
}
