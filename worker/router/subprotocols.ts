/**
 * A browser cannot set headers on a WebSocket, but it can offer subprotocols: it offers its key as
 * `baton.key.<key>`, and should offer `baton` as well. It closes the socket again unless one of those it
 * offered is chosen, so that must be the one with the key if there is no other.
 */
const HEADER = 'sec-websocket-protocol'
const KEY = 'baton.key.'
const NAME = 'baton'

export function isUpgrade(headers: Headers): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket'
}

export function keyOffered(headers: Headers): string | null {
  return offered(headers).find(isKey)?.slice(KEY.length) ?? null
}

/** What the answer must say, if anything. */
export function chosenHeaders(headers: Headers): Headers {
  const all = offered(headers)
  const chosen = all.includes(NAME) ? NAME : all.find(isKey)
  return new Headers(chosen === undefined ? {} : { [HEADER]: chosen })
}

function isKey(protocol: string): boolean {
  return protocol.startsWith(KEY)
}

function offered(headers: Headers): string[] {
  return (headers.get(HEADER) ?? '').split(',').map(protocol => protocol.trim())
}
