/**
 * The ids that clients hold. To a client they are opaque; to the router they say where the grant or ticket
 * lives, so that no table of them is needed anywhere. What makes them unguessable is the user, a random token
 * that is made for each request: by the router, or by a client that wants to withdraw an `acquire` whose
 * answer it has not seen. The client's own are marked, so that nobody can name a user that the router has
 * made.
 *
 *   ticket   <participant>-<user>
 *   grant    <participant>-<fence>-<user>
 *   cursor   the last key of the page before
 */
export interface TicketId {
  readonly participant: number
  readonly user: string
}

export interface GrantId extends TicketId {
  readonly fence: number
}

/** 128 bits: whoever guesses a billion users a second has no grant after the age of the universe. */
export const USER_BYTES = 16

const TOKEN = '[A-Za-z0-9_-]{22}'
const BY_CLIENT = 'w-'
const USER = `(?:${BY_CLIENT})?${TOKEN}`
const PARTICIPANT = '[1-9][0-9]{0,3}'
export const USER_PATTERN = new RegExp(`^${USER}$`)
export const WAITER_PATTERN = new RegExp(`^${TOKEN}$`)
export const TICKET_ID_PATTERN = new RegExp(`^(${PARTICIPANT})-(${USER})$`)
export const GRANT_ID_PATTERN = new RegExp(`^(${PARTICIPANT})-(0|[1-9][0-9]{0,15})-(${USER})$`)

/** The random bytes come from the caller: what is in `shared/` has no source of them. */
export function formatUser(bytes: Uint8Array): string {
  if (bytes.length !== USER_BYTES)
    throw new Error(`a user is made of ${USER_BYTES} bytes, not ${bytes.length}`)
  return base64url(bytes)
}

/** The user of a client that calls its waiter so. */
export function userOfWaiter(waiter: string): string {
  return BY_CLIENT + waiter
}

export function isNamedByClient(user: string): boolean {
  return user.startsWith(BY_CLIENT) && USER_PATTERN.test(user) && !WAITER_PATTERN.test(user)
}

export function formatTicketId(participant: number, user: string): string {
  return `${participant}-${user}`
}

export function parseTicketId(text: string): TicketId | null {
  const match = TICKET_ID_PATTERN.exec(text)
  return match === null ? null : { participant: Number(match[1]), user: match[2]! }
}

export function formatGrantId(participant: number, fence: number, user: string): string {
  return `${participant}-${fence}-${user}`
}

export function parseGrantId(text: string): GrantId | null {
  const match = GRANT_ID_PATTERN.exec(text)
  if (match === null || !Number.isSafeInteger(Number(match[2]))) return null
  return { participant: Number(match[1]), fence: Number(match[2]), user: match[3]! }
}

/**
 * A key may hold any character; a cursor goes into a query string and should look like nothing to change by
 * hand.
 */
export function formatCursor(key: string): string {
  return base64url(new TextEncoder().encode(key))
}

export function parseCursor(text: string): string | null {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return null
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(binary, character => character.charCodeAt(0)),
    )
  } catch {
    return null
  }
}

function base64url(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
