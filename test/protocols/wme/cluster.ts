/** Participants of `wme-1` or `wme-2` on a table. */
import {
  DEFAULT_LIMITS,
  DEFAULT_TIMING,
  type Limits,
  type Protocol,
  type ProtocolOptions,
  type Timing,
} from '../../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../../shared/protocols/wme/state.ts'
import type { Resource } from '../../../shared/resource/resource.ts'
import { type Sent as SentOn, Table } from '../table.ts'

export type Sent = SentOn<WmeMessage>

export interface ClusterOptions {
  readonly participants: number
  readonly localHandoffs?: number
  readonly limits?: Partial<Limits>
  readonly timing?: Partial<Timing>
  /** Default: operations go to all at once. */
  readonly options?: ProtocolOptions
  readonly resource?: Resource
  /** After every step, the durable state is compared with what storage alone gives back (invariant I20). */
  readonly checkRecovery?: boolean
}

export class Cluster extends Table<WmeState, WmeMessage> {
  constructor(protocol: Protocol<WmeState, WmeMessage>, options: ClusterOptions) {
    const { participants, localHandoffs = 1, limits, timing, resource, checkRecovery } = options
    const { options: chosen = { majorityFirst: false } } = options
    super(protocol, {
      participants,
      config: {
        localHandoffs,
        timing: { ...DEFAULT_TIMING, confirmMs: 0, ...timing },
        limits: { ...DEFAULT_LIMITS, ...limits },
        options: chosen,
      },
      ...(resource && { resource }),
      recoverEvery: checkRecovery ? 1 : 0,
      keepsCount: true,
    })
    this.bear()
  }

  try(
    participant: number,
    user: string,
    options: { ttlMs?: number; waitMs?: number; confirm?: boolean } = {},
  ) {
    return this.user(participant, { type: 'try', user, ttlMs: 30_000, ...options })
  }
}
