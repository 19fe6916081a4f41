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
  /** The newcomers that an operator wants. Others of the same number were in an earlier lock of this name. */
  private readonly expected = new Map<number, string>()

  constructor(host: WhereaboutsHost) {
    this.host = host
  }

  expect(members: Members): void {
    for (const [id, address] of Object.entries(members))
      if (address !== '') keep(this.expected, Number(id), address)
  }

  /** A participant that came later says with each request where it is. */
  note(id: number, address: string): void {
    keep(this.heard, id, address)
  }

  /** The lock was deleted: the next one of its name counts its participants anew. */
  forget(): void {
    this.expected.clear()
    this.heard.clear()
  }

  /**
   * `null`: nobody has said. To guess would make a participant that nobody knows. `at`: the one that is there
   * is meant, whoever has its number now.
   */
  placeOf(peer: number, at?: string): ParticipantPlace | null {
    const { members, former, untold } = this.host.birth()
    const registrars = this.host.registrars()
    // One that its lock was born with: its number says it all.
    if (at === '') return { id: peer, location: null, url: null }
    if (at !== undefined) return placeAt(peer, at, registrars)
    const agreed = members?.members[peer]
    if (agreed) return placeAt(peer, agreed, registrars)
    const isPeer = ({ id }: ParticipantPlace) => id === peer
    const listed = this.host.configuration()?.participants.find(isPeer) ?? registrars.find(isPeer)
    if (listed !== undefined) return listed
    // Those that have gone come last: in the lock that was deleted, others may have had these numbers.
    const address = this.expected.get(peer) ?? this.heard.get(peer) ?? former?.[peer]
    if (address) return placeAt(peer, address, registrars)
    // It was a participant of the lock that was deleted: its number says it all.
    return untold?.includes(peer) ? { id: peer, location: null, url: null } : null
  }
}

function keep(addresses: Map<number, string>, id: number, address: string): void {
  if (readAddress(address) === null) return
  addresses.delete(id)
  addresses.set(id, address)
  if (addresses.size > MOST) addresses.delete(addresses.keys().next().value!)
}
