/**
 * Which members the lock has, as somebody knows who sees all storages: for those that choose victims, changes
 * and survivors. What no protocol can survive must not be asked of one.
 */
import type { Members, ParticipantId } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { addressesIn, configIn, membersIn } from '../../../shared/protocols/wme/members.ts'
import type { EpochRecord, Membership } from '../../../shared/protocols/wme/state.ts'
import type { Participant } from '../participant.ts'
import type { Random } from '../random.ts'

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
  /** The first record of each set, in order. */
  readonly #sets: EpochRecord[] = []
  #latest: EpochRecord | null = null
  readonly asked: AskedChange[] = []

  constructor(participants: readonly AnyParticipant[], bornWith: number) {
    this.#participants = participants
    this.#born = { participants: bornWith }
  }

  /** A participant has entered this epoch. */
  entered(record: EpochRecord): void {
    if (this.#latest === null || record.epoch > this.#latest.epoch) this.#latest = record
    if (!this.#sets.some(known => configIn(known) === configIn(record))) this.#sets.push(record)
  }

  get latest(): EpochRecord {
    return this.#latest ?? { epoch: 0, owner: 1, start: 0, sealed: false, incarnations: {} }
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

  /** A majority of the latest set has entered the epoch that it began with, and has it in storage. */
  get isHandedOver(): boolean {
    const isInstalled = (id: ParticipantId) =>
      this.#statusOf(id)?.status === 'member' && (this.#epochOf(id)?.epoch ?? -1) >= this.config
    return this.members.filter(isInstalled).length >= majority(this.members.length)
  }

  #statusOf(id: ParticipantId): Membership | undefined {
    return this.#participants[id]!.storage.get('membership') as Membership | undefined
  }

  #epochOf(id: ParticipantId): EpochRecord | undefined {
    return this.#participants[id]!.storage.get('epoch') as EpochRecord | undefined
  }

  /** Whether this machine still has what it ever promised and was given. */
  keeps(id: ParticipantId): boolean {
    const { isOff, wasWiped } = this.#participants[id]!
    const status = this.#statusOf(id)
    if (isOff || status === undefined) return false
    if (status.status === 'removed') return status.hasData
    return status.status === 'member' || (status.status === 'joining' && !wasWiped)
  }

  /** A majority of each of these sets must keep what it has, or nobody can go on. */
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
    return this.needed.every(set => !set.includes(victim) || hasMajority(set, set.filter(keepsBeside)))
  }

  /** Bare majorities of all sets that may be needed, and perhaps some more. */
  chooseSurvivors(random: Random): ParticipantId[] {
    const survivors = new Set<ParticipantId>()
    for (const set of this.needed) {
      const keepers = random.shuffled(set.filter(id => this.keeps(id)))
      for (const id of keepers.slice(0, majority(set.length))) survivors.add(id)
    }
    const more = random.chance(0.3) ? 1 : random.fraction()
    for (const { id, isOff, incarnation } of this.#participants.slice(1))
      if (!isOff && incarnation > 0 && random.chance(more)) survivors.add(id)
    return [...survivors].sort((one, other) => one - other)
  }
}

const hasMajority = (set: readonly ParticipantId[], some: readonly ParticipantId[]): boolean =>
  some.length >= majority(set.length)
