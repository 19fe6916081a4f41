/**
 * Requests between processes are signed with a secret that they share, and so are the answers: HMAC-SHA-256,
 * see docs/security.md.
 *
 *   request    for which process it is, method, path, lock, participant, time, a random number, the digest of
 *              the body, the address of a participant that came later
 *   answer     the signature of its request, status, type, the digest of the body
 *
 * So a recorded request is of no use at another process, and soon of none at all; an answer belongs to one
 * request. The digest lets a receiver recognise a stranger before it has read anything of the body. The
 * bodies of streams (`watch`, `session`) are not covered: they are as safe as the connection is.
 */
import { readLimited } from './limited-body.ts'

/** The limit for one request of a peer: several messages, each of which is bounded by itself. */
export const PEER_REQUEST_BYTES = 8 * 1024 * 1024
export const PEER_ANSWER_BYTES = 32 * 1024 * 1024
/** How far the clocks of two processes may be apart, and how long a recorded request is of any use. */
export const MAX_AGE_MS = 5 * 60_000

const TO = 'x-baton-to'
const TIME = 'x-baton-time'
const NONCE = 'x-baton-nonce'
const DIGEST = 'x-baton-digest'
const SIGNATURE = 'x-baton-signature'
const HEX_256 = /^[0-9a-f]{64}$/
const STREAMED = 'streamed'

// ---------------------------------------------------------------- who asks

export interface SignedFetch {
  /**
   * The URL of the process that is meant, as the lock's configuration has it: the request's own begins with
   * it.
   */
  readonly to: string
  readonly secret: string
  readonly now: number
  readonly fetch?: (request: Request) => Promise<Response>
}

/**
 * Sends a signed request, and returns its answer if that is signed as well. Otherwise it rejects, as if
 * nobody had answered.
 */
export async function fetchSigned(request: Request, options: SignedFetch): Promise<Response> {
  const { secret, now, fetch: send = one => fetch(one) } = options
  const to = normalUrl(options.to)
  const body = new Uint8Array(await request.arrayBuffer())
  const headers = new Headers(request.headers)
  headers.set(TO, to)
  headers.set(TIME, String(now))
  headers.set(NONCE, crypto.randomUUID())
  headers.set(DIGEST, await digestOf(body))
  const path = pathBelow(request.url, to)
  const signature = hex(await sign(secret, requestText(request.method, path, headers)))
  headers.set(SIGNATURE, signature)
  const outgoing = new Request(request.url, {
    method: request.method,
    headers,
    signal: request.signal,
    // An attacker that could make this process follow a redirect would choose who answers.
    redirect: 'manual',
    ...(body.length > 0 && { body }),
  })
  return verifiedAnswer(await send(outgoing), signature, secret)
}

async function verifiedAnswer(response: Response, request: string, secret: string): Promise<Response> {
  const given = bytes(response.headers.get(SIGNATURE))
  if (given === null) {
    await response.body?.cancel()
    throw new Error(`an answer with status ${response.status} that no peer has signed`)
  }
  const isStream = isStreamed(response)
  const body = isStream ? null : await readLimited(response, PEER_ANSWER_BYTES)
  if (body === 'too-large') throw new Error(`an answer of more than ${PEER_ANSWER_BYTES} bytes`)
  const digest = body === null ? STREAMED : await digestOf(body)
  if (!(await isSignature(secret, given, answerText(request, response, digest))))
    throw new Error(`an answer with status ${response.status} and a wrong signature`)
  if (body === null) return response
  return new Response(isNullBody(response.status) ? null : body, {
    status: response.status,
    headers: response.headers,
  })
}

// ---------------------------------------------------------------- who is asked

export interface PeerDoor {
  /** What follows the address of this process in the request's own. */
  readonly path: string
  /** The addresses under which the other processes know this one. */
  readonly own: readonly string[]
  /** Any of these is accepted. */
  readonly secrets: readonly string[]
  readonly now: number
}

export type PeerRequest =
  | { readonly type: 'stranger' }
  | {
      readonly type: 'peer'
      readonly body: Uint8Array | 'too-large'
      /** Signs the answer with the secret that the request was signed with. */
      readonly answer: (response: Response) => Promise<Response>
    }

/**
 * Nothing of the body is read before the signature is known to be right, and never more than a peer may send.
 */
