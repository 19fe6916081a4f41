/** Signs a request to a participant as its peers do, written down once more so that the format is tested as well. */
import { createHmac } from 'node:crypto'

export interface PeerRequestOptions {
  readonly method?: string
  /** Below `/participant`. */
  readonly path: string
  readonly lock: string
  readonly participant: number
  readonly body?: string
  readonly secret: string
  readonly time?: number
}

/** The path with its prefix, and what `fetch` needs besides. */
export function signedRequest(options: PeerRequestOptions): { path: string; init: RequestInit } {
  const { method = 'POST', lock, participant, body = '', secret, time = Date.now() } = options
  const path = `/participant${options.path}`
  const text = [method, path, lock, participant, time, body].join('\n')
  const headers = {
    'x-baton-lock': lock,
    'x-baton-participant': String(participant),
    'x-baton-time': String(time),
    'x-baton-signature': createHmac('sha256', secret).update(text).digest('hex'),
  }
  return { path, init: { method, headers, ...(method !== 'GET' && { body }) } }
}
