/**
 * I17: each message's durable precondition held when it was sent, and so did that of everything said to a
 * user. This is W1 to W8 of the specification, line by line, looked up in *storage*: what the process
 * believes does not count.
 *   I4 is here too, as far as acknowledgements are concerned.
 */

import type { Json } from '../../../shared/json.ts'
import type { DurableRecord, UserOutput } from '../../../shared/protocols/protocol.ts'
import { inCriticalSection } from '../../../shared/protocols/wme/figure-3-states.ts'
import type {
  CatchUpMessage,
  InvokeMessage,
  NewEpochMessage,
  WmeMessage,
} from '../../../shared/protocols/wme/messages.ts'
import type {
  Entry,
  Membership,
  PaxosRecord,
  Progress,
  StubRecord,
} from '../../../shared/protocols/wme/state.ts'
import { violate } from '../violation.ts'
import type { Epochs } from './epochs.ts'
import { isEqual } from './equal.ts'
import type { LogEntries } from './log-entries.ts'
import { stored, storedBaseSequence, storedEpoch, type WmeParticipant } from './wme-participant.ts'

const HELP: ReadonlySet<WmeMessage['type']> = new Set<WmeMessage['type']>([
  'catch-up',
  'snapshot-offer',
  'snapshot-page',
  'snapshot-gone',
  'alive',
  'elsewhere',
  'handover',
  // The proposer tells what was decided before it enters the next epoch itself.
  'decision',
])

/** The records that applying the log leaves behind. */
const DERIVED = new Set(['cell', 'result', 'progress', 'base', 'ending'])

export class Durability {
  readonly #epochs: Epochs
  readonly #entries: LogEntries

  constructor(epochs: Epochs, entries: LogEntries) {
    this.#epochs = epochs
    this.#entries = entries
  }

  // ---------------------------------------------------------------- what may wait

  /**
   * Only what follows from the stored log and the stored stub may be written later: what was applied, and
   * that the pending operation is settled, with the exit that its user asked for. And a user that has come,
   * because nobody was told of it.
   */
  waits({ id, overwritten }: WmeParticipant, records: readonly DurableRecord[]): void {
    for (const { key, value } of records) {
      const [family] = key.split('/') as [string]
      const isDerived = DERIVED.has(family) || (family === 'log' && value === null)
      const hasCome = family === 'waiter' && value !== null
      if (!isDerived && !hasCome && family !== 'stub') violate('I17', `p${id} lets '${key}' wait`)
    }
    const before = overwritten.get('stub') as unknown as StubRecord | undefined
    const after = records.find(({ key }) => key === 'stub')?.value as unknown as StubRecord | undefined
    if (before === undefined || after === undefined) return
    const { pendingOperation } = before
    if (pendingOperation === null || pendingOperation.sequence === null)
      violate('I17', `p${id} lets a change of its stub wait, and no operation is pending on its disk`)
    this.#requireCommitted(id, pendingOperation.sequence, 'a stub that waits')
    if (after.grant === null && !pendingOperation.thenExit)
      violate('I17', `p${id} lets the end of a grant wait, which nothing on its disk asks for`)
  }

  // ---------------------------------------------------------------- messages

  sent(participant: WmeParticipant, message: WmeMessage): void {
    const { id } = participant
    const { status } = stored<Membership>(participant, 'membership')
    if (message.type === 'join' || message.type === 'snapshot-request') return
    // A participant that lost its storage says nothing but that, and asks for it (trap D2). One that was
    // removed helps others.
    const isAllowed = status === 'member' || (status === 'removed' && HELP.has(message.type))
    // A step that begins with an invitation may end with the removal, where one participant decides alone.
    if (status === 'removed' && message.type === 'invite' && message.epoch < storedEpoch(participant).epoch)
      return
    if (!isAllowed) violate('I17', `p${id} sends ${message.type}, and is ${status}`)
    const epoch = storedEpoch(participant)
    if (message.type === 'snapshot-gone') return
    if (message.type === 'snapshot-page') {
      // A page that is asked for again is the same, even if the sender is in another epoch by now.
      if (message.point !== null) this.#requireCommitted(id, message.point.sequence, 'a snapshot')
      return
    }
    if (message.type === 'decision') {
      // The proposer may tell the decision before it can enter the next epoch itself: it may have to catch up
      // first.
      this.#epochs.told(id, message.epoch, message.value)
      return
    }
    // A step may pass a request on and then enter the next epoch; requests are good in every epoch.
    const isStaleRequest = message.type === 'request' && message.epoch < epoch.epoch
    if (message.epoch !== epoch.epoch && !isStaleRequest) {
      violate(
        'I17',
        `p${id} sends ${message.type} of epoch ${message.epoch}, its storage is in ${epoch.epoch}`,
      )
    }
    switch (message.type) {
      case 'request':
        if (
          message.participant === id &&
          stored<StubRecord>(participant, 'stub').requestId < message.requestId
        ) {
          violate('I17', `p${id} asks with request ${message.requestId}, which is not durable`)
        }
        return
      case 'invoke':
        if (epoch.sealed) violate('I4', `p${id} sends entries after sealing epoch ${epoch.epoch}`)
        return this.#invoke(participant, message)
      case 'invoke-ack':
        if (epoch.sealed) violate('I4', `p${id} acknowledges after sealing epoch ${epoch.epoch}`)
        return this.#requireLength(participant, message.length, 'acknowledges')
      case 'do-invoke':
        return this.#requireCommitted(id, message.committed, message.type)
      case 'new-epoch':
        if (!epoch.sealed)
          violate('I17', `p${id} sends NEWEP, and epoch ${epoch.epoch} is not sealed in its storage`)
        return this.#newEpoch(participant, message)
      case 'catch-up':
        return this.#catchUp(participant, message)
      case 'snapshot-offer':
        return this.#requireCommitted(id, message.committed, message.type)
      case 'prepare':
      case 'promise':
      case 'accept':
      case 'accepted':
        return this.#paxos(participant, message)
    }
  }

