/**
 * The running digest of a log: each entry's digest is that of the entry together with the digest before it, so two logs have
 * equal digests at a place exactly if they are equal up to there. Entries and acknowledgements carry it: two logs that
 * differ, through a defect or a disk that gave back something else, are noticed when they meet, before anything is
 * acknowledged or committed, and the participant that notices stops (`ProtocolDefect`).
 *
 * It is not cryptographic: it protects from mistakes, not from a participant that lies.
 */
import { hashText } from '../resource/canonical.ts'
import { assert } from './step.ts'

/** Of a log without entries. */
export const EMPTY_LOG = ''

/** `text` says all that counts of the entry, and says it in the same way at every participant. */
export const digestAfter = (before: string, text: string): string => hashText(`${before} ${text}`)

/** What somebody says to hold, up to which place, and that could not be compared yet. */
export interface Claim {
  readonly length: number
  readonly digest: string
}

/** `own` is `undefined` where this participant cannot know: it does not have that place, or no longer. */
export function assertSameLog(own: string | undefined, other: string, place: number): void {
  assert(own === undefined || own === other, `two logs differ at or before ${place}`)
}
