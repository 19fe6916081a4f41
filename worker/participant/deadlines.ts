/**
 * All deadlines of one participant on its one alarm: the protocol's timers, answers that are owed at a certain time,
 * comments to watchers. They live in memory; after an eviction the protocol's `start` sets its own again, and whoever
 * was owed an answer is gone with the connection.
 *
 * The alarm is moved only to an earlier time. One that fires too early finds nothing due and sets the next; one that fires
 * with nothing to come is the last: an idle lock has no alarm.
 */
export interface AlarmStorage {
  setAlarm(at: number): Promise<void>
}

export class Deadlines {
  private readonly storage: AlarmStorage
  private readonly deadlines = new Map<string, number>()
  private alarmAt: number | null = null

  constructor(storage: AlarmStorage) {
    this.storage = storage
  }

  set(name: string, at: number): void {
    this.deadlines.set(name, at)
  }

  cancel(name: string): void {
    this.deadlines.delete(name)
  }

  get names(): string[] {
    return [...this.deadlines.keys()]
  }

  /** The alarm has fired: it is set no more. Returns what is due, earliest first. */
  takeDue(now: number): string[] {
    this.alarmAt = null
    const due = [...this.deadlines].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1])
    for (const [name] of due) this.deadlines.delete(name)
    return due.map(([name]) => name)
  }

  /** At the end of each event. The write is part of the event's transaction and needs no waiting for. */
  arm(now: number): void {
    let first = Number.POSITIVE_INFINITY
    for (const at of this.deadlines.values()) first = Math.min(first, at)
    if (first === Number.POSITIVE_INFINITY) return
    const isSet = this.alarmAt !== null && this.alarmAt > now && this.alarmAt <= first
    if (isSet) return
    this.alarmAt = Math.max(first, now + 1)
    void this.storage.setAlarm(this.alarmAt)
  }
}
