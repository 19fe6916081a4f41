/**
 * The running digest of a log. Each entry's digest covers the entry and the digest before it, so two logs
 * have equal digests at a place exactly if they are equal up to there. Entries and acknowledgements carry the
 * digest. Two logs that differ, because of a defect or because a disk returned something else, are therefore
 * noticed when they meet, before anything is acknowledged or committed, and the participant that notices
 * stops (`ProtocolDefect`).
 *
 * The digest is not cryptographic: it protects against mistakes, not against a participant that lies.
 */
import { hashText } from '../resource/canonical.ts'
import { assert } from './step.ts'

/** The digest of a log without entries. */
export const EMPTY_LOG = ''

/**
 * The digest of a log that is older than digests. It says nothing, so it fits every other. Whoever appends to
 * such a log, or gets an entry of it, has a digest from there on.
 */
export const UNDIGESTED = '?'

/** `text` contains everything about the entry that matters, written the same way at every participant. */
export const digestAfter = (before: string, text: string): string => hashText(`${before} ${text}`)

/** What another participant claims to hold up to some place, when that could not be compared yet. */
export interface Claim {
  readonly length: number
  readonly digest: string
}

/** `own` is `undefined` if this participant cannot know: it does not have that place yet, or no longer. */
export function assertSameLog(own: string | undefined, other: string, place: number): void {
  if (own === undefined || own === UNDIGESTED || other === UNDIGESTED) return
  assert(own === other, `two logs differ at or before ${place}`)
}
