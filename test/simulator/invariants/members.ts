/**
 * The rules of changing members, looked up in storage.
 *   M1   a set begins with the epoch after the one whose decision names it, and stays until another one does
 *   M2   only members of an epoch, with everything before it, say something in it
 *   M3   a newcomer becomes a member only in the incarnation that the decision names
 *   M5   whoever is removed keeps what it has until a majority of the new members has it
 *   M6   a number is never used twice
 * That an epoch has one decision, and that what a majority held is never lost, is checked with the sets in
 * epochs.ts and log-entries.ts.
 */

import { configIn, highestIn } from '../../../shared/protocols/members/sets.ts'
import type { ParticipantId } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import type { EpochRecord, Membership } from '../../../shared/protocols/wme/state.ts'
import type { Counts } from '../counts.ts'
import { violate } from '../violation.ts'
import type { Epochs } from './epochs.ts'
import { storedEpoch, type WmeParticipant } from './wme-participant.ts'

/** What only a member of the epoch may say. */
const OF_MEMBERS: ReadonlySet<WmeMessage['type']> = new Set<WmeMessage['type']>([
  'request',
  'invoke',
  'invoke-ack',
  'do-invoke',
  'ping',
  'pre-vote',
  'pre-vote-reply',
  'new-epoch',
  'prepare',
  'promise',
  'accept',
  'accepted',
  'reject',
  'installed',
  'change',
  'eject',
  'eject-done',
  'read-index',
  'read-index-reply',
])

export class MemberRules {
  readonly #participants: readonly WmeParticipant[]
  readonly #epochs: Epochs
  readonly #counts: Counts
  /** By participant: its membership before the last save. */
  readonly #before: (Membership | undefined)[] = []
  /** Participants that were members and are not any more. */
  readonly #gone = new Set<ParticipantId>()

  constructor(participants: readonly WmeParticipant[], epochs: Epochs, counts: Counts) {
    this.#participants = participants
    this.#epochs = epochs
    this.#counts = counts
  }

  sent(participant: WmeParticipant, message: WmeMessage): void {
    if (!OF_MEMBERS.has(message.type)) return
    const { epoch } = storedEpoch(participant)
    if (!this.#epochs.membersOf(epoch).includes(participant.id))
      violate('M2', `p${participant.id} sends ${message.type} in epoch ${epoch}, and is no member of it`)
  }

  /** The first participant enters this epoch. */
  begun(record: EpochRecord): void {
    const { epoch, set } = record
    const config = configIn(record)
    const before = this.#epochs.starts.get(epoch - 1)
    if (set === undefined) return
    if (config > epoch) violate('M1', `epoch ${epoch} has a set of epoch ${config}`)
    if (config < epoch && before !== undefined && configIn(before) !== config)
      violate('M1', `epoch ${epoch} goes on with the set ${config}, and the epoch before has another one`)
    if (config !== epoch) return
    const old = this.#epochs.membersOf(epoch - 1)
    const members = this.#epochs.membersOf(epoch)
    const highest = highestIn({ participants: this.#epochs.bornWith }, before ?? {})
    for (const member of members) {
      const isNew = !old.includes(member)
      if (this.#gone.has(member) || (isNew && before !== undefined && member <= highest))
        violate('M6', `p${member} is a member of epoch ${epoch}, and its number was used before`)
    }
    if (members.length === 0) violate('M1', `epoch ${epoch} has no members`)
    for (const member of old) if (!members.includes(member)) this.#gone.add(member)
    this.#counts.setsEntered++
    if (!members.some(member => old.includes(member))) this.#counts.wholeSetsReplaced++
  }

  saved(participant: WmeParticipant, membership: Membership): void {
    const { id } = participant
    const before = this.#before[id]
    this.#before[id] = membership
    if (before?.status === 'removed' && membership.status !== 'removed')
      violate('M5', `p${id} was removed, and is ${membership.status}`)
    if (before?.status === 'joining' && membership.status === 'member') {
      const named = storedEpoch(participant).incarnations[id]
      if (named !== before.incarnation)
        violate('M3', `p${id} is a member as incarnation ${before.incarnation}, and ${named} was named`)
    }
    if (membership.status === 'joining' && membership.isPrimed) this.#counts.newcomersPrimed++
    if (membership.status !== 'removed') return
    if (this.#epochs.membersOf(storedEpoch(participant).epoch).includes(id))
      violate('M5', `p${id} is removed, and is a member of its epoch`)
    if (before?.status !== 'removed') this.#counts.removals++
    if (!membership.hasData) this.#dropped(participant)
  }

  #dropped(participant: WmeParticipant): void {
    const record = storedEpoch(participant)
    const members = this.#epochs.membersOf(record.epoch)
    const isInstalled = (id: ParticipantId) => {
      const { storage, wasWiped } = this.#participants[id]!
      if (wasWiped) return true
      const epoch = storage.get('epoch') as EpochRecord | undefined
      const { status } = (storage.get('membership') as Membership | undefined) ?? { status: 'blank' }
      return (status === 'member' || status === 'removed') && (epoch?.epoch ?? -1) >= configIn(record)
    }
    this.#counts.tombstones++
    if (members.filter(isInstalled).length < majority(members.length))
      violate('M5', `p${participant.id} drops what it has, and no majority of ${members} has it`)
  }

  wiped({ id }: WmeParticipant): void {
    if (this.#before[id]?.status === 'joining') this.#counts.newcomersWiped++
    this.#before[id] = undefined
  }
}
