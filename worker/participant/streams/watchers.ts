/**
 * `watch`: Server-Sent Events of one participant, see api.md. A watcher gets events as they happen. One that
 * resumes, and one for which there is no room, is behind: whenever it has read what it was given, and there
 * is room, it gets the next page from storage, until it has caught up (replay.ts). What all watchers together
 * have not read yet is bounded; a watcher that reads nothing is dropped.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import { guardsNothing, tooMany } from '../calls/refusals.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { bytesOf } from '../core/bytes.ts'
import type { EventLog, WatchEvent } from '../core/event-log.ts'
import { isWholeState, type Member, type StepReport } from '../core/member.ts'
import { Ticks } from '../core/ticks.ts'
import type { Timers } from '../core/timers.ts'
import type { Turns } from '../core/turns.ts'
import type { Runtime, Sink } from '../runtime.ts'
import { type HolderKnowledge, nextHolderEvent, noteTold, toldSince } from './holder-knowledge.ts'
import { type Behind, type Frozen, format, freeze, nextPage, type Page, snapshotPage } from './replay.ts'
import { isReading, isWaiting, type Watcher } from './watcher.ts'

const KEEP_OPEN_MS = 15_000
/** A watcher that has read nothing of what waits for it for this many ticks is dropped. */
const STALLED_TICKS = 2
const TOO_SLOW = 'the reader is too slow'

export interface WatchersHost {
  readonly runtime: Runtime
  readonly turns: Turns
  readonly timers: Timers
  readonly events: EventLog
  readonly member: Member
  /** Whether this sequence may be of a lock of this name that was deleted. */
  isOfBefore(sequence: number): boolean
  /** Whether an export is read from the state as it was. */
  isExported(): boolean
  /** Who holds the lock, as far as that is known here. */
  readonly knowledge: HolderKnowledge
  /** The first watcher has come. */
  onFirst(): void
  /** Now and then, as long as there are watchers. */
  onTick(): void
}

export class Watchers {
  private readonly host: WatchersHost
  private readonly watchers = new Map<Sink, Watcher>()
  /** What those who are not behind have been told. */
  private toldThrough = 0
  private frozen: Frozen | null = null
  private readonly ticks: Ticks

  constructor(host: WatchersHost) {
    this.host = host
    const { timers, runtime } = host
    this.ticks = new Ticks({
      ...{ timers, everyMs: KEEP_OPEN_MS },
      now: () => runtime.now(),
      tick: () => this.tick(),
    })
  }

  get size(): number {
    return this.watchers.size
  }

  /**
   * `null`: what there is to tell goes to the sink from now on. `since`: it has seen everything up to there.
   */
  open(since: number | null, sink: Sink): ParticipantAnswer | null {
    const { member, turns } = this.host
    if (member.guarded === null) return guardsNothing
    if (this.size >= API_LIMITS.watchersPerParticipant)
      return tooMany('Too many watch this lock at this participant.')
    const isFirst = this.size === 0
    if (isFirst) this.toldThrough = member.guarded.committed
    const behind: Behind | null = since === null ? null : this.placeAfter(since)
    const holder = toldSince(since)
    this.watchers.set(sink, {
      ...{ sink, behind, pagedThrough: -1, holder },
      ...{ isDrained: true, unread: 0, stalledTicks: 0 },
    })
    turns.afterwards(() => this.watchers.has(sink) && sink.write(': baton\n\n'))
    if (isFirst) {
      this.ticks.begin()
      this.host.onFirst()
    }
    this.serve()
    this.tellHolder()
    return null
  }

  private placeAfter(since: number): Behind {
    return this.host.isOfBefore(since) ? { type: 'stale' } : { type: 'changes', since, afterStep: 0 }
  }

  /** The watcher has gone. */
  close(sink: Sink): void {
    this.watchers.delete(sink)
    this.thaw()
  }

  /** The watcher has read everything that it was given. Returns `true` if a watcher must be served. */
  drained(sink: Sink): boolean {
    const watcher = this.watchers.get(sink)
    if (watcher !== undefined) watcher.isDrained = true
    for (const one of this.watchers.values()) if (isWaiting(one)) return true
    return false
  }

  /** A watcher that is behind and waits for a page gets it, as long as there is room. */
  serve(): void {
    this.host.turns.afterwards(() => {
      let free = this.free()
      for (const watcher of this.watchers.values()) {
        if (free > 0 && isWaiting(watcher)) free -= this.give(watcher)
      }
      this.thaw()
    })
  }

  /**
   * What the participant has reported so far does not lead to what it will report: its watchers resume with a
   * snapshot.
   */
  failAll(reason = 'this participant begins anew'): void {
    const sinks = [...this.watchers.keys()]
    this.watchers.clear()
    this.thaw()
    this.host.turns.afterwards(() => {
      for (const sink of sinks) sink.fail(reason)
    })
  }

  onStep({ emitted, changes }: StepReport): void {
    if (this.size === 0) return
    if (emitted.some(isWholeState)) {
      for (const watcher of this.watchers.values()) this.fallBehind(watcher, this.toldThrough)
      this.serve()
    } else for (const event of changes) this.tell(event)
    this.toldThrough = this.host.member.guarded!.committed
  }

  // ---------------------------------------------------------------- as it happens

