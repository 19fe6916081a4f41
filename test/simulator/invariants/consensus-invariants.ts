/**
 * What holds for a replicated state machine with a lock, told from what it says: one sequence C of which
 * every replica applies a prefix (the recorder's serial copy: I6 to I9, I15), users that are told nothing
 * else (I10), reads that see what was told (read), and what holds for every protocol.
 */
import type {
  DurableRecord,
  Emitted,
  Envelope,
  Input,
  ParticipantId,
  UserInput,
  UserOutput,
  View,
} from '../../../shared/protocols/protocol.ts'
import type { Participant } from '../participant.ts'
import type { Checks } from '../subject.ts'
import { violate } from '../violation.ts'
import type { World } from '../world.ts'
import { Conversations, type Grant } from './conversations.ts'
import { LockCounts } from './lock-counts.ts'
import { MemberWatch } from './member-watch.ts'
import { Reads } from './reads.ts'
import type { SerialCopy } from './serial-copy.ts'
import type { StateInParts } from './state-parts.ts'
import { ViewChecks } from './view-checks.ts'

const RECOVER_EVERY = 128

export class ConsensusInvariants<State extends StateInParts, Message> implements Checks<State, Message> {
  readonly #serial: SerialCopy
  readonly #conversations: Conversations
  readonly #view: ViewChecks<State, Message>
  readonly #reads: Reads
  readonly #operations: Operations
  readonly #counts: LockCounts
  /** `null` if the members stay. */
  readonly #sets: MemberWatch<State, Message> | null
  readonly #world: World<State, Message>
  readonly #fences = new Set<number>()

  constructor(world: World<State, Message>) {
    this.#world = world
    this.#serial = world.recorder.serial
    this.#reads = new Reads(this.#serial)
    this.#operations = new Operations(this.#serial)
    this.#counts = new LockCounts(world.counts)
    const { machines } = world.scenario
    this.#conversations = new Conversations(machines, {
      entered: grant => this.#entered(grant),
      left: grant => this.#counts.left(grant),
    })
    this.#view = new ViewChecks(world.subject.protocol, this.#conversations, RECOVER_EVERY, machines)
    this.#sets = world.sets === null ? null : new MemberWatch(world, world.sets)
  }

  /**
   * Fences name the grants. Everything that precedes a grant has been applied when its user is let in (trap
   * A10).
   */
  #entered(grant: Grant): void {
    const { user, fence, participant } = grant
    if (!Number.isSafeInteger(fence) || this.#fences.has(fence))
      violate('I15', `${user} is let in with fence ${fence}, which is no fence or was given before`)
    this.#fences.add(fence)
    if (!this.#serial.hasAllBeforeFence(participant, fence))
      violate(
        'A10',
        `${user} is let in with fence ${fence} before p${participant} has applied what precedes it`,
      )
    this.#counts.entered(grant, new Set())
  }

  said(participant: Participant<State, Message>, event: UserInput): void {
    this.#conversations.said(participant.id, event)
    this.#reads.said(event)
    this.#operations.said(event)
  }

  saved(participant: Participant<State, Message>, records: readonly DurableRecord[]): void {
    this.#sets?.saved(participant, records)
  }

  sent(participant: Participant<State, Message>, to: ParticipantId, message: Envelope<Message>): void {
    this.#view.sent(participant, to, message)
  }

  emitted(participant: Participant<State, Message>, event: Emitted, isLost: boolean): void {
    if (event.type === 'restored') this.#world.counts.snapshots++
    if (event.type === 'applied' || event.type === 'restored' || event.type === 'granted') return
    if (event.type === 'members') return
    this.#counts.told(event)
    this.#reads.told(participant, event, isLost)
    this.#operations.told(participant.id, event)
    this.#conversations.told(participant.id, event)
  }

  stepped(participant: Participant<State, Message>, _input: Input<Message>): void {
    this.#counts.stepped()
    this.#operations.followed(this.#view.stepped(participant))
  }

  crashed(participant: Participant<State, Message>): void {
    this.#counts.stepped()
    this.#operations.followed(this.#view.crashed(participant))
  }

  /** This protocol saves nothing that may wait. */
  fellBack({ id }: Participant<State, Message>): void {
    violate('I17', `p${id} has saved something that may wait`)
  }

  /** It is not taken back, but an operator may replace it. */
  wiped({ id }: Participant<State, Message>): void {
    if (this.#sets === null)
      violate('claims', `p${id} has lost its storage, which this protocol does not claim to survive`)
    for (const user of this.#conversations.wiped(id)) this.#operations.wiped(user)
    this.#sets.wiped(id)
  }

  finished(): void {}
}

/** Each pending operation is answered, or its fate is reported when its grant ends (trap A4). */
class Operations {
  readonly #serial: SerialCopy
  /** By user: the operation that it has asked for last. */
  readonly #asked = new Map<string, string>()
  /** By user: the operation that its stub has taken up, and under which grant. */
  readonly #pending = new Map<string, { readonly opId: string; readonly fence: number }>()
  /** What is asked for in this very step: the stub may take it up and eject its user at once. */
  #asking: Extract<UserInput, { type: 'issue' }> | null = null

  constructor(serial: SerialCopy) {
    this.#serial = serial
  }

  said(event: UserInput): void {
    if (event.type !== 'issue' || this.#pending.has(event.user)) return
    this.#asked.set(event.user, event.opId)
    this.#asking = event
  }

  told(participant: ParticipantId, event: UserOutput): void {
    switch (event.type) {
      case 'outcome':
        this.#serial.outcome(participant, event.opId, event.sequence, event.result)
        if (this.#pending.get(event.user)?.opId === event.opId) this.#pending.delete(event.user)
        return
      case 'ejected': {
        const pending = this.#pending.get(event.user)?.opId
        const asking = this.#asking?.user === event.user ? this.#asking.opId : pending
        if (![pending, asking].includes(event.pending?.opId))
          violate(
            'I10',
            `${event.user} is ejected: ${JSON.stringify(event.pending)}, but ${pending} is pending`,
          )
        if (event.pending?.outcome === 'not-applied')
          this.#serial.failed(participant, event.fence, event.pending.opId)
        this.#pending.delete(event.user)
        return
      }
      case 'refused':
        return this.#serial.refused(participant, event)
      case 'rem':
        // A release that is said twice is answered twice, even if its user is inside again.
        if (this.#pending.get(event.user)?.fence === event.fence)
          violate('I10', `${event.user} has left, but ${this.#pending.get(event.user)!.opId} is pending`)
    }
  }

  /** Nobody knows of this user any more. */
  wiped(user: string): void {
    this.#pending.delete(user)
  }

  followed({ holders }: View): void {
    this.#asking = null
    for (const { user, fence, isIssuing } of holders) {
      if (isIssuing === this.#pending.has(user)) continue
      const opId = this.#asked.get(user)
      if (!isIssuing || opId === undefined)
        violate('I10', `the operation ${this.#pending.get(user)?.opId} of ${user} was never answered`)
      this.#pending.set(user, { opId, fence })
    }
  }
}
