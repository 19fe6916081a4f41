/**
 * Lets a lock follow its work, if it is configured so (shared/api/following.ts). Clients from a place without
 * a participant ask the nearest one; so each participant counts by itself where its grants are asked for
 * from, and how many the lock has given in all. What it counts is in memory alone. When the participants last
 * changed is written, because a lock must not move again and again.
 */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { FOLLOWING, type FollowingRules, type Move, moveFor } from '../../../shared/api/following.ts'
import { isLocation } from '../../../shared/api/geography.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { StepReport } from './member.ts'
import type { Storage } from './storage.ts'

export interface FollowingHost {
  readonly storage: Storage
  now(): number
  /** What the lock is made of; `null` if that is not known. */
  configuration(): LockConfiguration | null
  /** The lock should move. Called in a turn, in the middle of a step. */
  move(move: Move, configuration: LockConfiguration): void
}

const CHANGED_AT = '.members-changed'
const ASKED_AT = '.move-asked'

/** More than this in the time that counts are not told apart. */
const MOST_COUNTED = 1_000

export class Following {
  private readonly host: FollowingHost
  private readonly rules: FollowingRules
  /** Where the users come from that wait here. */
  private readonly waiting = new Map<string, string>()
  /** When each of the last grants was asked for here, and from where. */
  private here: { readonly at: number; readonly from: string }[] = []
  /** When each of the last grants of the lock was given. */
  private all: number[] = []

  constructor(host: FollowingHost, rules = FOLLOWING) {
    this.host = host
    this.rules = rules
  }

  /** When the participants last changed; `null` if they are those of the birth, or nobody follows. */
  get changedAt(): number | null {
    return (this.host.storage.get(CHANGED_AT) as number | undefined) ?? null
  }

  /** Before the user tries. */
  note(user: string, near: string | undefined): void {
    if (!this.isFollowing || !isLocation(near) || this.waiting.size >= 2 * API_LIMITS.waiters) return
    this.waiting.set(user, near)
  }

  onStep({
    emitted,
    hasOtherMembers,
    endedAt,
  }: Pick<StepReport, 'emitted' | 'hasOtherMembers' | 'endedAt'>): void {
    // The work of a lock that was deleted says nothing about the next one of its name.
    if (endedAt !== undefined) this.forgetWork()
    if (emitted.length === 0) return
    // Most locks stay where they are: nothing is counted for them.
    if (!this.isFollowing) return this.waiting.clear()
    const now = this.host.now()
    if (hasOtherMembers) this.onMembers(now)
    for (const event of emitted) {
      if (event.type === 'granted') this.all = [...this.all.slice(1 - MOST_COUNTED), now]
      if (event.type === 'crit') this.onGrant(event.user, now)
      if (event.type === 'withdrawn' || (event.type === 'refused' && event.event === 'try'))
        this.waiting.delete(event.user)
    }
  }

  private get isFollowing(): boolean {
    return this.host.configuration()?.follow === true
  }

  private onMembers(now: number): void {
    this.host.storage.put(CHANGED_AT, now)
    this.forgetWork()
  }

  private forgetWork(): void {
    this.here = []
    this.all = []
  }

  private onGrant(user: string, now: number): void {
    const from = this.waiting.get(user)
    this.waiting.delete(user)
    const configuration = this.host.configuration()
    if (from === undefined || configuration === null) return
    this.here = [...this.here.slice(1 - MOST_COUNTED), { at: now, from }]
    const move = this.moveNow(now, configuration.participants)
    if (move === null) return
    // Whatever comes of it, it is not asked for again soon.
    this.host.storage.put(ASKED_AT, now)
    this.host.move(move, configuration)
  }

  private moveNow(now: number, places: readonly ParticipantPlace[]): Move | null {
    const { windowMs, everyMs } = this.rules
    const askedAt = (this.host.storage.get(ASKED_AT) as number | undefined) ?? null
    // A time to come is from before the clock was set back.
    const isSoonAfter = (at: number | null) => at !== null && at <= now && now - at < everyMs
    if (isSoonAfter(this.changedAt) || isSoonAfter(askedAt)) return null
    const isRecent = (at: number) => at <= now && now - at < windowMs
    this.here = this.here.filter(({ at }) => isRecent(at))
    this.all = this.all.filter(isRecent)
    const from = new Map<string, number>()
    for (const grant of this.here) from.set(grant.from, (from.get(grant.from) ?? 0) + 1)
    return moveFor({ from, grants: Math.max(this.all.length, this.here.length) }, places, this.rules)
  }
}