  private tell(event: WatchEvent): void {
    const text = format(event)
    const bytes = bytesOf(text)
    const { toldThrough } = this
    this.toldThrough = event.sequence
    // A watcher that is behind by now will find this event in storage.
    const live = [...this.watchers.values()].filter(({ behind }) => behind === null)
    this.host.turns.afterwards(() => {
      let free = this.free()
      for (const watcher of live) {
        const { sink, behind } = watcher
        // An event of the same turn may have dropped it, or left it behind.
        if (behind !== null || !this.watchers.has(sink) || event.sequence <= watcher.pagedThrough) continue
        if (sink.unreadBytes() >= API_LIMITS.unreadBytes) this.drop(watcher)
        else if (bytes > free) this.fallBehind(watcher, toldThrough)
        else if (event.event !== 'holder' || noteTold(watcher.holder, event.data)) {
          sink.write(text)
          free -= bytes
        }
      }
      for (const watcher of this.watchers.values()) {
        if (free > 0 && isWaiting(watcher)) free -= this.give(watcher)
      }
      this.thaw()
    })
  }

  /** Each watcher that is not behind is told what is known of the holder, and was not told to it yet. */
  tellHolder(): void {
    this.host.turns.afterwards(() => {
      let free = this.free()
      for (const watcher of this.watchers.values())
        if (free > 0 && watcher.behind === null) free -= this.giveHolder(watcher)
    })
  }

  /** A watcher for which there is no room gets it later. Returns the bytes of it. */
  private giveHolder(watcher: Watcher): number {
    const next = nextHolderEvent(watcher.holder, this.host.knowledge, this.toldThrough)
    if (next === null) return 0
    watcher.holder = next.told
    watcher.sink.write(next.text)
    return bytesOf(next.text)
  }

  /** How much may still be given to all of them together. */
  private free(): number {
    let free: number = API_LIMITS.unreadWatchersBytes
    for (const { sink } of this.watchers.values()) free -= sink.unreadBytes()
    return free
  }

  private tick(): boolean {
    if (this.size === 0) return false
    this.host.turns.afterwards(() => {
      for (const watcher of this.watchers.values()) this.keepOpen(watcher)
    })
    this.serve()
    this.tellHolder()
    this.host.onTick()
    return true
  }

  private keepOpen(watcher: Watcher): void {
    const { sink, behind } = watcher
    const unread = sink.unreadBytes()
    const isStalled = unread > 0 && unread >= watcher.unread
    watcher.stalledTicks = isStalled ? watcher.stalledTicks + 1 : 0
    if (watcher.stalledTicks > STALLED_TICKS) return this.drop(watcher)
    // Between the pages of a snapshot there is no place for a comment: it is one event. Whoever waits for
    // room, or for an export to end, is kept open.
    if (behind?.type !== 'snapshot') sink.write(': still here\n\n')
    watcher.unread = sink.unreadBytes()
  }

  // ---------------------------------------------------------------- behind

  private fallBehind(watcher: Watcher, since: number): void {
    watcher.behind ??= { type: 'changes', since, afterStep: 0 }
    watcher.isDrained = watcher.sink.unreadBytes() === 0
  }

  /** Its next page. Returns the bytes of it. */
  private give(watcher: Watcher): number {
    const { events } = this.host
    const { behind } = watcher
    if (this.isBeyond(behind)) return 0
    const page = nextPage(events, behind!, watcher.holder) ?? this.firstPage(behind?.type === 'stale')
    if (page === null) return 0
    watcher.behind = this.hasAll(page.behind) ? null : page.behind
    if (watcher.behind === null) watcher.pagedThrough = this.host.member.guarded!.committed
    watcher.isDrained = page.text === ''
    if (page.text !== '') watcher.sink.write(page.text)
    return bytesOf(page.text) + (watcher.behind === null ? this.giveHolder(watcher) : 0)
  }

  /**
   * It has seen more elsewhere than there is here so far. Once this participant has caught up, it gets what
   * follows: until then everything here would take it back, also the number of an event about the holder.
   */
  private isBeyond(behind: Behind | null): boolean {
    return behind?.type === 'changes' && behind.since > this.host.member.guarded!.committed
  }

  /** Also where no events are kept from which it would follow. */
  private hasAll(behind: Behind | null): boolean {
    return behind?.type === 'changes' && behind.since >= this.host.member.guarded!.committed
  }

  /**
   * Of the state, as others read it already if what has changed since then is still there. `null`: an export
   * is read from an older one, and there is no room for two.
   */
  private firstPage(isAnew: boolean): Page | null {
    const { events } = this.host
    const isOfUse = this.frozen !== null && events.reaches(this.frozen.sequence)
    if (!isOfUse && this.host.isExported()) return null
    const frozen = isOfUse ? this.frozen! : this.freezeNow()
    return snapshotPage({ type: 'snapshot', frozen, next: 0, ...(isAnew && { isAnew }) })
  }

  /** The state of now. A watcher that reads an older one comes back for this. */
  freezeNow(): Frozen {
    const { replica, committed } = this.host.member.guarded!
    if (this.frozen?.sequence === committed) return this.frozen
    for (const watcher of this.watchers.values()) if (isReading(watcher, this.frozen)) this.drop(watcher)
    this.frozen = freeze(replica.cells, committed)
    return this.frozen
  }

  /** Nobody exports from the state as it was any more. */
  afterExport(): void {
    this.thaw()
    this.serve()
  }

  private thaw(): void {
    if (this.frozen === null || this.host.isExported()) return
    for (const watcher of this.watchers.values()) if (isReading(watcher, this.frozen)) return
    this.frozen = null
  }

  private drop({ sink }: Watcher): void {
    this.watchers.delete(sink)
    sink.fail(TOO_SLOW)
  }
}
