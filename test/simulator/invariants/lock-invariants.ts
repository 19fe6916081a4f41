/**
 * What holds for every protocol that guards no state: mutual exclusion, and what holds for every protocol.
 */
import type {
  DurableRecord,
  Emitted,
  Envelope,
  Input,
  ParticipantId,
  UserInput,
} from '../../../shared/protocols/protocol.ts'
import type { Participant } from '../participant.ts'
import type { Checks } from '../subject.ts'
import { violate } from '../violation.ts'
import type { World } from '../world.ts'
import { Conversations } from './conversations.ts'
import { Exclusion } from './exclusion.ts'
import { LockCounts } from './lock-counts.ts'
import type { MissingBefore } from './lock-messages.ts'
import { MemberWatch } from './member-watch.ts'
import type { StateInParts } from './state-parts.ts'
import { ViewChecks } from './view-checks.ts'

/** There is little in storage, so recovery can be checked often. */
const RECOVER_EVERY = 4

export class LockInvariants<State extends StateInParts, Message> implements Checks<State, Message> {
  readonly #exclusion: Exclusion
  readonly #conversations: Conversations
  readonly #view: ViewChecks<State, Message>
  readonly #counts: LockCounts
  /** `null` if the members stay. */
  readonly #sets: MemberWatch<State, Message> | null
  readonly #missingBefore: MissingBefore<Message>

  constructor(world: World<State, Message>, missingBefore: MissingBefore<Message>) {
    this.#missingBefore = missingBefore
    const { machines, variant } = world.scenario
    const areDeadForgotten = variant.options?.declareDeadAfterMs !== undefined
    this.#exclusion = new Exclusion(id => !areDeadForgotten || world.participant(id).isUp)
    this.#counts = new LockCounts(world.counts)
    this.#conversations = new Conversations(machines, {
      entered: grant => {
        this.#exclusion.entered(grant)
        this.#counts.entered(grant, this.#exclusion.inside)
      },
      left: grant => {
        this.#exclusion.left(grant)
        this.#counts.left(grant)
      },
    })
    this.#view = new ViewChecks(world.subject.protocol, this.#conversations, RECOVER_EVERY, machines)
    this.#sets = world.sets === null ? null : new MemberWatch(world, world.sets)
  }

  said(participant: Participant<State, Message>, event: UserInput): void {
    this.#conversations.said(participant.id, event)
  }

  saved(participant: Participant<State, Message>, records: readonly DurableRecord[]): void {
    this.#sets?.saved(participant, records)
  }

  sent(participant: Participant<State, Message>, to: ParticipantId, message: Envelope<Message>): void {
    this.#view.sent(participant, to, message)
    const missing = this.#missingBefore(participant.storage, to, message.body)
    if (missing !== null)
      violate(
        'I17',
        `p${participant.id} sends ${JSON.stringify(message.body)}, and has not stored ${missing}`,
      )
  }

  emitted(participant: Participant<State, Message>, event: Emitted, _isLost: boolean): void {
    if (event.type === 'applied' || event.type === 'granted' || event.type === 'restored')
      violate('replica', `p${participant.id} says ${event.type}, but the lock guards no state`)
    if (event.type === 'members') return
    this.#counts.told(event)
    this.#conversations.told(participant.id, event)
  }

  stepped(participant: Participant<State, Message>, _input: Input<Message>): void {
    this.#counts.stepped()
    this.#view.stepped(participant)
    this.#exclusion.check()
  }

  crashed(participant: Participant<State, Message>): void {
    this.#counts.stepped()
    this.#view.crashed(participant)
    this.#exclusion.check()
  }

  /** This protocol saves nothing that may wait. */
  fellBack({ id }: Participant<State, Message>): void {
    violate('I17', `p${id} has saved something that may wait`)
  }

  wiped({ id }: Participant<State, Message>): void {
    violate('claims', `p${id} has lost its storage, which no protocol without a replicated state survives`)
  }

  finished(): void {
    this.#exclusion.check()
  }
}
