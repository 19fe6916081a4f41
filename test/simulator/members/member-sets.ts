/**
 * Which members the lock has, as somebody knows who sees all storages: for those that choose victims, changes
 * and survivors. What no protocol can survive must not be asked of one.
 */

import { addressesIn, configIn, membersIn } from '../../../shared/protocols/members/sets.ts'
import type { Members, ParticipantId } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import type { Participant } from '../participant.ts'
import type { Random } from '../random.ts'
import type { MemberRecords, SetRecord } from './member-records.ts'

/** A change that an operator has asked for. */
export interface AskedChange {
  readonly id: string
  readonly base: number
  readonly members: Members
}

type AnyParticipant = Participant<unknown, unknown>

export class MemberSets {
  readonly #participants: readonly AnyParticipant[]
  readonly #born: { readonly participants: number }
  readonly #records: MemberRecords
  /** The first record of each set, in order. */
  readonly #sets: SetRecord[] = []
  #latest: SetRecord | null = null
  readonly asked: AskedChange[] = []

  constructor(participants: readonly AnyParticipant[], bornWith: number, records: MemberRecords) {
    this.#participants = participants
    this.#born = { participants: bornWith }
    this.#records = records
  }

  /** A participant has stored this set. */
  entered(record: SetRecord): void {
    if (this.#latest === null || record.epoch > this.#latest.epoch) this.#latest = record
    if (!this.#sets.some(known => configIn(known) === configIn(record))) this.#sets.push(record)
  }

  get latest(): SetRecord {
    return this.#latest ?? { epoch: 0 }
  }

  get config(): number {
    return configIn(this.latest)
  }

  get addresses(): Members {
    return addressesIn(this.#born, this.latest)
  }

  get members(): readonly ParticipantId[] {
    return membersIn(this.#born, this.latest)
  }

  has(id: ParticipantId): boolean {
    return this.members.includes(id)
  }

  /** All members are needed for anything. */
  get needsAll(): boolean {
    return this.#records.needsAll
  }

  /** It has stored that it is a member, or was one. */
  isMember(id: ParticipantId): boolean {
    return this.#records.wasMember(this.#participants[id]!.storage)
  }

  /** As many of the latest set as are needed have it, with everything before it, in storage. */
  get isHandedOver(): boolean {
    const isInstalled = (id: ParticipantId) =>
      this.#records.isInstalled(this.#participants[id]!.storage, this.config)
    return this.members.filter(isInstalled).length >= this.#enough(this.members)
  }

  #enough({ length }: readonly ParticipantId[]): number {
    return this.#records.needsAll ? length : majority(length)
  }

  /** Whether this machine still has what it ever promised and was given. */
  keeps(id: ParticipantId): boolean {
    const { isOff, wasWiped, storage } = this.#participants[id]!
    return !isOff && this.#records.keeps(storage, wasWiped)
  }

  /** Enough of each of these sets must keep what it has, or nobody can go on. */
  get needed(): (readonly ParticipantId[])[] {
    const previous = this.isHandedOver ? undefined : this.#sets.at(-2)
    const possible = this.asked.filter(({ base }) => base === this.config)
    return [
      this.members,
      ...(previous === undefined ? [] : [membersIn(this.#born, previous)]),
      ...possible.map(({ members }) => Object.keys(members).map(Number)),
    ]
  }

  mayLose(victim: ParticipantId): boolean {
    const keepsBeside = (id: ParticipantId) => id !== victim && this.keeps(id)
    return this.needed.every(
      set => !set.includes(victim) || set.filter(keepsBeside).length >= this.#enough(set),
    )
  }

  /** Just enough of all sets that may be needed, and perhaps some more. */
  chooseSurvivors(random: Random): ParticipantId[] {
    const survivors = new Set<ParticipantId>()
    const isOfUse = (id: ParticipantId) => this.#records.readmits || this.keeps(id)
    const isThere = (id: ParticipantId) => {
      const { isOff, incarnation } = this.#participants[id]!
      return !isOff && incarnation > 0 && isOfUse(id)
    }
    for (const set of this.needed) {
      const keepers = random.shuffled(set.filter(id => this.keeps(id)))
      // One that is taken back by then may be needed as well.
      const others = set.filter(id => isThere(id) && !keepers.includes(id))
      for (const id of [...keepers, ...others].slice(0, this.#enough(set))) survivors.add(id)
    }
    const more = random.chance(0.3) || this.#records.needsAll ? 1 : random.fraction()
    for (const { id } of this.#participants.slice(1))
      if (isThere(id) && random.chance(more)) survivors.add(id)
    return [...survivors].sort((one, other) => one - other)
  }
}
