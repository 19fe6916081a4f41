/**
 * Follows one lock as long as somebody looks at it: asks for its status and its metrics now and then, and
 * listens to its watch. A page that nobody sees asks nothing, because asking keeps a lock awake.
 */
import { NotFoundError, NotSupportedError } from '../../client/errors.ts'
import type { Lock } from '../../client/lock.ts'
import type { Entry } from '../../client/types.ts'
import { KEYS_KEPT } from './cells.ts'
import type { LockMetrics } from './metrics.ts'
import type { Service } from './service.ts'
import { LockStory } from './story.ts'

const STATUS_EVERY_MS = 1_500
const METRICS_EVERY_MS = 4_000
/** After news, the next status comes sooner; but no sooner than this. */
const SOON_MS = 300
const AGAIN_MS = 3_000

export class Follower {
  readonly story: LockStory
  metrics: LockMetrics | null = null
  /** What the last status was refused with. */
  problem: unknown = null
  /** There is no such lock, as far as anybody knows. */
  isAbsent = false
  readonly #service: Service
  readonly #lock: Lock
  readonly #onChange: () => void
  readonly #end = new AbortController()
  #isRefreshing = false
  #isWanted = false

  constructor(service: Service, name: string, onChange: () => void) {
    this.#service = service
    this.#lock = service.baton.lock(name)
    this.story = new LockStory(name)
    this.#onChange = onChange
    void this.#repeat(STATUS_EVERY_MS, () => this.#readStatus())
    void this.#repeat(METRICS_EVERY_MS, () => this.#readMetrics())
    void this.#listen()
  }

  stop(): void {
    this.#end.abort()
  }

  /** Something has happened: ask for the status soon, and again if more happens meanwhile. */
  refresh(): void {
    this.#isWanted = true
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    void (async () => {
      while (this.#isWanted && !this.#end.signal.aborted) {
        this.#isWanted = false
        await this.#readStatus()
        await sleep(SOON_MS)
      }
      this.#isRefreshing = false
    })()
  }

  async #repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    while (!this.#end.signal.aborted) {
      if (!document.hidden) await work()
      await sleep(everyMs)
    }
  }

  async #readStatus(): Promise<void> {
    try {
      const status = await this.#lock.status({ signal: this.#end.signal })
      this.story.onStatus(status, this.#service.now())
      this.problem = null
      this.isAbsent = false
      // What is counted from now on is news.
      if (this.metrics === null) void this.#readMetrics()
    } catch (error) {
      if (this.#end.signal.aborted) return
      this.isAbsent = error instanceof NotFoundError
      if (this.isAbsent) this.story.onAbsence()
      this.problem = this.isAbsent ? null : error
    }
    this.#onChange()
  }

  async #readMetrics(): Promise<void> {
    // A lock that does not exist has none, and asking for them would be refused.
    if (this.story.status === null) return
    const { signal } = this.#end
    const metrics = await this.#service.metricsOf(this.#lock.name, signal).catch(() => null)
    if (metrics === null) return
    this.metrics = metrics
    this.story.onEjections(metrics.ejections, this.#service.now())
    this.#onChange()
  }

  // ---------------------------------------------------------------- the watch

  /** The state as it is, and then each change of it; from the beginning again if that ends. */
  async #listen(): Promise<void> {
    const { signal } = this.#end
    while (!signal.aborted) {
      try {
        if (this.story.status !== null) {
          const since = await this.#readState()
          await this.#watch(since)
        }
      } catch (error) {
        // A lock that guards no state has no watch either. Other refusals are those of the status too.
        if (error instanceof NotSupportedError) return
      }
      await sleep(this.story.status === null ? SOON_MS : AGAIN_MS)
    }
  }

  async #readState(): Promise<number> {
    const entries: Entry[] = []
    const { signal } = this.#end
    let page = await this.#lock.list({ limit: KEYS_KEPT, signal })
    const { sequence } = page
    entries.push(...page.entries)
    while (page.cursor !== null && entries.length < KEYS_KEPT) {
      page = await this.#lock.list({ limit: KEYS_KEPT, cursor: page.cursor, signal })
      entries.push(...page.entries)
    }
    this.story.onState(entries)
    this.#onChange()
    return sequence
  }

  async #watch(since: number): Promise<void> {
    for await (const event of this.#lock.watch({ since, signal: this.#end.signal })) {
      this.story.onEvent(event, this.#service.now())
      if (event.type === 'holder') this.refresh()
      this.#onChange()
    }
  }
}

const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
