/**
 * How participants talk: one request carries everything that a step (or several in one event) sends to one peer, and its response what
 * the peer's steps answer, so an acknowledgement costs no request of its own. Nothing is retried here: the protocol repeats
 * what matters. A request that fails tells the protocol that the peer is unreachable.
 */
import type { LockConfiguration, ParticipantPlace } from '../../shared/api/configuration.ts'
import type { RegistrarAnswer } from '../../shared/birth.ts'
import type { ParticipantDirectory } from '../directory.ts'
import type { Message } from './engine.ts'

export const PEER_TIME_LIMIT_MS = 4_000

export type PeerRequest =
  | { readonly type: 'messages'; readonly from: number; readonly messages: readonly Message[] }
  /** To a peer that knows nothing of the lock yet: this is what it is part of. */
  | { readonly type: 'introduce'; readonly configuration: LockConfiguration }
  /** The lock is being born: take part from the start. `bornAt` keeps a late copy from reviving a participant that was wiped. */
  | { readonly type: 'found'; readonly configuration: LockConfiguration; readonly bornAt: number }
  | { readonly type: 'prepare'; readonly ballot: number }
  | { readonly type: 'accept'; readonly ballot: number; readonly configuration: LockConfiguration }

export type PeerAnswer =
  | { readonly type: 'messages'; readonly messages: readonly Message[] }
  | { readonly type: 'status'; readonly status: 'blank' | 'joining' | 'member' }
  | { readonly type: 'registrar'; readonly answer: RegistrarAnswer<LockConfiguration> }

export async function callPeer(
  directory: ParticipantDirectory,
  lock: string,
  place: ParticipantPlace,
  body: PeerRequest,
): Promise<PeerAnswer> {
  const request = new Request('https://participant/peer', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PEER_TIME_LIMIT_MS),
  })
  const response = await directory.fetch(lock, place, request)
  if (!response.ok) throw new Error(`participant ${place.id} of ${lock} answered ${response.status}`)
  return (await response.json()) as PeerAnswer
}
