/** What a lock is made of. Decided once, when the lock is born, and known to each of its participants. */
import type { ProtocolName, ProtocolOptions } from '../protocols/protocol.ts'

export interface LockConfiguration {
  /** Rises with every change of the participants, and with every lock of this name. */
  readonly number: number
  /**
   * Which lock of its name this is, where a participant says what its lock is made of; absent: the first one.
   */
  readonly generation?: number
  readonly protocol: ProtocolName
  readonly participants: readonly ParticipantPlace[]
  /**
   * The participant that has the token at first: the one that the lock was born at, so that its first user
   * need not wait.
   */
  readonly firstOwner: number
  /** The time to live of a grant when the acquire does not say. */
  readonly ttlMs: number
  readonly detector: DetectorOptions
  readonly localHandoffs: number
  /** The participants go where the work is (following.ts). */
  readonly follow?: true
  /** The lock's choice among the variants of its protocol. */
  readonly options?: ProtocolOptions
  /** The name of the resource that the lock guards. */
  readonly resource: string
  readonly imported?: ImportedFrom
}

/** Of a lock that was made from an export. */
export interface ImportedFrom {
  /** Its epochs begin above that of the export. */
  readonly epoch: number
  /** So does its log. */
  readonly sequence: number
  /**
   * The random name of the import. If the answer that the lock was created gets lost, the import recognises
   * its lock by this. Absent: the lock was made by an earlier build.
   */
  readonly by?: string
}

export interface ParticipantPlace {
  readonly id: number
  /** Where its Durable Object should live (a Cloudflare location hint), or `null` for wherever. */
  readonly location: string | null
  /** Set if the participant is in another process or account: where its service answers signed requests. */
  readonly url: string | null
  /** Of one that came after the birth of its lock (member-address.ts). */
  readonly address?: string
}

export interface DetectorOptions {
  readonly heartbeatMs: number
  readonly timeoutMs: number
}
