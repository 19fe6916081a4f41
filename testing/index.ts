/**
 * Baton for the tests of those who use it: the whole service on this machine, each participant a process of
 * its own that can be killed, cut off and brought back, and a time that passes as fast as a test wants. See
 * docs/testing.md.
 *
 * @example
 * const baton = await startBaton()
 * const lock = baton.client().lock('orders')
 * const held = await lock.acquire({ ttlMs: 30_000 })
 * await baton.kill(held.grant.participant)
 * await lock.transact([{ increment: 'sold' }])
 * await baton.stop()
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Baton, type BatonOptions, createBaton } from '../client/index.ts'
import { LocalCluster } from '../worker/local/cluster.ts'
import { serviceScript } from '../worker/local/service-script.ts'
import { MovedClock } from './clock.ts'

export interface TestOptions {
  /** How many participants each lock has, from 1 to 13. Default: 3. */
  readonly participants?: number
  /** Of locks that nobody configures. Default: `wme-2`. */
  readonly protocol?: string
  /** More variables of the service, such as `BATON_EVENTS_KEPT`. */
  readonly variables?: { readonly [name: string]: string }
  /** What the processes print goes here, line by line. Default: nowhere. */
  readonly onOutput?: (line: string) => void
}

/**
 * Starts the service with no lock in it. It needs the package `workerd`, which wrangler and miniflare bring.
 */
export async function startBaton(options: TestOptions = {}): Promise<TestBaton> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-testing-'))
  const { participants = 3, ...rest } = options
  const script = await serviceScript('testing')
  const cluster = await LocalCluster.start({ ...rest, participants, script, storage: folder }).catch(
    async (error: unknown) => {
      await rm(folder, { recursive: true, force: true })
      throw error
    },
  )
  return new TestBaton(cluster, folder)
}

/**
 * Participants hear of each other often enough in so short a time: nobody is suspected only because time was
 * moved.
 */
const STEP_MS = 500
/** Meanwhile what a step has set off arrives. */
const STEP_PAUSE_MS = 10

export class TestBaton implements AsyncDisposable {
  readonly #cluster: LocalCluster
  readonly #folder: string
  readonly #clock = new MovedClock()
  readonly #dead = new Set<number>()
  readonly #cut = new Set<number>()

  /** Made by `startBaton`. */
  constructor(cluster: LocalCluster, folder: string) {
    this.#cluster = cluster
    this.#folder = folder
  }

  /** Where the service is. It is open: no key is needed. */
  get url(): string {
    return this.#cluster.url
  }

  /** For Miniflare: `serviceBindings: { BATON: baton.binding }`. */
  get binding(): { readonly external: { readonly address: string; readonly http: Record<never, never> } } {
    return { external: { address: `127.0.0.1:${this.#cluster.router.port}`, http: {} } }
  }

  /** For a client of one's own that is to live in the same time: `createBaton({ url, clock })`. */
  get clock(): MovedClock {
    return this.#clock
  }

  /** A client whose time passes with that of the service. */
  client(options: Omit<BatonOptions, 'url' | 'binding' | 'fetch'> = {}): Baton {
    return createBaton({ url: this.url, clock: this.#clock, ...options } as BatonOptions)
  }

  /** Time passes for the service and for its clients: by this many milliseconds, in much less. */
  async advance(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      this.#clock.move(Math.min(leftMs, STEP_MS))
      await this.#setAll()
      await new Promise(resolve => setTimeout(resolve, STEP_PAUSE_MS))
    }
  }

  /** The process of a participant ends at once, as if its machine lost power. What it has stored stays. */
  async kill(participant: number): Promise<void> {
    this.#check(participant)
    if (this.#dead.has(participant)) return
    this.#dead.add(participant)
    await this.#cluster.kill(participant)
  }

  /** A participant goes on, but nothing reaches it and nothing leaves it. */
  async cut(participant: number): Promise<void> {
    this.#check(participant)
    this.#cut.add(participant)
    await this.#set(participant)
  }

  /** A participant that was killed or cut off comes back, with its storage. */
  async restore(participant: number): Promise<void> {
    this.#check(participant)
    this.#cut.delete(participant)
    if (this.#dead.has(participant)) await this.#cluster.restart(participant)
    this.#dead.delete(participant)
    await this.#set(participant)
  }

  /** Ends all processes and removes what they have stored. */
  async stop(): Promise<void> {
    await this.#cluster.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #check(participant: number): void {
    const { participants } = this.#cluster
    if (Number.isInteger(participant) && participant >= 1 && participant <= participants) return
    throw new RangeError(`there is no participant ${participant}: they are 1 to ${participants}`)
  }

  async #setAll(): Promise<void> {
    const participants = Array.from({ length: this.#cluster.participants }, (_, index) => index + 1)
    await Promise.all([this.#tell(this.url, false), ...participants.map(id => this.#set(id))])
  }

  async #set(participant: number): Promise<void> {
    if (this.#dead.has(participant)) return
    await this.#tell(this.#cluster.member(participant).url, this.#cut.has(participant))
  }

  async #tell(url: string, isCut: boolean): Promise<void> {
    const body = JSON.stringify({ offsetMs: this.#clock.offsetMs, isCut })
    const response = await fetch(`${url}/testing/set`, { method: 'POST', body })
    if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  }
}
