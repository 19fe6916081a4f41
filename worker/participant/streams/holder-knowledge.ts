/**
 * What a participant that is watched knows of the holder of its lock, wherever that is. Fences order
 * everything: a grant is over once a later one is known, so what is known only ever grows, and news that
 * comes late or twice changes nothing. What each watcher was told of it is compared with it, and the watcher
 * is told the difference.
 *
 * The log alone does not suffice. It says who got the token, not that somebody has left; and who comes in
 * again where the token is, is in the log of that participant only, until something else is done (see
 * shared/protocols/wme/replicate.ts).
 */
import type { Json } from '../../../shared/json.ts'
import { holderHere } from '../calls/status.ts'
import type { HolderStatus } from '../calls.ts'
import type { Member } from '../core/member.ts'
import type { Owners } from '../core/owners.ts'
import type { Sighting } from '../peers/requests.ts'

/**
 * What this participant sees by itself. Its own grants that have ended are over, and so is everything before.
 * If it has the token and nobody uses it, or if the log says that nobody has it, then all grants are over:
 * also those that were rolled back.
 */
export function sightingHere(member: Member, owners: Owners): Sighting {
  const holder = holderHere({ member, owners })
  if (holder !== null) return { holder, over: holder.fence - 1 }
  const { endings, phase, owner } = member.view
  const isFree = phase === 'token-held' || owner === null
  const used = isFree ? (member.guarded?.fencesUsed() ?? -1) : -1
  return { holder: null, over: endings.reduce((most, { fence }) => Math.max(most, fence), used) }
}

export class HolderKnowledge {
  /** Who is inside, and who that is. */
  present: HolderStatus | null = null
  /** All grants up to this fence are over. */
  over = -1
  /** The highest fence that was heard of. */
  latest: number

  constructor(latest: number) {
    this.latest = latest
  }

  /** Whether it is known that nobody holds the lock. */
  get isFree(): boolean {
    return this.present === null && this.over >= this.latest
  }

  /** Whether somebody was granted the lock of whom nothing else is known. */
  get isUnsure(): boolean {
    return this.present === null && this.over < this.latest
  }

  /** The log says that somebody was granted the lock with this fence. */
  granted(fence: number): void {
    this.latest = Math.max(this.latest, fence)
    this.end(fence - 1)
  }

  see({ holder, over }: Sighting): void {
    this.end(over)
    if (holder === null || holder.fence <= this.over) return
    this.granted(holder.fence)
    this.present = holder
  }

  private end(fence: number): void {
    this.over = Math.max(this.over, fence)
    this.latest = Math.max(this.latest, fence)
    if (this.present !== null && this.present.fence <= this.over) this.present = null
  }
}

/** What one watcher was told of the holder. */
export interface ToldHolder {
  /** The highest fence that it was told; -1: none. */
  fence: number
  /** It may believe that somebody holds the lock. */
  believes: boolean
  /** It was told who that is. */
  isDescribed: boolean
}

/**
 * A watcher that resumes may have been told of a holder before, also of one that entered before the first
 * operation.
 */
export const toldSince = (since: number | null): ToldHolder => ({
  fence: -1,
  believes: since !== null,
  isDescribed: false,
})

/** The holder as the log tells it. `false`: it is nothing new. */
export function noteTold(told: ToldHolder, data: Json): boolean {
  const { fence, since } = data as { readonly fence: number; readonly since?: string }
  if (fence <= told.fence) return false
  told.fence = fence
  told.believes = true
  told.isDescribed = since !== undefined
  return true
}

/**
 * The event that brings a watcher up to what is known; `null` if there is none. Its sequence, which is its id
 * too, is what the watcher has been told through: whoever resumes there misses nothing, whatever becomes of a
 * grant that is not committed. A holder that was told already is told once more to say who it is, without an
 * id.
 */
export function nextHolderEvent(
  told: ToldHolder,
  { present, isFree, over }: HolderKnowledge,
  sequence: number,
): { readonly text: string; readonly told: ToldHolder } | null {
  if (present === null) {
    if (!isFree || !told.believes || told.fence > over) return null
    const text = withId(sequence, holderEvent({ sequence, participant: null }))
    return { text, told: { ...told, believes: false } }
  }
  const { fence } = present
  const isMore = fence === told.fence && told.believes && !told.isDescribed
  if (fence <= told.fence && !isMore) return null
  const text = holderEvent(described(sequence, present))
  return {
    text: isMore ? text : withId(sequence, text),
    told: { fence, believes: true, isDescribed: true },
  }
}

const withId = (id: number, text: string): string => `id: ${id}\n${text}`

const holderEvent = (data: Json): string => `event: holder\ndata: ${JSON.stringify(data)}\n\n`

function described(sequence: number, { participant, fence, since, expiresAt, owner }: HolderStatus): Json {
  return { sequence, participant, fence, since, expiresAt, ...(owner !== undefined && { owner }) }
}
