/**
 * The one alarm of an object. It survives its instances and comes at least once: one whose handler failed, or
 * was not durable, comes again, a few times. It may come early, late or twice.
 */
import type { Random } from '../random.ts'
import type { Timer } from './loop.ts'
import type { SimObject } from './sim-object.ts'

const RETRY_MS = 2_000
const MAX_RETRIES = 6
const MAX_LATE_MS = 15_000
const MAX_EARLY_MS = 2_000
const TWICE_WITHIN_MS = 50

export class SimAlarm {
  readonly #object: SimObject
  readonly #random: Random
  #timer: Timer | null = null
  #retries = 0

  constructor(object: SimObject, random: Random) {
    this.#object = object
    this.#random = random
  }

  /** One that is set anew is not the one that failed. */
  isSetAnew(): void {
    this.#retries = 0
    this.arm()
  }

  /** An alarm that was set before the clock was set back comes when the clock says so: an hour later. */
  arm(): void {
    const { disk, site, world, name } = this.#object
    this.#timer?.cancel()
    if (this.#retries > MAX_RETRIES) {
      disk.dropAlarm()
      this.#retries = 0
    }
    const { alarmAt } = disk
    if (alarmAt === null) return
    const retryMs = this.#retries === 0 ? 0 : RETRY_MS * 2 ** (this.#retries - 1)
    let delayMs = Math.max(retryMs, alarmAt - site.now)
    let isEarly = false
    if (site.alarms === 'late') {
      world.counts.alarmsLate++
      delayMs += this.#random.fraction() * MAX_LATE_MS
    } else if (site.alarms === 'early' && delayMs > retryMs) {
      world.counts.alarmsEarly++
      isEarly = true
      delayMs = Math.max(0, delayMs - this.#random.fraction() * MAX_EARLY_MS)
    }
    world.detail(name, () => `alarm in ${delayMs.toFixed(2)} ms`)
    const ring = (): void => (isEarly || site.now >= alarmAt ? this.#ring() : this.arm())
    this.#timer = world.loop.after(delayMs, () => site.receive(ring))
  }

  #ring(): void {
    const { world, site } = this.#object
    world.counts.alarms++
    if (site.alarms === 'twice') {
      world.counts.alarmsTwice++
      const againMs = this.#random.fraction() * TWICE_WITHIN_MS
      world.loop.after(againMs, () => site.receive(() => this.#handle()))
    }
    this.#handle()
  }

  #handle(): void {
    const object = this.#object
    object.world.detail(object.name, () => 'alarm')
    const retry = (): void => {
      object.world.counts.alarmsRetried++
      this.#retries++
    }
    try {
      const { runtime, entries } = object.wake()
      // It is no longer set, unless the handler sets it again.
      object.disk.setAlarm(null)
      runtime.noteWrite()
      runtime.waiting.add(retry)
      const done = (): void => {
        runtime.waiting.delete(retry)
        this.#retries = 0
      }
      entries.alarm().then(
        () => runtime.output(done),
        error => runtime.escaped(error),
      )
    } catch (error) {
      object.world.wakeFailed(object, error)
      retry()
      this.arm()
    }
  }
}
