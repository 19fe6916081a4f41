/** Finds a participant wherever it is: a Durable Object of this Worker, or a service behind a URL. */
import type { ParticipantPlace } from '../shared/api/configuration.ts'
import { signed } from './signature.ts'

export interface ParticipantDirectory {
  /** The path of the request, which is the caller's own, says what is asked of the participant: see participant/calls.ts. */
  fetch(lock: string, place: ParticipantPlace, request: Request): Promise<Response>
}

export interface DirectoryEnvironment {
  readonly PARTICIPANT: DurableObjectNamespace
  readonly BATON_PEER_SECRET?: string
}

/** Below this path the other processes' participants answer signed requests. */
export const PARTICIPANT_PATH = '/participant'

export const objectName = (lock: string, id: number): string => `${lock}/${id}`

export function createDirectory(env: DirectoryEnvironment): ParticipantDirectory {
  return {
    async fetch(lock, place, request) {
      request.headers.set('x-baton-lock', lock)
      request.headers.set('x-baton-participant', String(place.id))
      if (place.url === null) return stubOf(env, lock, place).fetch(request)
      if (!env.BATON_PEER_SECRET)
        throw new Error('a participant behind a URL needs the secret BATON_PEER_SECRET')
      const { pathname, search } = new URL(request.url)
      const url = `${place.url.replace(/\/$/, '')}${PARTICIPANT_PATH}${pathname}${search}`
      const outgoing = new Request(url, request)
      return fetch(await signed(outgoing, env.BATON_PEER_SECRET, Date.now()))
    },
  }
}

/** A fresh stub each time: one that has failed stays broken. The location hint counts at the object's first `get` only. */
function stubOf(env: DirectoryEnvironment, lock: string, place: ParticipantPlace): DurableObjectStub {
  const id = env.PARTICIPANT.idFromName(objectName(lock, place.id))
  const hint = place.location as DurableObjectLocationHint | null
  return env.PARTICIPANT.get(id, hint === null ? {} : { locationHint: hint })
}
