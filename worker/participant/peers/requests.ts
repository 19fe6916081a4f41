/** What participants ask each other: JSON in the body of a request and of its response. */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import type { RegistrarAnswer } from '../../../shared/birth.ts'
import type { AnyEnvelope } from '../../../shared/protocols/all.ts'

/** A message of the protocol. */
export type Message = AnyEnvelope

export type PeerRequest =
  /** Everything that one turn sends to one peer. */
  { readonly type: 'messages'; readonly from: number; readonly messages: readonly Message[] } | BirthRequest

/** Asked while a lock is being born: see lock/birth.ts. */
export type BirthRequest =
  /** To a peer that knows nothing of the lock yet: this is what it is part of. */
  | { readonly type: 'introduce'; readonly configuration: LockConfiguration }
  /**
   * The lock is being born: take part from the start. `bornAt` keeps a late copy from reviving a wiped
   * participant.
   */
  | { readonly type: 'found'; readonly configuration: LockConfiguration; readonly bornAt: number }
  | { readonly type: 'prepare'; readonly ballot: number }
  | { readonly type: 'accept'; readonly ballot: number; readonly configuration: LockConfiguration }

export type PeerAnswer =
  /** What the peer's steps answered, so that an acknowledgement costs no request of its own. */
  { readonly type: 'messages'; readonly messages: readonly Message[] } | BirthAnswer

export type BirthAnswer =
  | { readonly type: 'status'; readonly status: 'blank' | 'joining' | 'member' }
  | { readonly type: 'registrar'; readonly answer: RegistrarAnswer<LockConfiguration> }
