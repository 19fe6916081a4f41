/** Finds a participant wherever it is: a Durable Object of this Worker, or a service behind a URL. */
import type { ParticipantPlace } from '../shared/api/configuration.ts'
import { fetchSigned } from './signature.ts'

export interface ParticipantDirectory {
  /**
   * The path of the request, which is the caller's own, says what is asked of the participant, and its
   * headers (`headersFor`) which participant is meant: see participant/calls.ts.
   */
  fetch(lock: string, place: ParticipantPlace, request: Request): Promise<Response>
}

/**
 * The part of a Durable Object namespace that is used here, so that code which also runs elsewhere needs no
 * Workers types.
 */
export interface ParticipantNamespace {
  idFromName(name: string): unknown
  get(id: unknown, options?: { readonly locationHint?: string }): ParticipantStub
}

export interface ParticipantStub {
  fetch(request: Request | string): Promise<Response>
}

export interface DirectoryEnvironment {
  readonly PARTICIPANT: ParticipantNamespace
  /** Secret: signs the requests to participants in other processes, and is accepted from them. */
  readonly BATON_PEER_SECRET?: string
  /** Secret: also accepted from them, while the secret is being changed. */
  readonly BATON_PEER_SECRET_OLD?: string
}

/** Below this path, the participants of this process answer signed requests of other processes. */
export const PARTICIPANT_PATH = '/participant'

/** The headers of a request to this participant. */
export const headersFor = (lock: string, { id, address }: Whereabouts): { [name: string]: string } => ({
  'content-type': 'application/json',
  'x-baton-lock': lock,
  'x-baton-participant': String(id),
  ...(address !== undefined && { 'x-baton-address': address }),
})

/** What tells the participants of one lock apart. */
export type Whereabouts = Pick<ParticipantPlace, 'id' | 'address'>

/**
 * Two that want to become participants at once may have the same number, in different places: they are
 * different objects.
 */
export const objectName = (lock: string, { id, address }: Whereabouts): string =>
  address === undefined ? `${lock}/${id}` : `${lock}/${id}/${address}`

export function createDirectory(env: DirectoryEnvironment): ParticipantDirectory {
  return {
    async fetch(lock, place, request) {
      if (place.url === null) return stubOf(env, lock, place).fetch(request)
      if (!env.BATON_PEER_SECRET)
        throw new Error('a participant behind a URL needs the secret BATON_PEER_SECRET')
      const { pathname, search } = new URL(request.url)
      const url = `${place.url.replace(/\/+$/, '')}${PARTICIPANT_PATH}${pathname}${search}`
      const outgoing = new Request(url, request)
      return fetchSigned(outgoing, { to: place.url, secret: env.BATON_PEER_SECRET, now: Date.now() })
    },
  }
}

/**
 * A fresh stub each time, because a stub that has failed stays broken. The location hint counts only at the
 * object's first `get`.
 */
function stubOf(env: DirectoryEnvironment, lock: string, place: ParticipantPlace): ParticipantStub {
  const id = idOf(env.PARTICIPANT, objectName(lock, place))
  return env.PARTICIPANT.get(id, place.location === null ? {} : { locationHint: place.location })
}

const MAX_IDS = 2_000
const knownIds = new WeakMap<ParticipantNamespace, Map<string, unknown>>()

/** To derive an id from its name takes a hash, for every request. */
function idOf(namespace: ParticipantNamespace, name: string): unknown {
  let ids = knownIds.get(namespace)
  if (ids === undefined) {
    ids = new Map()
    knownIds.set(namespace, ids)
  }
  let id = ids.get(name)
  if (id === undefined) {
    if (ids.size >= MAX_IDS) ids.clear()
    id = namespace.idFromName(name)
    ids.set(name, id)
  }
  return id
}
