/**
 * The locks of a run. Some are busy, each with several clients, and retire after a while; new ones are born
 * all the time, also by two clients at once with different wishes; and some are used once before the first
 * fault and left alone until the end.
 */
import { BatonError, type LockOptions } from '../../client/index.ts'
import { sleep } from '../service/eventually.ts'
import { Random } from '../simulator/random.ts'
import { clientAt, operate } from './clients.ts'
import { type Machines, ROUTER } from './machines.ts'
import { Recorder } from './record.ts'

export class ChaosLock {
  readonly name: string
  readonly recorder: Recorder
  /** What a `PUT` was told to be the lock's configuration. */
  readonly configured: LockOptions[] = []
  acknowledged = 0
  lastActivityAt = Date.now()
  lastProgressAt = Date.now()
  isBusy = true

  /**
   * Since when nothing can have happened to it any more. An operation in doubt may still be on its way: then
   * there is no such time.
   */
  get quietSince(): number {
    const isInDoubt = [...this.recorder.operations.values()].some(({ told }) => told === 'in-doubt')
    return this.isBusy || isInDoubt ? Number.POSITIVE_INFINITY : this.lastActivityAt
  }

  constructor(name: string) {
    this.name = name
    this.recorder = new Recorder(name)
  }
}

const BUSY_AT_ONCE = 3
const CLIENTS_OF_A_BUSY_LOCK = 3
const BUSY_MS = { least: 8_000, most: 25_000 }
const MAX_OPERATIONS = 250
const BIRTH_EVERY_MS = { least: 500, most: 2_500 }
const IDLE_FROM_THE_START = 5

export class Population {
  readonly locks: ChaosLock[] = []
  longestStallMs = 0
  /** Called when a lock has become idle. */
  onRetired: (lock: ChaosLock) => void = () => {}
  private readonly machines: Machines
  private readonly seed: number
  private readonly running: Promise<void>[] = []
  private streams = 100
  private isOver = false

  constructor(machines: Machines, seed: number) {
    this.machines = machines
    this.seed = seed
  }

  get busy(): ChaosLock[] {
    return this.locks.filter(({ isBusy }) => isBusy)
  }

  /** Something may still happen to these. */
  get restless(): ChaosLock[] {
    return this.locks.filter(({ quietSince }) => quietSince === Number.POSITIVE_INFINITY)
  }

  get acknowledged(): number {
    return this.locks.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  }

  /** Used once, while everything is well. */
  async createIdle(): Promise<void> {
    const random = this.stream()
    const all = Array.from({ length: IDLE_FROM_THE_START }, (_, index) => this.add(`idle-${index + 1}`))
    for (const [index, lock] of all.entries()) {
      if (index % 2 === 0) await this.configure(lock, random)
      for (let count = 1; count <= 3; count++) await this.use(lock, `${lock.name}/${count}`, random)
      this.retire(lock)
    }
  }

  start(): void {
    for (let slot = 1; slot <= BUSY_AT_ONCE; slot++) this.running.push(this.keepBusy(slot))
    this.running.push(this.giveBirths())
  }

  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.running)
  }

  /** Time in which no majority was there is nobody's stall. */
  forgiveStalls(): void {
    for (const lock of this.busy) lock.lastProgressAt = Date.now()
  }

  /** One more operation on a lock, by whichever way, recorded like all others. */
  async use(lock: ChaosLock, opId: string, random: Random): Promise<boolean> {
    lock.lastActivityAt = Date.now()
    const { told } = await operate(this.machines, lock.recorder, opId, random, () => this.isOver)
    lock.lastActivityAt = Date.now()
    if (told !== 'acknowledged') return false
    lock.acknowledged++
    this.noteStall(lock)
    lock.lastProgressAt = Date.now()
    return true
  }

  stream(): Random {
    return new Random(this.seed, this.streams++)
  }

  private async keepBusy(slot: number): Promise<void> {
    const random = this.stream()
    for (let generation = 1; !this.isOver; generation++) {
      const lock = this.add(`busy-${slot}-${generation}`)
      if (random.chance(0.5)) await this.configure(lock, random)
      const until = Date.now() + random.between(BUSY_MS.least, BUSY_MS.most)
      const clients = Array.from({ length: CLIENTS_OF_A_BUSY_LOCK }, (_, index) =>
        this.client(lock, `client${index + 1}`, until),
      )
      await Promise.all(clients)
      this.retire(lock)
    }
  }

  private async client(lock: ChaosLock, name: string, until: number): Promise<void> {
    const random = this.stream()
    lock.lastProgressAt = Date.now()
    for (let round = 1; !this.isOver && Date.now() < until; round++) {
      if (lock.recorder.operations.size >= MAX_OPERATIONS) return
      await this.use(lock, `${lock.name}/${name}/${round}`, random)
      await sleep(random.between(5, 150))
    }
  }

  /** Two clients that come at the same time, at different places, perhaps with different wishes. */
  private async giveBirths(): Promise<void> {
    const random = this.stream()
    for (let number = 1; !this.isOver; number++) {
      const lock = this.add(`born-${number}`)
      const wishes = [random.chance(0.3), random.chance(0.3)]
      await Promise.all(
        wishes.map(async (configures, index) => {
          const own = this.stream()
          if (configures) await this.configure(lock, own)
          await this.use(lock, `${lock.name}/${index + 1}`, own)
        }),
      )
      this.retire(lock)
      await sleep(random.between(BIRTH_EVERY_MS.least, BIRTH_EVERY_MS.most))
    }
  }

  private async configure(lock: ChaosLock, random: Random): Promise<void> {
    const options: LockOptions = {
      protocol: random.pick(['wme-1', 'wme-2'] as const),
      ttlMs: random.pick([5_000, 30_000]),
      // Suspicions come quickly, also wrong ones: those are welcome here.
      ...(random.chance(0.5) && { detector: { heartbeatMs: 100, timeoutMs: random.pick([500, 1_500]) } }),
    }
    const entry = random.chance(0.5) ? ROUTER : random.pick(this.machines.ids)
    try {
      await clientAt(this.machines, entry, lock.name).configure(options)
      lock.configured.push(options)
    } catch (error) {
      if (!(error instanceof BatonError)) throw error
    }
  }

  private add(name: string): ChaosLock {
    const lock = new ChaosLock(name)
    this.locks.push(lock)
    return lock
  }

  /** An idle lock owes nobody progress. */
  private noteStall(lock: ChaosLock): void {
    if (lock.isBusy) this.longestStallMs = Math.max(this.longestStallMs, Date.now() - lock.lastProgressAt)
  }

  private retire(lock: ChaosLock): void {
    this.noteStall(lock)
    lock.isBusy = false
    this.onRetired(lock)
  }
}
