/**
 * All invariants of weak mutual exclusion, called by the interpreter of the effects. Each group is in a file
 * of its own.
 */
import type {
  DurableRecord,
  Emitted,
  Envelope,
  Input,
  ParticipantId,
  UserInput,
} from '../../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import type {
  Entry,
  EpochRecord,
  Membership,
  PaxosRecord,
  StubRecord,
  WmeState,
} from '../../../shared/protocols/wme/state.ts'
import type { MemberSets } from '../members/member-sets.ts'
import type { Checks } from '../subject.ts'
import { violate } from '../violation.ts'
import type { World } from '../world.ts'
import { Caps } from './caps.ts'
import { Durability } from './durability.ts'
import { Epochs } from './epochs.ts'
import { LogEntries } from './log-entries.ts'
import { MemberRules } from './members.ts'
import { Monotonic } from './monotonic.ts'
import { Reads } from './reads.ts'
import { checkRecovery } from './recovery.ts'
import { Token } from './token.ts'
import { Users } from './users.ts'
import { WmeCounts } from './wme-counts.ts'
import type { WmeParticipant } from './wme-participant.ts'

/** Recovering a state from storage takes as long as many steps, so it is done only this often. */
const RECOVER_EVERY = 256

export class WmeInvariants implements Checks<WmeState, WmeMessage> {
  readonly #epochs: Epochs
  readonly #entries: LogEntries
  readonly #token: Token
  readonly #monotonic: Monotonic
  readonly #durability: Durability
  readonly #users: Users
  readonly #reads: Reads
  readonly #caps: Caps
  readonly #counts: WmeCounts
  readonly #members: MemberRules
  readonly #sets: MemberSets | null
  /** By participant: the epoch record from before the last save. */
  readonly #epochRecords: (EpochRecord | undefined)[] = []
  readonly #participants: readonly WmeParticipant[]
  #steps = 0

  constructor(world: World<WmeState, WmeMessage>) {
    const { machines: participants } = world.scenario
    this.#participants = world.participants
    this.#sets = world.sets
    this.#epochs = new Epochs(world.scenario.options.participants)
    this.#members = new MemberRules(world.participants, this.#epochs, world.counts)
    this.#entries = new LogEntries(participants, this.#epochs)
    this.#token = new Token(participants)
    this.#monotonic = new Monotonic(participants)
    this.#durability = new Durability(this.#epochs, this.#entries)
    this.#users = new Users(world.recorder.serial)
    this.#reads = new Reads(world.recorder.serial)
    this.#caps = new Caps(participants, world.scenario.limits)
    this.#counts = new WmeCounts(world.counts, world.participants, world.network)
  }

  said(participant: WmeParticipant, event: UserInput): void {
    this.#users.said(participant.id, event)
    this.#reads.said(event)
  }

  saved(participant: WmeParticipant, records: readonly DurableRecord[], mayWait: boolean): void {
    const { id } = participant
    if (mayWait) this.#durability.waits(participant, records)
    const before = this.#epochRecords[id]
    // The beginning of an epoch comes first: the entries are compared with it.
    const { epoch } = participant.state.durable
    if (epoch !== before) {
      for (const { key, value } of records) {
        if (key === 'epoch' && value !== null) this.#epochSaved(participant, value as unknown as EpochRecord)
      }
    }
    for (const { key, value } of records) {
      if (key.charCodeAt(0) === 108 && key.startsWith('log/')) {
        if (value !== null) this.#entries.added(participant, value as unknown as Entry, before)
        else this.#entries.removed(participant, Number(key.slice(4)))
      } else if (key === 'paxos') {
        const epoch = (participant.storage.get('epoch') as EpochRecord | undefined)?.epoch ?? 0
        if (value !== null) this.#epochs.accepted(id, epoch, value as unknown as PaxosRecord)
      } else if (key === 'membership') {
        this.#members.saved(participant, value as unknown as Membership)
      } else if (key === 'stub') {
        this.#counts.stubSaved(participant, value as unknown as StubRecord)
      }
    }
  }

  #epochSaved(participant: WmeParticipant, record: EpochRecord): void {
    const { id, state } = participant
    const before = this.#epochRecords[id]
    this.#epochRecords[id] = record
    if (before === undefined || before.epoch !== record.epoch) {
      const isFirst = this.#epochs.entered(id, record)
      if (isFirst) {
        this.#entries.epochBegun(record)
        this.#members.begun(record)
      }
      this.#sets?.entered(record)
      this.#counts.entered(record, isFirst)
    }
    if (record.sealed && !(before?.sealed && before.epoch === record.epoch)) {
      this.#counts.sealed(participant, state.derived)
    }
  }

  sent(participant: WmeParticipant, to: ParticipantId, { body }: Envelope<WmeMessage>): void {
    if (to === participant.id) violate('A11', `p${to} sends ${body.type} to itself`)
    this.#durability.sent(participant, body)
    this.#members.sent(participant, body)
    this.#counts.sent(body)
  }

  emitted(participant: WmeParticipant, event: Emitted, isLost: boolean): void {
    this.#counts.emitted(participant, event)
    if (event.type === 'applied' || event.type === 'restored' || event.type === 'granted') return
    if (event.type === 'members') return
    this.#reads.told(participant, event, isLost)
    this.#users.told(participant, event)
    this.#durability.told(participant, event)
  }

  stepped(participant: WmeParticipant, _input: Input<WmeMessage>): void {
    this.#token.stepped(participant)
    this.#monotonic.stepped(participant)
    this.#users.stepped(participant)
    this.#caps.stepped(participant)
    this.#counts.stepped(participant)
    if (++this.#steps % RECOVER_EVERY === 0) {
      this.#caps.sampled(participant)
      checkRecovery(participant)
    }
  }

  crashed(participant: WmeParticipant): void {
    checkRecovery(participant)
    this.#token.followed(participant)
    this.#users.stepped(participant)
    this.#monotonic.stepped(participant)
    this.#monotonic.crashed(participant)
    this.#counts.crashed(participant)
  }

  fellBack(participant: WmeParticipant): void {
    this.#monotonic.fellBack(participant)
    this.#users.fellBack(participant)
  }

  wiped(participant: WmeParticipant): void {
    this.#epochRecords[participant.id] = undefined
    this.#entries.wiped(participant)
    this.#token.wiped(participant)
    this.#monotonic.wiped(participant)
    this.#users.wiped(participant)
    this.#counts.wiped(participant)
    this.#members.wiped(participant)
  }

  finished(): void {
    for (const participant of this.#participants.slice(1)) if (participant.isUp) checkRecovery(participant)
  }
}
