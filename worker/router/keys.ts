/**
 * Who may do what. The secret `BATON_KEYS` is a JSON list; each entry lets the holder of one key do some
 * verbs on some locks:
 *
 *   [{ "name": "checkout",                  what logs and refusals call it
 *      "hash": "9f86d0…",                   SHA-256 of the key in hexadecimal: the secret itself is in no
 *                                           configuration
 *      "locks": ["orders", "stock-*"],      names, or beginnings of names with a * at the end
 *      "verbs": ["acquire", "read"] }]      of acquire read watch history configure eject metrics, or *
 *
 * `baton key` makes a key and its entry. To change a key, add the new entry beside the old one, let everybody
 * change over, and remove the old one: both are valid meanwhile. Several entries with one hash add up.
 *
 * A plain hash is enough, because keys are random: there is no dictionary of them.
 */
import * as z from 'zod'
import { matches } from '../../shared/api/name-patterns.ts'
import { VERBS, type Verb } from '../../shared/api/routes.ts'
import { type Checked, check, firstMistake } from '../../shared/api/validation.ts'
import { BoundedMap } from './memory.ts'

const keyEntry = z.strictObject({
  name: z.string().min(1).max(100),
  hash: z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 hash in 64 hexadecimal digits' }),
  locks: z
    .array(
      z
        .string()
        .regex(/^(?:[A-Za-z0-9][A-Za-z0-9_.:-]{0,63})?\*?$/)
        .min(1),
    )
    .min(1),
  verbs: z.array(z.enum([...VERBS, '*'])).min(1),
})

export type KeyEntry = Readonly<z.output<typeof keyEntry>>

export type KeySource =
  /** Everybody may do everything: only for a service that nobody else can reach. */
  | { readonly type: 'open' }
  | { readonly type: 'keys'; readonly entries: readonly KeyEntry[] }
  /** Nobody may do anything, and here is what to do about it. */
  | { readonly type: 'closed'; readonly detail: string }

export const OPEN: KeySource = { type: 'open' }

const HOW_TO =
  'Make a key with `npx @baton-lock/baton key`, put its entry into the secret with ' +
  '`npx wrangler secret put BATON_KEYS`, and send the key as `Authorization: Bearer <key>`.'

/** From the value of `BATON_KEYS`. What cannot be understood lets nobody in. */
export function parseKeys(text: string | undefined | null): KeySource {
  if (text === undefined || text === null || text.trim() === '') {
    return { type: 'closed', detail: `This service has no keys yet and refuses everything. ${HOW_TO}` }
  }
  const checked = checkKeys(text)
  if (checked.ok) return { type: 'keys', entries: checked.value }
  const mistake = firstMistake(checked.errors, 'the list')
  return {
    type: 'closed',
    detail: `The secret BATON_KEYS is not a list of keys (${mistake}), so nobody can come in. ${HOW_TO}`,
  }
}

export function checkKeys(text: string): Checked<KeyEntry[]> {
  return check(z.array(keyEntry).min(1), parseJson(text), 'body')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Enough for every key of a deployment, and nobody but their holders can put anything in. */
const MAX_KNOWN_KEYS = 1_000

/** The keys that were seen lately: to hash one takes longer than the rest of its authentication. */
export class KnownKeys {
  private readonly entries: readonly KeyEntry[]
  private readonly known = new BoundedMap<readonly KeyEntry[]>(MAX_KNOWN_KEYS)

  constructor(entries: readonly KeyEntry[]) {
    this.entries = entries
  }

  async entriesOf(key: string): Promise<readonly KeyEntry[]> {
    const seen = this.known.get(key)
    if (seen !== undefined) return seen
    const found = await entriesOf(this.entries, key)
    if (found.length > 0) this.known.set(key, found)
    return found
  }
}

/** The entries of this key. All hashes are compared, each in full, whether or not one was found already. */
export async function entriesOf(entries: readonly KeyEntry[], key: string): Promise<KeyEntry[]> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key))
  const hash = Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
  const found: KeyEntry[] = []
  for (const entry of entries) if (isEqual(entry.hash, hash)) found.push(entry)
  return found
}

/** Takes as long for what differs at once as for what differs at the end. */
function isEqual(left: string, right: string): boolean {
  let difference = left.length ^ right.length
  for (let index = 0; index < left.length; index++)
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  return difference === 0
}

/** `lock` is `null` for what concerns no lock. */
export function allows(entries: readonly KeyEntry[], verb: Verb, lock: string | null): boolean {
  return entries.some(
    ({ verbs, locks }) =>
      has(verbs, verb) && (lock === null || locks.some(pattern => matches(pattern, lock))),
  )
}

/** The locks on which these allow the verb, as the entries have them. */
export function allowedPatterns(entries: readonly KeyEntry[], verb: Verb): readonly string[] {
  return entries.flatMap(({ verbs, locks }) => (has(verbs, verb) ? locks : []))
}

const has = (verbs: KeyEntry['verbs'], verb: Verb): boolean => verbs.includes(verb) || verbs.includes('*')
