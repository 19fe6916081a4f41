/** One simulated participant: its storage outlives crashes, everything else does not. */
import type { Json } from '../../shared/json.ts'
import type { Context, DurableRecord, ParticipantId } from '../../shared/protocols/protocol.ts'
import type { SimEvent } from './sim-event.ts'

/**
 * One timer of one process. A timer that is moved to a later time keeps its event in the queue; when that
 * comes, it is put back for the later time.
 */
export interface TimerSlot {
  readonly name: string
  isSet: boolean
  deadline: number
  /** When the event that is in the queue will come; Infinity if none is. */
  queuedFor: number
}

export class Participant<State, Message> {
  readonly id: ParticipantId
  readonly context: Context
  /** What the process has saved. What it saved with `mayWait` may not be on the disk yet. */
  readonly storage = new Map<string, Json>()
  /** What the disk has of the records that wait; `undefined`: nothing. A crash brings it back. */
  readonly overwritten = new Map<string, Json | undefined>()
  /** The state of the running process. After a crash it is kept for inspection until the next start. */
  state: State
  isUp = false
  isPaused = false
  /** What arrived while it was paused. */
  readonly inbox: SimEvent<Message>[] = []
  timers = new Map<string, TimerSlot>()
  /** Higher at each start than at the one before. */
  incarnation = 0
  /** Its storage was lost at least once. */
  wasWiped = false
  /** It is switched off for good. */
  isOff = false
  /** How often a crash has taken something that was saved and not written yet. */
  fallBacks = 0
  /** What was planned for a process must not touch its successor after a crash or restart. */
  process = 0
  rate: number
  offsetMs: number

  constructor(context: Context, state: State, rate: number, offsetMs: number) {
    this.id = context.config.self
    this.context = context
    this.state = state
    this.rate = rate
    this.offsetMs = offsetMs
  }

  /** Its own clock, in whole milliseconds. */
  clock(now: number): number {
    return Math.floor(this.offsetMs + now * this.rate)
  }

  save(records: readonly DurableRecord[], mayWait: boolean): void {
    for (const { key, value } of records) {
      if (mayWait && !this.overwritten.has(key)) this.overwritten.set(key, this.storage.get(key))
      if (value === null) this.storage.delete(key)
      else this.storage.set(key, value)
    }
    if (!mayWait) this.overwritten.clear()
  }

  /** The process is gone before what waits was written. Returns whether that was anything. */
  loseWaiting(): boolean {
    for (const [key, value] of this.overwritten) {
      if (value === undefined) this.storage.delete(key)
      else this.storage.set(key, value)
    }
    const hasLost = this.overwritten.size > 0
    this.overwritten.clear()
    return hasLost
  }

  get timersSet(): number {
    let set = 0
    for (const slot of this.timers.values()) if (slot.isSet) set++
    return set
  }

  isTimerSet(name: string): boolean {
    return this.timers.get(name)?.isSet === true
  }
}
