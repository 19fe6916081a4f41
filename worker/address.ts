/** What a request was called by: the beginning of its URL, up to the path. */

export interface Address {
  readonly origin: string
  readonly hostname: string
}

/** Everything that decides whether a URL is one. A URL that begins otherwise is looked at as a whole. */
const BEGINNING = /^https?:\/\/[^/?#\\@]+\//

/** Nearly all requests to one instance call it by the same name, so the last one is remembered. */
let last: { readonly beginning: string; readonly address: Address } | null = null

/** `null` if it is no address, or has a name or a password in it. */
export function addressOf(url: string): Address | null {
  const beginning = BEGINNING.exec(url)?.[0]
  if (last !== null && beginning === last.beginning) return last.address
  if (!URL.canParse(url)) return null
  const { origin, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return null
  const address = { origin, hostname }
  if (beginning !== undefined) last = { beginning, address }
  return address
}
