/** What the calls of one participant are answered from. */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import type { Json } from '../../../shared/json.ts'
import type { Members } from '../../../shared/protocols/protocol.ts'
import type { ParticipantAnswer, ParticipantCall, ParticipantStatus } from '../calls.ts'
import type { Connections } from '../core/connections.ts'
import type { EventLog } from '../core/event-log.ts'
import type { Following } from '../core/following.ts'
import type { Handovers } from '../core/handovers.ts'
import type { Member } from '../core/member.ts'
import type { Owners } from '../core/owners.ts'
import type { Places } from '../core/places.ts'
import type { Withdrawals } from '../core/withdrawals.ts'
import type { Exports } from '../streams/exports.ts'

export interface CallContext {
  readonly member: Member
  readonly configuration: LockConfiguration
  readonly connections: Connections
  readonly places: Places
  readonly handovers: Handovers
  readonly withdrawals: Withdrawals
  readonly owners: Owners
  readonly following: Following
  readonly events: EventLog
  readonly exports: Exports
  /** The default participants. */
  readonly processes: readonly ParticipantPlace[]
  /** These may become members: they are to be found at these addresses. */
  expectMembers(members: Members): void
  /** What waits to be written is written with this turn. */
  flush(): void
  now(): number
  /** A name for a request that no user makes: a read, an operator's. */
  newRequest(): string
  /** Figures that only the participant as a whole knows. */
  figures(): Pick<ParticipantStatus, 'peerRequests'> &
    Pick<NonNullable<ParticipantStatus['gauges']>, 'calls' | 'watchers' | 'sessions'>
}

export type Call<Type extends ParticipantCall['type']> = Extract<ParticipantCall, { type: Type }>

/** How long an operation, a read or an operator's request may take before its fate is called unknown. */
export const SETTLE_MS = 10_000

/** Long enough for a round trip between any two places. */
const FETCH_TOKEN_MS = 1_000

/**
 * How long a user waits in the queue. A user that does not want to queue at all still waits for the token to
 * come from another participant: it may be unused there, and nobody here can know.
 */
export const patienceOf = ({ member }: CallContext, waitMs: number): number =>
  waitMs === 0 && member.view.owner !== member.id ? FETCH_TOKEN_MS : waitMs

/** Whether the lock is deleted from now on. Another one of its name may be there then. */
export function deletion({ member }: CallContext): () => boolean {
  const { generation } = member.engine.birth
  return () => member.engine.birth.generation > generation
}

export const done = (
  status: 200 | 201 | 202 | 204,
  body: Json,
): Extract<ParticipantAnswer, { type: 'done' }> => ({
  type: 'done',
  status,
  body,
})

export { iso } from '../core/iso.ts'
