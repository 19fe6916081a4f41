/**
 * A participant that is watched finds out who holds the lock, and tells its watchers: what it sees by itself
 * after each step, what the log says, and what the participant that has the token says. It asks that one when
 * the first watcher comes, when the token has gone elsewhere, and when the log names a holder of whom it
 * knows nothing else; and then it is told of each change there for a while (watch-leases.ts). It asks again
 * now and then, because such news may get lost: soon while somebody is inside, seldom while nobody is.
 *
 * One question is under way at a time. While nobody watches nothing is asked, and there is no timer.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import type { HolderStatus } from '../calls.ts'
import type { Member, StepReport } from '../core/member.ts'
import type { Turns } from '../core/turns.ts'
import { PEER_TIME_LIMIT_MS } from '../peers/exchange.ts'
import type { PeerAnswer, PeerRequest, Sighting } from '../peers/requests.ts'
import type { Runtime } from '../runtime.ts'
import { HolderKnowledge } from './holder-knowledge.ts'

/** While nobody holds the lock, its owner is asked at every so many ticks: once a minute. */
const SELDOM_TICKS = 4
/** How often in a row somebody who was asked may name another one. */
const MOST_REDIRECTS = 2

export interface HolderNewsHost {
  readonly runtime: Runtime
  readonly turns: Turns
  /** The lock, which participant this is and, if it came after the birth, where it is. */
  readonly address: { readonly lock: string; readonly id: number; readonly address?: string }
  readonly isWatched: boolean
  readonly member: Member
  sighting(): Sighting
  /** `null` if it is not known. */
  placeOf(peer: number): ParticipantPlace | null
  /** Brings the watchers up to what is known. */
  tell(): void
}

export class HolderNews {
  knowledge = new HolderKnowledge(-1)
  private readonly host: HolderNewsHost
  private isAsking = false
  /** Whom this participant has asked, and the highest fence that it knew of then. */
  private asked: { readonly peer: number; readonly fence: number } | null = null
  /** The token is not where the log that is here says, but there. */
  private hint: { readonly of: number; readonly owner: number } | null = null
  private redirects = 0
  private ticks = 0

  constructor(host: HolderNewsHost) {
    this.host = host
  }

  /** The first watcher has come. What is known from before may be old. */
  begin(): void {
    const { guarded } = this.host.member
    this.knowledge = new HolderKnowledge(guarded?.latestFence() ?? guarded?.fencesUsed() ?? -1)
    this.knowledge.see(this.host.sighting())
    this.asked = null
    this.hint = null
    this.askIfDue()
  }

  /** After each step, and after its events were told to watchers. */
  onStep({ changes }: StepReport): void {
    if (!this.host.isWatched || this.host.member.guarded === null) return
    for (const { event, data } of changes)
      if (event === 'holder') this.knowledge.granted((data as { readonly fence: number }).fence)
    this.knowledge.see(this.host.sighting())
    this.host.tell()
    this.askIfDue()
  }

  /** Another participant says what it sees. Called in a turn; returns whether anybody wants to know. */
  hear(sighting: Sighting, generation: number): boolean {
    const { isWatched, member } = this.host
    if (!isWatched || generation !== member.engine.birth.generation) return false
    const proper = sightingIn(sighting)
    if (proper !== null) {
      this.knowledge.see(proper)
      this.host.tell()
    }
    return true
  }

  /** Now and then, while there are watchers. */
  tick(): void {
    this.redirects = 0
    if (this.knowledge.isFree && ++this.ticks % SELDOM_TICKS !== 0) return
    this.asked = null
    this.askIfDue()
  }

  // ---------------------------------------------------------------- asking

  /** Who knows: whoever has the token. If nobody has it, as far as is known here, whoever was inside. */
  private get target(): number | null {
    const { member, address } = this.host
    const { owner } = member.view
    const there = owner ?? this.knowledge.present?.participant ?? null
    const peer = this.hint !== null && this.hint.of === there ? this.hint.owner : there
    return peer === address.id ? null : peer
  }

  /** In a turn. */
  private askIfDue(): void {
    const { host, asked, target, knowledge } = this
    if (this.isAsking || target === null || !host.isWatched) return
    const isKnown = asked?.peer === target && (!knowledge.isUnsure || asked.fence === knowledge.latest)
    if (isKnown) return
    this.isAsking = true
    this.asked = { peer: target, fence: knowledge.latest }
    host.turns.afterwards(() => host.runtime.background(this.ask(target)))
  }

  private async ask(peer: number): Promise<void> {
    const { runtime, turns, address, placeOf, member } = this.host
    const { lock, id: from, address: own } = address
    const { generation } = member.engine.birth
    const watch = { from, generation, ...(own !== undefined && { address: own }) }
    const request: PeerRequest = { type: 'who', fence: this.knowledge.latest, watch }
    const place = placeOf(peer)
    const answered = place === null ? null : runtime.peers.ask(lock, place, request, PEER_TIME_LIMIT_MS)
    const answer = await answered?.catch(() => null)
    turns.run(() => {
      this.isAsking = false
      if (!this.host.isWatched) return
      // Of a lock that was deleted meanwhile; those that watch the next one want to know, too.
      const isOfBefore = generation !== this.host.member.engine.birth.generation
      if (answer?.type === 'holder' && !isOfBefore) this.take(peer, answer)
      else this.hint = null
      this.askIfDue()
    })
  }

  private take(peer: number, answer: Extract<PeerAnswer, { type: 'holder' }>): void {
    // An earlier version says no more than who it is.
    const proper = sightingIn({ holder: answer.holder, over: answer.over ?? -1 })
    if (proper === null) return
    this.knowledge.see(proper)
    this.host.tell()
    const { owner } = answer
    const isElsewhere = typeof owner === 'number' && owner !== peer && owner !== this.host.address.id
    const of = this.host.member.view.owner
    if (!isElsewhere || of === null || this.redirects >= MOST_REDIRECTS) return
    this.redirects++
    this.hint = { of, owner }
  }
}

/** `null`: it is none, whoever sent it. */
function sightingIn({ holder, over }: Sighting): Sighting | null {
  if (!Number.isSafeInteger(over)) return null
  if (holder === null || holder === undefined) return { holder: null, over }
  const { participant, fence, since, expiresAt } = holder as Partial<HolderStatus>
  const isProper = Number.isSafeInteger(participant) && Number.isSafeInteger(fence)
  return isProper && typeof since === 'string' && typeof expiresAt === 'string' ? { holder, over } : null
}
