/**
 * The rules of changing members that every protocol keeps, looked up in storage.
 *   one set    a name means one set, everywhere
 *   numbers    a number is never used twice: a newcomer's is above all that were used before (M6, R10)
 *   removed    whoever is removed stays removed (M5, R13)
 */

import {
  addressesIn,
  areSame,
  configIn,
  highestIn,
  membersIn,
} from '../../../shared/protocols/members/sets.ts'
import type { DurableRecord, ParticipantId } from '../../../shared/protocols/protocol.ts'
import type { MemberRecords, SetRecord } from '../members/member-records.ts'
import type { MemberSets } from '../members/member-sets.ts'
import type { Participant } from '../participant.ts'
import { violate } from '../violation.ts'
import type { World } from '../world.ts'

export class MemberWatch<State, Message> {
  readonly #world: World<State, Message>
  readonly #sets: MemberSets
  readonly #records: MemberRecords
  readonly #born: { readonly participants: number }
  /** By name, in the order in which they were first stored. */
  readonly #known = new Map<number, SetRecord>()
  readonly #removed = new Set<ParticipantId>()
  readonly #emptied = new Set<ParticipantId>()

  constructor(world: World<State, Message>, sets: MemberSets) {
    this.#world = world
    this.#sets = sets
    this.#records = world.subject.members!
    this.#born = { participants: world.scenario.options.participants }
    this.#known.set(0, { epoch: 0 })
  }

  saved({ id, storage }: Participant<State, Message>, records: readonly DurableRecord[]): void {
    const isRemoved = this.#records.isRemoved(storage)
    if (this.#removed.has(id) && !isRemoved) violate('removed', `p${id} was removed, and is back`)
    if (isRemoved && !this.#removed.has(id)) {
      this.#removed.add(id)
      this.#world.counts.removals++
    }
    if (isRemoved && !this.#emptied.has(id) && !this.#records.keeps(storage, false)) {
      this.#emptied.add(id)
      this.#world.counts.tombstones++
    }
    for (const { key, value } of records)
      if (key === this.#records.key && value !== null) this.#entered(this.#records.read(value))
  }

  /** What it knew is gone, also that it was removed. */
  wiped(id: ParticipantId): void {
    this.#removed.delete(id)
    if (id > this.#born.participants) this.#world.counts.newcomersWiped++
  }

  #entered(record: SetRecord): void {
    const config = configIn(record)
    const known = this.#known.get(config)
    if (known === undefined) this.#begun(record)
    else if (!areSame(addressesIn(this.#born, known), addressesIn(this.#born, record)))
      violate('one set', `the set ${config} is ${this.#text(known)}, and ${this.#text(record)}`)
    this.#sets.entered(record)
  }

  #begun(record: SetRecord): void {
    const before = [...this.#known.values()].reduce((one, other) =>
      configIn(other) > configIn(one) ? other : one,
    )
    if (configIn(record) <= configIn(before))
      violate('one set', `the set ${configIn(record)} comes after the set ${configIn(before)}`)
    const old = membersIn(this.#born, before)
    const members = membersIn(this.#born, record)
    const highest = highestIn(this.#born, before)
    const reused = members.find(member => !old.includes(member) && member <= highest)
    // A change that came to nothing leaves newcomers in that were part of it.
    const isCancelled = record.set?.change === ''
    if (isCancelled) this.#world.counts.changesCancelled++
    if (reused !== undefined && !isCancelled)
      violate('numbers', `${reused} was used before, and is in ${this.#text(record)}`)
    this.#known.set(configIn(record), record)
    this.#world.counts.setsEntered++
    if (!members.some(member => old.includes(member))) this.#world.counts.wholeSetsReplaced++
  }

  #text(record: SetRecord): string {
    return `{${membersIn(this.#born, record).join(', ')}}`
  }
}
