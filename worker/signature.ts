/**
 * Requests between processes are signed with a secret that they share: HMAC-SHA-256 over method, path, headers that matter,
 * time and body. Without the secret nothing behind the signature can be reached. An old request is refused, so that a recorded one
 * is of little use; the protocol itself takes every message twice without harm.
 */
const TIME_HEADER = 'x-baton-time'
const SIGNATURE_HEADER = 'x-baton-signature'
const MOST_AGE_MS = 60_000

export async function signed(request: Request, secret: string, now: number): Promise<Request> {
  const body = await request.clone().arrayBuffer()
  const headers = new Headers(request.headers)
  headers.set(TIME_HEADER, String(now))
  headers.set(
    SIGNATURE_HEADER,
    hex(await crypto.subtle.sign('HMAC', await keyOf(secret), textOf(request, String(now), body))),
  )
  return new Request(request, { headers })
}

export async function isSignedBy(request: Request, secret: string, now: number): Promise<boolean> {
  const time = request.headers.get(TIME_HEADER)
  const signature = bytes(request.headers.get(SIGNATURE_HEADER) ?? '')
  if (time === null || signature === null || !(Math.abs(now - Number(time)) <= MOST_AGE_MS)) return false
  const body = await request.clone().arrayBuffer()
  return crypto.subtle.verify('HMAC', await keyOf(secret), signature, textOf(request, time, body))
}

function textOf(request: Request, time: string, body: ArrayBuffer): Uint8Array {
  const { pathname, search } = new URL(request.url)
  const { method, headers } = request
  const head = [
    method,
    pathname + search,
    headers.get('x-baton-lock'),
    headers.get('x-baton-participant'),
    time,
    '',
  ]
  const prefix = new TextEncoder().encode(head.join('\n'))
  const text = new Uint8Array(prefix.length + body.byteLength)
  text.set(prefix)
  text.set(new Uint8Array(body), prefix.length)
  return text
}

function keyOf(secret: string) {
  const raw = new TextEncoder().encode(secret)
  return crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

const hex = (buffer: ArrayBuffer): string =>
  Array.from(new Uint8Array(buffer), byte => byte.toString(16).padStart(2, '0')).join('')

function bytes(text: string): Uint8Array | null {
  if (!/^[0-9a-f]{64}$/.test(text)) return null
  return Uint8Array.from(text.match(/../g)!, pair => Number.parseInt(pair, 16))
}
