/**
 * A place where something runs: a process of a cluster, a region of a single deployment, a router, a
 * client. It has a clock, a disk and a connection of its own, and it can stand still or be gone.
 */
import { EPOCH_MS } from './globals.ts'
import type { Loop } from './loop.ts'

export type DiskState = 'well' | 'read-only' | 'full' | 'slow'
export type AlarmMode = 'on time' | 'early' | 'late' | 'twice'

export class Site {
  readonly index: number
  readonly name: string
  isUp = true
  isFrozen = false
  disk: DiskState = 'well'
  alarms: AlarmMode = 'on time'
  /** Which version of the deployment runs here. */
  version: 0 | 1 = 0
  clockOffsetMs: number
  /** The first request that reaches a process wakes its ledger. */
  hasWokenLedger = false
  /** Everything to and from here takes this much longer. */
  slowMs = 0
  readonly #loop: Loop
  #inbox: (() => void)[] = []

  constructor(loop: Loop, index: number, name: string, clockOffsetMs: number) {
    this.#loop = loop
    this.index = index
    this.name = name
    this.clockOffsetMs = clockOffsetMs
  }

  /** By the clock of this site. */
  get now(): number {
    return EPOCH_MS + Math.floor(this.#loop.now) + this.clockOffsetMs
  }

  /** Something arrives. What stands still takes it up later; what is gone never does. */
  receive(run: () => void): void {
    if (!this.isUp) return
    if (this.isFrozen) this.#inbox.push(run)
    else run()
  }

  freeze(): void {
    this.isFrozen = true
  }

  resume(): void {
    this.isFrozen = false
    const inbox = this.#inbox
    this.#inbox = []
    for (const run of inbox) this.#loop.after(0, () => this.receive(run))
  }

  /** What had arrived and was not taken up is gone too. */
  stop(): void {
    this.isUp = false
    this.isFrozen = false
    this.#inbox = []
  }
}
