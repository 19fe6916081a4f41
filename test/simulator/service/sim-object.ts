/**
 * A Durable Object: its storage, its sockets and its alarm, which outlive its instances, and the present
 * instance.
 */
import type { Whereabouts } from '../../../worker/directory.ts'
import type { Socket, Sockets } from '../../../worker/participant/runtime.ts'
import { Random } from '../random.ts'
import { Disk, type Group } from './disk.ts'
import type { Entries } from './entries.ts'
import { Instance } from './instance.ts'
import { ConnectionLost } from './network.ts'
import { STREAM } from './plan.ts'
import { SimAlarm } from './sim-alarm.ts'
import type { Site } from './site.ts'
import type { ServerSocket } from './sockets.ts'
import type { World } from './world.ts'

/** How an instance ends, as those see it who wait for its answers. */
export type End = 'reset' | 'killed' | 'evicted'

const SLOW_COMMIT_MS = 1_500
/** An instance that goes on without its storage is ended by the platform at last. */
const SUPERSEDED_FOR_MS = 5_000

export class SimObject {
  readonly world: World
  readonly site: Site
  readonly lock: string
  readonly participant: number
  /** Of one that came after the birth of its lock. */
  readonly address: string | null
  readonly name: string
  readonly disk = new Disk()
  readonly sockets = new Set<ServerSocket>()
  readonly alarm: SimAlarm
  /** Its storage was lost at least once. */
  wasWiped = false
  #instance: { readonly runtime: Instance; readonly entries: Entries } | null = null
  #instances = 0
  #crashAfterCalls: number | null = null
  #failAfterWrites: number | null = null
  readonly #random: Random

