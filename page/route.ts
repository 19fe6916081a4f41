/** The places of the page, as the part of its address behind `#` names them. */

export type Route =
  | { readonly type: 'locks' }
  | { readonly type: 'lock'; readonly lock: string }
  | { readonly type: 'simulated'; readonly parameters: URLSearchParams }

const LOCK = /^\/locks\/([^?]+)/

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = splitOnce(hash.replace(/^#/, ''))
  if (path === '/simulated') return { type: 'simulated', parameters: new URLSearchParams(query) }
  const lock = LOCK.exec(path)?.[1]
  return lock === undefined ? { type: 'locks' } : { type: 'lock', lock: decoded(lock) }
}

export const addressOfLock = (lock: string): string => `#/locks/${encodeURIComponent(lock)}`

function splitOnce(text: string): readonly [string, string] {
  const at = text.indexOf('?')
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** Anybody can type anything behind a `#`. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