  #invoke(participant: WmeParticipant, message: InvokeMessage): void {
    this.#requireEntries(participant, message.entries)
    this.#requireCommitted(participant.id, message.committed, message.type)
    const last = message.entries.at(-1)
    if (last === undefined || last.by !== participant.id) return
    const { phase, grant, pendingOperation } = stored<StubRecord>(participant, 'stub')
    if (last.kind === 'grant') {
      // The token was given away: a user inside would be a second one.
      if (
        last.to !== participant.id &&
        participant.state.derived.owner === last.to &&
        inCriticalSection(phase)
      ) {
        violate('I17', `p${participant.id} gives the token to p${last.to}, and its storage is ${phase}`)
      }
    } else if (grant?.fence === last.fence && last.sequence > participant.state.soft.committed) {
      if (pendingOperation?.opId !== last.opId || pendingOperation.sequence !== last.sequence) {
        violate('I17', `p${participant.id} sends ${last.opId}, which is not pending in its storage`)
      }
    }
  }

  #newEpoch(participant: WmeParticipant, message: NewEpochMessage): void {
    this.#requireEntries(participant, message.entries)
    this.#requireCommitted(participant.id, message.committed, message.type)
    const end = message.committed + message.entries.length
    if (participant.storage.has(`log/${end + 1}`))
      violate('I17', `p${participant.id} leaves out entries in its NEWEP`)
  }

  #catchUp(participant: WmeParticipant, message: CatchUpMessage): void {
    this.#requireEntries(participant, message.entries)
    this.#requireCommitted(participant.id, message.committed, message.type)
  }

  #paxos(participant: WmeParticipant, message: Extract<WmeMessage, { ballot: number }>): void {
    const { id } = participant
    const { promised, accepted, ballot } = stored<PaxosRecord>(participant, 'paxos')
    const isDurable =
      message.type === 'prepare'
        ? ballot === message.ballot && promised >= message.ballot
        : message.type === 'promise'
          ? promised === message.ballot && isEqual(accepted, message.accepted)
          : accepted?.ballot === message.ballot && promised >= message.ballot
    if (!isDurable)
      violate('I17', `p${id} sends ${message.type} of ballot ${message.ballot}, which is not durable`)
  }

  #requireEntries(participant: WmeParticipant, entries: readonly Entry[]): void {
    for (let index = 0; index < entries.length; index++) {
      const { sequence, epoch, by } = entries[index]!
      const kept = participant.storage.get(`log/${sequence}`) as Entry | undefined
      if (kept !== undefined && kept.epoch === epoch && kept.by === by) continue
      violate(
        'I17',
        `p${participant.id} sends entry ${sequence} of epoch ${epoch}, which is not in its storage`,
      )
    }
  }

  #requireLength(participant: WmeParticipant, length: number, what: string): void {
    if (participant.storage.has(`log/${length}`) || storedBaseSequence(participant) >= length) return
    violate('I17', `p${participant.id} ${what} ${length} entries, which are not in its storage`)
  }

  #requireCommitted(id: number, sequence: number, what: string): void {
    if (sequence <= this.#entries.committedThrough) return
    violate('I17', `p${id} says in ${what} that ${sequence} is committed, which no majority holds`)
  }

  // ---------------------------------------------------------------- users

  told(participant: WmeParticipant, event: UserOutput): void {
    switch (event.type) {
      case 'crit': {
        const { grant, phase } = stored<StubRecord>(participant, 'stub')
        if (grant?.fence !== event.fence || !inCriticalSection(phase)) {
          violate('I17', `${event.user} is let in, and the storage of p${participant.id} does not say so`)
        }
        if (event.confirmed) this.#requireCommitted(participant.id, event.sequence, 'a confirmed grant')
        return
      }
      case 'outcome':
        return this.#outcome(participant, event)
      case 'rem':
      case 'ejected':
        if (stored<StubRecord>(participant, 'stub').grant?.fence === event.fence) {
          violate(
            'I17',
            `${event.user} is told ${event.type}, and the storage of p${participant.id} has the grant`,
          )
        }
        return
    }
  }

  #outcome(participant: WmeParticipant, event: Extract<UserOutput, { type: 'outcome' }>): void {
    this.#requireCommitted(participant.id, event.sequence, 'an outcome')
    const { applied } = stored<Progress>(participant, 'progress')
    const result = participant.storage.get(`result/${event.opId}`) as { result: Json } | undefined
    if (applied < event.sequence) {
      violate('I17', `${event.user} is told the outcome of ${event.opId} before its application is durable`)
    }
    // The result may have been dropped from the table in the very step that applied it and many others.
    if (result !== undefined && !isEqual(result.result, event.result)) {
      violate('I17', `${event.user} is told another outcome of ${event.opId} than the one that is stored`)
    }
  }
}