  constructor(world: World, site: Site, name: string, lock: string, { id, address }: Whereabouts) {
    this.world = world
    this.site = site
    this.name = name
    this.lock = lock
    this.participant = id
    this.address = address ?? null
    this.#random = new Random(world.plan.seed, STREAM.platform * 1_000 + hashOf(name))
    this.alarm = new SimAlarm(this, this.#random)
    this.disk.isLying = world.tampering.lyingDisk === true
  }

  note(text: string): void {
    this.world.note(this.name, text)
  }

  // ---------------------------------------------------------------- instances

  get isAwake(): boolean {
    return this.#instance !== null
  }

  get hasTimeout(): boolean {
    return this.#instance?.runtime.hasTimeout ?? false
  }

  /** Of the present instance, without waking one. */
  get entries(): Entries | null {
    return this.#instance?.entries ?? null
  }

  /** The present instance, or a new one. Throws if its code does; the instance is over then. */
  wake(): { readonly runtime: Instance; readonly entries: Entries } {
    if (this.#instance !== null) return this.#instance
    this.world.counts.instances++
    const stream = STREAM.platform * 1_000_003 + hashOf(this.name) + this.#instances++
    const runtime = new Instance(this, new Random(this.world.plan.seed, stream))
    try {
      const entries = this.world.createEntries(this, runtime)
      if (runtime.isOver) throw new Error('the instance ended while it began')
      this.#instance = { runtime, entries }
      return this.#instance
    } catch (error) {
      // Writes of a constructor that threw are lost with the instance.
      if (!runtime.isOver) this.end(runtime, 'reset')
      throw error
    }
  }

  /**
   * The instance dies as if its process had been killed: whatever is on its way to the disk may or may not
   * get there.
   */
  crash(end: End = 'reset'): void {
    const { disk } = this
    const survivors = this.#random.between(0, disk.groupsOnTheWay)
    if (this.world.tampering.lyingDisk) disk.loseLastCommit()
    for (let count = 0; count < survivors; count++) this.world.committed(this, disk.commitOldest())
    this.world.counts.crashes++
    this.note(`crashes (${end})`)
    this.#stop(end)
  }

  /** Called by the instance itself, or for it. */
  end(instance: Instance, end: End): void {
    if (instance.isOver) return
    const isPresent = this.#instance === null || this.#instance.runtime === instance
    if (isPresent && !instance.isSuperseded) this.#stop(end, instance)
    else this.#silence(instance, end)
  }

  /** The platform takes an idle instance out of memory. Its sockets stay. */
  evict(): boolean {
    const instance = this.#instance?.runtime
    if (instance === undefined || instance.waiting.size > 0 || this.disk.groupsOnTheWay > 0) return false
    this.note('is evicted')
    this.#silence(instance, 'evicted')
    this.#instance = null
    this.disk.loseTheRest()
    return true
  }

  /** The present instance goes on, but without its storage; the next event finds a new one. */
  supersede(): boolean {
    const instance = this.#instance?.runtime
    if (instance === undefined) return false
    this.note('is superseded')
    instance.supersede()
    this.#instance = null
    this.disk.loseTheRest()
    this.alarm.arm()
    this.world.loop.after(SUPERSEDED_FOR_MS, () => this.end(instance, 'reset'))
    return true
  }

  wipe(): void {
    this.note('loses its storage')
    if (this.#instance !== null) this.crash('killed')
    this.world.losses.wiping(this)
    this.disk.wipe()
    this.wasWiped = true
    this.alarm.arm()
    this.world.wiped(this)
  }

  #stop(end: End, instance = this.#instance?.runtime): void {
    if (this.disk.groupsOnTheWay > 0 || this.disk.hasOpenWrites) this.world.counts.writesLost++
    this.#instance = null
    this.disk.loseTheRest()
    if (instance !== undefined) this.#silence(instance, end)
    for (const socket of [...this.sockets]) socket.breakOff()
    this.alarm.arm()
  }

  #silence(instance: Instance, end: End): void {
    instance.end()
    const waiting = [...instance.waiting]
    instance.waiting.clear()
    if (end === 'reset') this.world.counts.resets += waiting.length
    for (const tell of waiting) tell(end === 'killed' ? new ConnectionLost() : resetError())
  }

  // ---------------------------------------------------------------- faults at a call

  crashAfter(calls: number): void {
    this.#crashAfterCalls = calls
  }

  failAfter(writes: number): void {
    this.#failAfterWrites = writes
  }

  /** No more of what was to come. */
  heal(): void {
    this.#crashAfterCalls = null
    this.#failAfterWrites = null
  }

  mayCrashNow(): boolean {
    if (this.#crashAfterCalls === null || this.#crashAfterCalls-- > 0) return false
    this.#crashAfterCalls = null
    return true
  }

  /** Throws what SQLite throws. */
  beforeWrite(name: string): void {
    if (this.site.disk === 'read-only') {
      this.world.counts.writesFailed++
      throw new Error('attempt to write a readonly database: SQLITE_READONLY')
    }
    if (this.#failAfterWrites === null || this.#failAfterWrites-- > 0) return
    this.#failAfterWrites = null
    this.world.counts.writesFailed++
    this.note(`cannot ${name}`)
    throw new Error('disk I/O error: SQLITE_IOERR')
  }

  // ---------------------------------------------------------------- the disk

  /**
   * The group that was just closed becomes durable in a while, unless the disk is full or the instance
   * over.
   */
  flushLater(instance: Instance): void {
    const { commitMaxMs } = this.world.plan
    const slowMs = this.site.disk === 'slow' ? SLOW_COMMIT_MS : 0
    const at = Math.max(
      this.#lastCommitAt,
      this.world.loop.now + this.#random.fraction() * (commitMaxMs + slowMs),
    )
    this.#lastCommitAt = at
    this.world.loop.at(at, () => this.site.receive(() => this.#flush(instance)))
  }

  #lastCommitAt = 0

  #flush(instance: Instance): void {
    if (instance.isOver || instance.isSuperseded) return
    if (this.site.disk === 'full') {
      this.world.counts.fullDisks++
      this.note('cannot commit: the disk is full')
      return this.end(instance, 'reset')
    }
    const group = this.disk.commitOldest()
    this.world.counts.commits++
    this.world.committed(this, group)
    if (group.some(([kind]) => kind === 'alarm')) this.alarm.isSetAnew()
    instance.committed()
  }

  // ---------------------------------------------------------------- sockets

  socketsOf(instance: Instance): Sockets {
    return {
      all: () => [...this.sockets].map(socket => socket.seenBy(instance)),
      withTag: tag => this.#socketWith(tag)?.seenBy(instance),
    }
  }

  #socketWith(tag: string): ServerSocket | undefined {
    for (const socket of this.sockets) if (socket.tag === tag) return socket
    return undefined
  }
}

export type SeenSocket = Socket

/** As a stub's `fetch` rejects when the object behind it was reset. */
function resetError(): Error {
  return Object.assign(new Error('Durable Object reset'), { durableObjectReset: true, retryable: true })
}

export function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
  return hash >>> 8
}

export type { Group }
