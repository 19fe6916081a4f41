/**
 * One instance of a Durable Object: what a participant gets as its runtime. What a turn wrote becomes durable
 * before anything that it sends leaves (output gates). The instance may be over at any call; whatever its
 * code does after that has no effect, and nothing that it waits for ever comes.
 */
import type { ParticipantPlace } from '../../../shared/api/configuration.ts'
import type { LogEntry } from '../../../shared/log.ts'
import type { PeerAnswer, PeerRequest } from '../../../worker/participant/peers/requests.ts'
import type { Alarm, Peers, Rows, Runtime, Sockets, Timeout } from '../../../worker/participant/runtime.ts'
import type { Random } from '../random.ts'
import type { Timer } from './loop.ts'
import type { SimObject } from './sim-object.ts'

/** Thrown into the code of an instance that is over, so that it stops. Nobody sees it. */
export class InstanceOver extends Error {
  constructor() {
    super('the instance is over')
  }
}

/** Another instance of the object has taken its storage over. */
class Superseded extends Error {}

interface Held {
  readonly group: number
  readonly run: () => void
}

export class Instance implements Runtime {
  readonly object: SimObject
  readonly rows: Rows
  readonly alarm: Alarm
  readonly timeout: Timeout
  readonly peers: Peers
  readonly sockets: Sockets
  isOver = false
  /** It goes on without its storage, and does not know it yet. */
  isSuperseded = false
  /** The callers that wait for an answer of this instance, to be told when there will be none. */
  readonly waiting = new Set<(error: Error) => void>()
  readonly #random: Random
  #closedGroups = 0
  #durableGroups = 0
  #held: Held[] = []
  #isGroupOpen = false
  #latestNow = 0

  constructor(object: SimObject, random: Random) {
    this.object = object
    this.#random = random
    this.rows = object.disk.open(
      (kind, name) => this.#statement(kind, name),
      () => object.site.now,
    )
    this.alarm = { set: at => this.#setAlarm(at) }
    this.timeout = { set: (afterMs, run) => this.#setTimeout(afterMs, run) }
    this.peers = { ask: (lock, place, request, limitMs) => this.#ask(lock, place, request, limitMs) }
    this.sockets = object.socketsOf(this)
  }

  /** As on the platform: in one instance the clock never goes back. It stands still instead. */
  now(): number {
    this.#latestNow = Math.max(this.#latestNow, this.object.site.now)
    return this.#latestNow
  }

  random(): number {
    return this.#random.fraction()
  }

  randomId(): string {
    return Array.from({ length: 4 }, () => this.#random.next().toString(16).padStart(8, '0')).join('')
  }

  background(work: Promise<void>): void {
    work.catch(error => this.escaped(error))
  }

  abort(reason: string): void {
    if (this.isOver) return
    this.object.world.counts.aborts++
    this.object.note(`aborts: ${reason}`)
    this.object.end(this, 'reset')
  }

  log(entry: LogEntry): void {
    if (!this.isOver) this.object.note(`log: ${JSON.stringify(entry)}`)
  }

  /** An error that nobody has caught. Those of an instance that is over are its own affair. */
  escaped(error: unknown): void {
    if (this.isOver || this.isSuperseded || error instanceof InstanceOver) return
    this.object.world.escaped(this.object.name, error)
  }

  // ---------------------------------------------------------------- storage

  #statement(kind: 'read' | 'write', name: string): void {
    this.point()
    if (this.isSuperseded) {
      this.object.end(this, 'reset')
      throw new Superseded('this instance was superseded by another one')
    }
    if (kind === 'read') return
    this.object.beforeWrite(name)
    this.noteWrite()
  }

  /** The writes of this turn are one group, which ends with the turn. */
  noteWrite(): void {
    if (this.#isGroupOpen) return
    this.#isGroupOpen = true
    this.object.world.atEndOfTurn(() => this.#closeGroup())
  }

  #closeGroup(): void {
    this.#isGroupOpen = false
    if (this.isOver || this.isSuperseded || this.object.disk.closeGroup() === null) return
    this.#closedGroups++
    this.object.flushLater(this)
  }

  /** The oldest group of this instance is durable: what waited for it may leave. */
  committed(): void {
    this.#durableGroups++
    const held = this.#held
    this.#held = held.filter(({ group }) => group > this.#durableGroups)
    for (const { group, run } of held) {
      if (group <= this.#durableGroups && !this.isOver) run()
    }
  }

  #setAlarm(at: number): void {
    this.#statement('write', 'alarm')
    this.object.disk.setAlarm(Math.max(at, this.now()))
  }

  #timeout: Timer | null = null

  get hasTimeout(): boolean {
    return this.#timeout !== null
  }

  #setTimeout(afterMs: number, run: () => void): void {
    this.point()
    const { world, site } = this.object
    this.#timeout?.cancel()
    const fire = (): void => {
      this.#timeout = null
      if (this.isOver) return
      world.counts.timeouts++
      run()
    }
    this.#timeout = world.loop.after(afterMs, () => site.receive(fire))
  }

  // ---------------------------------------------------------------- what leaves

  /** An instance may end at each of its calls. */
  point(): void {
    if (this.isOver) throw new InstanceOver()
    if (!this.object.mayCrashNow()) return
    this.object.world.counts.crashesAtACall++
    this.object.crash()
    throw new InstanceOver()
  }

  /** Leaves the instance once everything that was written before is durable. */
  output(run: () => void): void {
    if (this.isOver) return
    const hasWritten = !this.isSuperseded && this.object.disk.hasOpenWrites
    const group = this.#closedGroups + (hasWritten ? 1 : 0)
    const isGateOpen = this.object.world.tampering.withoutOutputGates === true
    if (isGateOpen || group <= this.#durableGroups) run()
    else this.#held.push({ group, run })
  }

  #ask(lock: string, place: ParticipantPlace, request: PeerRequest, limitMs: number): Promise<PeerAnswer> {
    this.point()
    const { world } = this.object
    const body = JSON.stringify(request)
    world.counts.peerRequests++
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        timer.cancel()
        // What an instance that is over waits for never comes.
        if (!this.isOver) finish()
      }
      const timeout = (): void => settle(() => reject(new Error(`no answer within ${limitMs} ms`)))
      const timer = world.loop.after(limitMs, () => this.object.site.receive(timeout))
      this.output(() =>
        world.serving.askPeer(this.object, lock, place, body, result =>
          settle(() => (result.ok ? resolve(JSON.parse(result.value) as PeerAnswer) : reject(result.error))),
        ),
      )
    })
  }

  /** Its storage belongs to another instance: what waits for a commit waits in vain. */
  supersede(): void {
    this.isSuperseded = true
    this.#held = []
    this.#closedGroups = this.#durableGroups
  }

  /** Nothing leaves any more, and nothing is kept. */
  end(): void {
    this.isOver = true
    this.#held = []
  }
}
