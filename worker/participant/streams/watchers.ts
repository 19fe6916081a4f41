/**
 * `watch`: Server-Sent Events of one participant, see api.md. A slow reader is dropped, not buffered without
 * end.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import { snapshotEvent } from '../calls/reading.ts'
import { guardsNothing, tooMany } from '../calls/refusals.ts'
import type { ParticipantAnswer } from '../calls.ts'
import type { EventLog, WatchEvent } from '../core/event-log.ts'
import type { Member, StepReport } from '../core/member.ts'
import type { Timers } from '../core/timers.ts'
import type { Turns } from '../core/turns.ts'
import type { Runtime, Sink } from '../runtime.ts'

const KEEP_OPEN_MS = 15_000

export interface WatchersHost {
  readonly runtime: Runtime
  readonly turns: Turns
  readonly timers: Timers
  readonly events: EventLog
  readonly member: Member
}

export class Watchers {
  private readonly host: WatchersHost
  /**
   * Each with as much as it may have unread: what it was given at first takes as long to read as it takes.
   */
  private readonly sinks = new Map<Sink, number>()

  constructor(host: WatchersHost) {
    this.host = host
  }

  get size(): number {
    return this.sinks.size
  }

  /**
   * `null`: what there is to tell goes to the sink from now on. `since`: it has seen everything up to there.
   */
  open(since: number | null, sink: Sink): ParticipantAnswer | null {
    const { member, turns } = this.host
    if (member.guarded === null) return guardsNothing
    if (this.size >= API_LIMITS.watchersPerParticipant)
      return tooMany('Too many watch this lock at this participant.')
    if (this.size === 0) this.keepOpenLater()
    const past = since === null ? [] : (this.host.events.changesAfter(since) ?? [this.snapshot()])
    this.sinks.set(sink, Number.POSITIVE_INFINITY)
    turns.afterwards(() => {
      sink.write(': baton\n\n')
      for (const event of past) sink.write(format(event))
      this.sinks.set(sink, sink.unreadBytes() + API_LIMITS.unreadBytes)
    })
    return null
  }

  /** The watcher has gone. */
  close(sink: Sink): void {
    this.sinks.delete(sink)
  }

  /** What the participant has told so far is not what it will tell: its watchers resume with a snapshot. */
  failAll(): void {
    const sinks = [...this.sinks.keys()]
    this.sinks.clear()
    this.host.turns.afterwards(() => {
      for (const sink of sinks) sink.fail('this participant begins anew')
    })
  }

  onStep({ emitted, changes }: StepReport): void {
    if (this.size === 0) return
    const isRestored = emitted.some(event => event.type === 'restored')
    for (const event of isRestored ? [this.snapshot()] : changes) this.tell(format(event))
  }

  private snapshot(): WatchEvent {
    const { replica, committed } = this.host.member.guarded!
    return snapshotEvent(replica.cells, committed)
  }

  private keepOpenLater(): void {
    const { timers, runtime } = this.host
    timers.set(runtime.now() + KEEP_OPEN_MS, () => {
      this.tell(': still here\n\n')
      if (this.size > 0) this.keepOpenLater()
    })
  }

  private tell(text: string): void {
    this.host.turns.afterwards(() => {
      for (const [sink, mostUnread] of this.sinks) {
        if (sink.unreadBytes() < mostUnread) sink.write(text)
        else {
          this.sinks.delete(sink)
          sink.fail('the reader is too slow')
        }
      }
    })
  }
}

function format({ event, sequence, data }: WatchEvent): string {
  return `id: ${sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
