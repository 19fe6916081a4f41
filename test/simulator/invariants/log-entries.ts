/**
 * The entries of all logs together.
 *   I2  one entry for each (epoch, number), ever
 *   I3  its writer is the owner by the prefix
 *   I4  nothing is appended after sealing
 *   I5  what a majority holds is in the epoch's decision
 * It sees in the storages what a majority holds, so it knows it before any participant does.
 */

import type { Entry, EpochRecord } from '../../../shared/protocols/wme/state.ts'
import { violate } from '../violation.ts'
import type { Epochs } from './epochs.ts'
import { isEqual } from './equal.ts'
import type { WmeParticipant } from './wme-participant.ts'

interface KnownEntry {
  readonly entry: Entry
  /** One bit for each participant that has it in its storage or once had it there. */
  holders: number
}

const keyOf = ({ epoch, sequence }: Entry): number => epoch * 4_294_967_296 + sequence

export class LogEntries {
  readonly #entries = new Map<number, KnownEntry>()
  /** By sequence: what a majority has held. */
  readonly #committed = new Map<number, Entry>()
  /** Everything up to here is on a majority or decided. */
  committedThrough = 0
  /** By participant: the entries in its storage. */
  readonly #held: Map<number, Entry>[]
  readonly #epochs: Epochs

  constructor(participants: number, epochs: Epochs) {
    this.#epochs = epochs
    this.#held = Array.from({ length: participants + 1 }, () => new Map())
  }

  /**
   * An entry has come into the storage of a participant. `before` is its epoch record from before this save.
   */
  added(participant: WmeParticipant, entry: Entry, before: EpochRecord | undefined): void {
    const { id, state } = participant
    if (before?.sealed && state.durable.epoch.epoch === before.epoch) {
      violate('I4', `p${id} adds ${describe(entry)} to its log after sealing epoch ${before.epoch}`)
    }
    const key = keyOf(entry)
    let known = this.#entries.get(key)
    if (known === undefined) {
      known = { entry, holders: 0 }
      this.#entries.set(key, known)
      this.#checkWriter(participant, entry)
    } else if (known.entry !== entry && !isEqual(known.entry, entry)) {
      violate('I2', `p${id} has ${describe(entry)}, others have ${describe(known.entry)}`)
    }
    known.holders |= 1 << id
    this.#held[id]!.set(entry.sequence, entry)
    this.#checkCommitted(id, entry)
    if (this.#epochs.isMajority(entry.epoch, known.holders)) this.#commit(entry)
  }

  /**
   * An entry has left the storage of a participant: it was truncated, rolled back, or replaced by a snapshot.
   */
  removed(participant: WmeParticipant, sequence: number): void {
    const { id, state } = participant
    const entry = this.#held[id]!.get(sequence)
    this.#held[id]!.delete(sequence)
    if (entry === undefined || sequence <= state.durable.base.sequence) return
    const committed = this.#committed.get(sequence)
    if (committed !== undefined && keyOf(committed) === keyOf(entry)) {
      violate('I5', `p${id} takes away ${describe(entry)}, which a majority has held`)
    }
  }

  /**
   * A participant that loses its storage still counts as having held what was in it: until a decision takes
   * it back, every majority that can decide is made of others, and has a member in common with the majority
   * that it was part of.
   */
  wiped({ id }: WmeParticipant): void {
    this.#held[id]!.clear()
  }

  /** A participant is the first to enter this epoch: nothing that a majority held may be missing. */
  epochBegun({ epoch, start }: EpochRecord): void {
    for (let sequence = start + 1; sequence <= this.committedThrough; sequence++) {
      const lost = this.#committed.get(sequence)
      if (lost !== undefined && lost.epoch < epoch) {
        violate(
          'I5',
          `epoch ${epoch} begins after ${start} without ${describe(lost)}, which a majority has held`,
        )
      }
    }
    this.committedThrough = Math.max(this.committedThrough, start)
  }

  #checkWriter(participant: WmeParticipant, entry: Entry): void {
    const owner = this.#ownerBefore(participant, entry)
    if (owner === null || owner === entry.by) return
    violate('I3', `${describe(entry)} was written by p${entry.by}, but p${owner} is the owner by the prefix`)
  }

  #ownerBefore({ state }: WmeParticipant, { epoch, sequence }: Entry): number | null {
    const { base, log } = state.durable
    const start = this.#epochs.starts.get(epoch)
    if (start === undefined) return null
    for (let at = sequence - 1; at > start.start && at > base.sequence; at--) {
      const earlier = log[at - base.sequence - 1]
      if (earlier === undefined) return null
      if (earlier.kind === 'grant') return earlier.to
    }
    return base.sequence > start.start ? base.owner : start.owner
  }

  /** A participant that enters a later epoch has everything that was committed in earlier ones. */
  #checkCommitted(id: number, entry: Entry): void {
    const committed = this.#committed.get(entry.sequence)
    if (committed === undefined || committed.epoch >= entry.epoch) return
    violate('I5', `p${id} has ${describe(entry)} where a majority has held ${describe(committed)}`)
  }

  #commit(entry: Entry): void {
    const { sequence, epoch } = entry
    const earlier = this.#committed.get(sequence)
    if (earlier !== undefined) {
      if (keyOf(earlier) === keyOf(entry)) return
      violate('I5', `majorities have held ${describe(earlier)} and ${describe(entry)}`)
    }
    const next = this.#epochs.starts.get(epoch + 1)
    if (next !== undefined && sequence > next.start) {
      violate('I5', `a majority holds ${describe(entry)}, which the decision of its epoch does not contain`)
    }
    this.#committed.set(sequence, entry)
    this.committedThrough = Math.max(this.committedThrough, sequence)
  }
}

function describe(entry: Entry): string {
  const what = entry.kind === 'grant' ? `a grant to p${entry.to} (request ${entry.requestId})` : entry.opId
  return `entry ${entry.sequence} of epoch ${entry.epoch} by p${entry.by}: ${what}`
}
