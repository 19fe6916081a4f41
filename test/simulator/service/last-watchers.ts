/**
 * When everything is mended, a lock is watched at each of its participants that is there, while somebody
 * holds it, does nothing and leaves. Every watcher hears of that holder, and in the end that nobody holds
 * the lock.
 */
import { BatonError, NotFoundError, type WatchEvent } from '../../../client/index.ts'
import { isMemberOf } from './losses.ts'
import { MOVING } from './plan-moves.ts'
import type { SimClient } from './sim-client.ts'

const LOOK_EVERY_MS = 200
/** After this long, a lock that was not there is looked for again. */
const BORN_MS = 1_000

/** What somebody holds, as the library gives it. */
interface Held {
  readonly fence: number
  readonly signal: AbortSignal
}

interface LastWatcher {
  /** The participant that it watches. */
  readonly at: number
  /** The fence of the last holder that its present watch was told; `null`: nobody. */
  last: number | null
  isOver: boolean
}

export class LastWatchers {
  readonly #client: SimClient
  readonly #lock: string
  readonly #end = new AbortController()
  readonly #watchers: LastWatcher[]

  constructor(client: SimClient, lock: string) {
    this.#client = client
    this.#lock = lock
    const { plan, sites } = client.world
    // With one that is gone, or cut off, the others may have to wait for it. And one that was removed may
    // have heard no more of it than a hint: it is still watched, and hears nothing.
    const ids = plan.broken.length > 0 || lock === MOVING ? [] : sites.slice(1).map(site => site.index)
    this.#watchers = ids.map(at => {
      const watcher: LastWatcher = { at, last: null, isOver: false }
      void this.#watch(watcher)
      return watcher
    })
  }

  /** Unless the holder loses the lock. */
  async hear({ fence, signal }: Held): Promise<void> {
    await this.#until(({ last }) => signal.aborted || (last ?? -1) >= fence)
  }

  async hearOfNobody(): Promise<void> {
    await this.#until(({ last }) => last === null)
  }

  end(): void {
    this.#end.abort()
  }

  async #until(isTold: (watcher: LastWatcher) => boolean): Promise<void> {
    const isDone = (watcher: LastWatcher) => watcher.isOver || isTold(watcher) || !this.#isMember(watcher.at)
    while (!this.#watchers.every(isDone)) await this.#client.sleep(LOOK_EVERY_MS)
  }

  /**
   * One that was not taken back (yet) has nothing to tell. Nor has one that began with the defaults, and has
   * not heard that the lock was configured without it.
   */
  #isMember(at: number): boolean {
    const { objects, losses } = this.#client.world
    const object = [...objects.values()].find(one => one.lock === this.#lock && one.participant === at)
    const { participants = [] } = losses.configurationOf(this.#lock) ?? {}
    return isMemberOf(object) && participants.some(({ id }) => id === at)
  }

  /**
   * Where the lock is not, or guards nothing, there is nothing to watch. It may not be born yet, or it may be
   * deleted: then the watch is over without another word of its holder, and the next one, which begins anew
   * and does not resume, hears of nobody only after it has heard of somebody.
   */
  async #watch(watcher: LastWatcher): Promise<void> {
    const { at } = watcher
    const { world, name } = this.#client
    const { signal } = this.#end
    const by = `${name}, watching last at ${at}`
    while (!signal.aborted && !watcher.isOver) {
      try {
        const lock = this.#client.connect().lock(this.#lock)
        watcher.last = null
        for await (const event of lock.watch({ at, signal })) this.#note(by, watcher, event)
      } catch (error) {
        watcher.isOver = !(error instanceof NotFoundError)
        if (!(error instanceof BatonError)) world.fail(error)
        await this.#client.sleep(BORN_MS)
      }
    }
  }

  #note(by: string, watcher: LastWatcher, event: WatchEvent): void {
    const { journal } = this.#client.world
    if (event.type !== 'holder') return
    watcher.last = event.participant === null ? null : event.fence
    journal.watchHolder(this.#lock, by, event)
  }
}
