/** Participants of `wme-consensus` on a table. */
import {
  DEFAULT_LIMITS,
  type Effect,
  type Emitted,
  type Limits,
  type ProtocolOptions,
} from '../../../shared/protocols/protocol.ts'
import type { ConsensusMessage } from '../../../shared/protocols/wme-consensus/messages.ts'
import type { ConsensusState } from '../../../shared/protocols/wme-consensus/state.ts'
import { wmeConsensus } from '../../../shared/protocols/wme-consensus/wme-consensus.ts'
import { Table as CommonTable, type Sent as SentOn } from '../table.ts'

export type Sent = SentOn<ConsensusMessage>

export interface TableOptions {
  readonly participants: number
  readonly consensus?: NonNullable<ProtocolOptions['consensus']>
  readonly limits?: Partial<Limits>
  readonly firstOwner?: number
  readonly startEpoch?: number
  /**
   * How many steps pass between two comparisons of the durable state with what storage alone gives back
   * (invariant I20).
   */
  readonly recoverEvery?: number
  /** Hears everything that is emitted, when it is emitted. */
  readonly listener?: (participant: number, event: Emitted) => void
}

export class Table extends CommonTable<ConsensusState, ConsensusMessage> {
  private readonly listener: (participant: number, event: Emitted) => void

  constructor(options: TableOptions) {
    const { participants, consensus, limits, firstOwner, startEpoch, recoverEvery = 1, listener } = options
    super(wmeConsensus, {
      participants,
      config: {
        ...(firstOwner !== undefined && { firstOwner }),
        ...(startEpoch !== undefined && { startEpoch }),
        ...(consensus && { options: { consensus } }),
        limits: { ...DEFAULT_LIMITS, ...limits },
      },
      recoverEvery,
    })
    this.listener = listener ?? (() => {})
    this.bear()
  }

  protected override told(participant: number, event: Emitted): void {
    this.listener(participant, event)
  }

  /** The replica changed with the save, whatever the process could still say about it. */
  protected override cutShort(participant: number, unperformed: readonly Effect<ConsensusMessage>[]): void {
    if (unperformed[0]?.type === 'save') return
    for (const effect of unperformed) {
      if (effect.type === 'emit' && isOfReplica(effect.event)) this.perform(participant, effect)
    }
  }
}

const isOfReplica = (event: Emitted): boolean =>
  event.type === 'applied' || event.type === 'granted' || event.type === 'restored'
