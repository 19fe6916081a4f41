/**
 * One Durable Object in one region that keeps a lock with a queue, and the state. Every call is one round
 * trip to it and one write. Nothing of it is left when its region is gone.
 */
import type { Place } from './places.ts'
import type { Grant, Service } from './service.ts'
import { Disk, type World } from './world.ts'

export class PlainObject implements Service {
  readonly messages = 0
  private readonly world: World
  private readonly place: Place
  private readonly calls: 1 | 3
  private readonly disk: Disk
  private isHeld = false
  private readonly queue: (() => void)[] = []

  /** `calls`: a `transact` is one call, or the three calls lock, operate and unlock. */
  constructor(world: World, place: Place, calls: 1 | 3) {
    this.world = world
    this.place = place
    this.calls = calls
    this.disk = new Disk(world)
  }

  acquire(from: Place, answered: (grant: Grant) => void): void {
    const enter = () => {
      this.isHeld = true
      this.answer(from, () => answered({ release: left => this.release(from, left) }))
    }
    this.ask(from, () => (this.isHeld ? this.queue.push(enter) : enter()))
  }

  transact(from: Place, answered: () => void): void {
    if (this.calls === 1) return this.ask(from, () => this.answer(from, answered))
    this.acquire(from, grant => this.ask(from, () => this.answer(from, () => grant.release(answered))))
  }

  private release(from: Place, answered: () => void): void {
    this.ask(from, () => {
      this.isHeld = false
      this.answer(from, answered)
      this.queue.shift()?.()
    })
  }

  private ask(from: Place, arrive: () => void): void {
    this.world.travel(from, this.place, this.world.now, arrive)
  }

  private answer(to: Place, arrive: () => void): void {
    this.world.travel(this.place, to, this.disk.leavesAt(true), arrive)
  }
}
