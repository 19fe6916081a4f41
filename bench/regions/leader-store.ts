/**
 * A store with a leader, as etcd, Consul or ZooKeeper are: clients write to the leader, and a write is
 * answered when a majority of the replicas has it on disk. Taking a lock is a write, and so are an operation
 * and giving the lock back. Waiters queue at the leader. The leader is up, known to all, and never changes:
 * the best that such a store can do.
 */
import type { Place } from './places.ts'
import type { Grant, Service } from './service.ts'
import type { World } from './world.ts'

export class LeaderStore implements Service {
  messages = 0
  private readonly world: World
  private readonly leader: Place
  private readonly followers: readonly Place[]
  private readonly calls: 1 | 3
  private isHeld = false
  private readonly queue: (() => void)[] = []

  /** `calls`: a `transact` is one conditional write, or the three writes lock, operate and unlock. */
  constructor(world: World, leader: Place, replicas: readonly Place[], calls: 1 | 3) {
    this.world = world
    this.leader = leader
    this.followers = replicas.filter(place => place !== leader)
    this.calls = calls
  }

  acquire(from: Place, answered: (grant: Grant) => void): void {
    const enter = () => {
      this.isHeld = true
      this.answer(from, () => answered({ release: left => this.release(from, left) }))
    }
    this.write(from, () => (this.isHeld ? this.queue.push(enter) : enter()))
  }

  transact(from: Place, answered: () => void): void {
    if (this.calls === 1) return this.write(from, () => this.answer(from, answered))
    this.acquire(from, grant => this.write(from, () => this.answer(from, () => grant.release(answered))))
  }

  private release(from: Place, answered: () => void): void {
    this.write(from, () => {
      this.isHeld = false
      this.answer(from, answered)
      this.queue.shift()?.()
    })
  }

  private write(from: Place, committed: () => void): void {
    this.world.travel(from, this.leader, this.world.now, () => this.replicate(committed))
  }

  /** The leader and its followers write at the same time. The leader counts as one of the majority. */
  private replicate(committed: () => void): void {
    const { diskMs } = this.world.conditions
    let missing = Math.floor((this.followers.length + 1) / 2) + 1
    const stored = () => {
      if (--missing === 0) committed()
    }
    this.world.at(this.world.now + diskMs, stored)
    for (const follower of this.followers) {
      this.messages += 2
      this.world.travel(this.leader, follower, this.world.now, () =>
        this.world.travel(follower, this.leader, this.world.now + diskMs, stored),
      )
    }
  }

  private answer(to: Place, arrive: () => void): void {
    this.world.travel(this.leader, to, this.world.now, arrive)
  }
}
