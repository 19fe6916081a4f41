/** A new key, and its entry for the secret BATON_KEYS, which has its hash alone. See docs/keys.md. */
import { createHash, randomBytes } from 'node:crypto'

export interface KeyEntry {
  readonly name: string
  readonly hash: string
  readonly locks: readonly string[]
  readonly verbs: readonly string[]
}

export function makeKey(entry: Omit<KeyEntry, 'hash'>): { readonly key: string; readonly entry: KeyEntry } {
  const key = `baton_${randomBytes(32).toString('base64url')}`
  const hash = createHash('sha256').update(key).digest('hex')
  return { key, entry: { name: entry.name, hash, locks: entry.locks, verbs: entry.verbs } }
}
