/**
 * What all participants together have decided.
 *   I1   decisions of an epoch are equal everywhere
 *   I18  Paxos: one chosen value for each epoch, and a participant enters the next epoch with it
 * A value is chosen when a majority has stored it under one ballot; this is seen here before any participant
 * can know it.
 */

import type { Json } from '../../../shared/json.ts'
import { membersIn, type OfSet } from '../../../shared/protocols/members/sets.ts'
import type { ParticipantId } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import type { Decision } from '../../../shared/protocols/wme/messages.ts'
import type { EpochRecord, PaxosRecord } from '../../../shared/protocols/wme/state.ts'
import { violate } from '../violation.ts'
import { isEqual } from './equal.ts'

interface Ballot {
  readonly value: Decision
  /** One bit for each acceptor. */
  acceptors: number
}

interface Chosen {
  readonly ballot: number
  readonly value: Decision
}

export class Epochs {
  /** How each epoch began. */
  readonly starts = new Map<number, EpochRecord>()
  readonly chosen = new Map<number, Chosen>()
  readonly #ballots = new Map<number, Map<number, Ballot>>()
  /** With how many participants the lock was born. */
  readonly bornWith: number
  readonly #members = new Map<number, readonly ParticipantId[]>()

  constructor(participants: number) {
    this.bornWith = participants
  }

  /** The members of an epoch, as the decision of the one before says. */
  membersOf(epoch: number): readonly ParticipantId[] {
    const known = this.#members.get(epoch)
    if (known !== undefined) return known
    const record = this.starts.get(epoch) ?? this.chosen.get(epoch - 1)?.value
    const members = membersIn({ participants: this.bornWith }, record ?? {})
    if (record !== undefined) this.#members.set(epoch, members)
    return members
  }

  /** Whether these participants, one bit for each, are a majority of the epoch's members. */
  isMajority(epoch: number, participants: number): boolean {
    const members = this.membersOf(epoch)
    let count = 0
    for (const member of members) if ((participants & (1 << member)) !== 0) count++
    return count >= majority(members.length)
  }

  /** A participant has accepted a value in the consensus of this epoch. */
  accepted(participant: ParticipantId, epoch: number, { accepted }: PaxosRecord): void {
    if (accepted === null) return
    let ballots = this.#ballots.get(epoch)
    if (ballots === undefined) {
      ballots = new Map()
      this.#ballots.set(epoch, ballots)
    }
    let ballot = ballots.get(accepted.ballot)
    if (ballot === undefined) {
      ballot = { value: accepted.value, acceptors: 0 }
      ballots.set(accepted.ballot, ballot)
    } else if (!equalDecisions(ballot.value, accepted.value)) {
      violate('I18', `p${participant} accepts a second value in ballot ${accepted.ballot} of epoch ${epoch}`)
    }
    const chosen = this.chosen.get(epoch)
    if (
      chosen !== undefined &&
      accepted.ballot > chosen.ballot &&
      !equalDecisions(chosen.value, accepted.value)
    ) {
      violate('I18', `p${participant} accepts another value than the one chosen in epoch ${epoch}`)
    }
    ballot.acceptors |= 1 << participant
    if (chosen === undefined && this.isMajority(epoch, ballot.acceptors)) {
      this.#choose(epoch, { ballot: accepted.ballot, value: accepted.value }, ballots)
    }
  }

  /** Anything accepted in a higher ballot before the majority was complete must be the same value. */
  #choose(epoch: number, chosen: Chosen, ballots: ReadonlyMap<number, Ballot>): void {
    this.chosen.set(epoch, chosen)
    for (const [number, { value }] of ballots) {
      if (number > chosen.ballot && !equalDecisions(value, chosen.value)) {
        violate(
          'I18',
          `in epoch ${epoch} one value is chosen in ballot ${chosen.ballot}, another one proposed in ${number}`,
        )
      }
    }
  }

  /** A participant has entered this epoch. Returns whether it is the first one. */
  entered(participant: ParticipantId, record: EpochRecord): boolean {
    const known = this.starts.get(record.epoch)
    if (known !== undefined) {
      this.#compare(participant, record, known.owner, known.start, known.incarnations as Json, known)
      return false
    }
    this.starts.set(record.epoch, record)
    // A lock begins with epoch 0, and a participant that is alone decides without storing that it has
    // accepted.
    if (record.epoch === 0 || this.membersOf(record.epoch - 1).length === 1) return record.epoch !== 0
    const chosen = this.chosen.get(record.epoch - 1)
    if (chosen === undefined) {
      violate('I18', `p${participant} enters epoch ${record.epoch}, and nothing is chosen in the one before`)
    }
    const { owner, base, entries, incarnations } = chosen.value
    this.#compare(participant, record, owner, base + entries.length, incarnations as Json, chosen.value)
    return true
  }

  #compare(
    participant: ParticipantId,
    record: EpochRecord,
    owner: number,
    start: number,
    incarnations: Json,
    { set }: OfSet,
  ): void {
    const { epoch } = record
    if (
      record.owner === owner &&
      record.start === start &&
      isEqual(record.incarnations as Json, incarnations) &&
      isEqual(record.set, set)
    )
      return
    violate(
      'I1',
      `p${participant} begins epoch ${epoch} with owner ${record.owner} at ${record.start}, others with ${owner} at ${start}`,
    )
  }

  /** A participant tells others what was decided. */
  told(participant: ParticipantId, epoch: number, value: Decision): void {
    const chosen = this.chosen.get(epoch)
    if (chosen !== undefined && equalDecisions(chosen.value, value)) return
    violate('I1', `p${participant} tells a decision of epoch ${epoch} that is not the chosen one`)
  }
}

function equalDecisions(one: Decision, other: Decision): boolean {
  return one === other || isEqual(one, other)
}

export function bits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}
