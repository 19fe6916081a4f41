/**
 * Signs a request to a participant as its peers do. It is a second implementation, so that the format is
 * tested as well.
 */
import { createHash, createHmac } from 'node:crypto'

export interface PeerRequestOptions {
  readonly method?: string
  /** Below `/participant`. */
  readonly path: string
  readonly lock: string
  readonly participant: number
  /** Of a participant that came after the birth of its lock. */
  readonly address?: string
  readonly body?: string
  readonly secret: string
  readonly time?: number
  /** The address of the process that is meant. */
  readonly to: string
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
export const hmac = (secret: string, lines: readonly unknown[]): string =>
  createHmac('sha256', secret).update(lines.join('\n')).digest('hex')

/** The path with its prefix, and what `fetch` needs besides. */
export function signedRequest(options: PeerRequestOptions): {
  path: string
  init: Omit<RequestInit, 'headers'> & { readonly headers: { readonly [name: string]: string } }
} {
  const { method = 'POST', lock, participant, address, body = '', secret, time = Date.now(), to } = options
  const path = `/participant${options.path}`
  const digest = sha256(body)
  const nonce = crypto.randomUUID()
  const said = [method, path, to, lock, participant, time, nonce, digest]
  const lines = address === undefined ? ['baton request 2', ...said] : ['baton request 3', ...said, address]
  const headers = {
    'x-baton-lock': lock,
    'x-baton-participant': String(participant),
    ...(address !== undefined && { 'x-baton-address': address }),
    'x-baton-to': to,
    'x-baton-time': String(time),
    'x-baton-nonce': nonce,
    'x-baton-digest': digest,
    'x-baton-signature': hmac(secret, lines),
  }
  return { path, init: { method, headers, ...(method !== 'GET' && { body }) } }
}