export async function readSigned(request: Request, door: PeerDoor): Promise<PeerRequest> {
  const { headers, method } = request
  const signature = headers.get(SIGNATURE)
  const given = bytes(signature)
  if (given === null || !isForUs(headers, door)) return { type: 'stranger' }
  const text = requestText(method, door.path, headers)
  const secret = await secretOf(door.secrets, given, text)
  if (secret === null) return { type: 'stranger' }
  const body = await readLimited(request, PEER_REQUEST_BYTES)
  if (body !== 'too-large' && (await digestOf(body)) !== headers.get(DIGEST)) return { type: 'stranger' }
  return { type: 'peer', body, answer: response => signedAnswer(response, signature!, secret) }
}

function isForUs(headers: Headers, { own, now }: PeerDoor): boolean {
  const [to, time, digest] = [headers.get(TO), headers.get(TIME), headers.get(DIGEST)]
  if (to === null || time === null || digest === null) return false
  const isNow = /^[0-9]{1,16}$/.test(time) && Math.abs(now - Number(time)) <= MAX_AGE_MS
  return isNow && HEX_256.test(digest) && own.some(url => normalUrl(url) === to)
}

async function secretOf(
  secrets: readonly string[],
  signature: Uint8Array,
  text: string,
): Promise<string | null> {
  for (const secret of secrets) if (await isSignature(secret, signature, text)) return secret
  return null
}

async function signedAnswer(response: Response, request: string, secret: string): Promise<Response> {
  const headers = new Headers(response.headers)
  const isStream = isStreamed(response)
  const body = isStream ? null : new Uint8Array(await response.arrayBuffer())
  const digest = body === null ? STREAMED : await digestOf(body)
  headers.set(SIGNATURE, hex(await sign(secret, answerText(request, response, digest))))
  const { status } = response
  // `webSocket` is an addition of Workers: the socket of the participant's answer becomes that of ours.
  const { webSocket } = response as Response & { readonly webSocket?: unknown }
  if (status === 101) return new Response(null, { status, headers, webSocket } as ResponseInit)
  return new Response(isNullBody(status) ? null : (body ?? response.body), { status, headers })
}

// ---------------------------------------------------------------- what is signed

/**
 * Of one without an address, the text is that of earlier builds, which know no third version. The version
 * tells the texts apart: an address that was added or removed on the way leaves a text that nobody signed.
 */
function requestText(method: string, path: string, headers: Headers): string {
  const said = [TO, 'x-baton-lock', 'x-baton-participant', TIME, NONCE, DIGEST].map(name => headers.get(name))
  const address = headers.get('x-baton-address')
  const [version, more] = address === null ? [2, []] : [3, [address]]
  return [`baton request ${version}`, method, path, ...said, ...more].join('\n')
}

function answerText(request: string, { status, headers }: Response, digest: string): string {
  return ['baton answer 2', request, status, headers.get('content-type'), digest].join('\n')
}

function isStreamed({ status, headers }: Response): boolean {
  return status === 101 || (headers.get('content-type') ?? '').startsWith('text/event-stream')
}

function isNullBody(status: number): boolean {
  return status === 204 || status === 304
}

/**
 * The URL as a request writes it: the host in lower case, without the default port, and no slash at the end.
 */
export function normalUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}

function pathBelow(url: string, to: string): string {
  const { pathname, search } = new URL(url)
  return pathname.slice(new URL(`${to}/`).pathname.length - 1) + search
}

// ---------------------------------------------------------------- HMAC and SHA-256

const encoder = new TextEncoder()

async function sign(secret: string, text: string): Promise<ArrayBuffer> {
  return crypto.subtle.sign('HMAC', await keyOf(secret), encoder.encode(text))
}

async function isSignature(secret: string, signature: Uint8Array, text: string): Promise<boolean> {
  return crypto.subtle.verify('HMAC', await keyOf(secret), signature, encoder.encode(text))
}

/** A deployment has one secret, or two of them while it is being changed. */
const MAX_KEYS = 4
const keys = new Map<string, Key>()

type Key = Awaited<ReturnType<typeof importKey>>

/** Every request and every answer needs it, and it is always the same. */
async function keyOf(secret: string): Promise<Key> {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const key = await importKey(secret)
  if (keys.size >= MAX_KEYS) keys.clear()
  keys.set(secret, key)
  return key
}

function importKey(secret: string) {
  const raw = encoder.encode(secret)
  return crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

async function digestOf(body: Uint8Array): Promise<string> {
  return hex(await crypto.subtle.digest('SHA-256', body))
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hex(buffer: ArrayBuffer): string {
  let text = ''
  for (const byte of new Uint8Array(buffer)) text += DIGITS[byte]!
  return text
}

function bytes(text: string | null): Uint8Array | null {
  if (text === null || !HEX_256.test(text)) return null
  return Uint8Array.from(text.match(/../g)!, pair => Number.parseInt(pair, 16))
}
