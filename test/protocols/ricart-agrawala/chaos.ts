/**
 * Random runs: messages are lost, doubled and reordered, and nodes crash between any two effects. Then
 * everything heals and all are served.
 */
import type { Mode, ProtocolOptions } from '../../../shared/protocols/protocol.ts'
import { Cluster } from './cluster.ts'

export interface Plan {
  readonly participants: number
  readonly options?: ProtocolOptions
  readonly steps: number
  readonly loss: number
  readonly duplication: number
  readonly crashes: number
  readonly wipes?: number
  /** How often a node leaves or comes back. */
  readonly wishes?: number
  readonly readers?: number
  readonly withdrawals?: number
  readonly localHandoffs?: number
  /** Timers fire early, whenever the run likes. This is off with implicit replies, which rest on time. */
  readonly timers?: number
}

/** Numbers in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export class Chaos {
  readonly cluster: Cluster
  private readonly plan: Plan
  private readonly random: () => number
  private users = 0
  private readonly down = new Set<number>()

  constructor(plan: Plan, seed: number) {
    this.plan = plan
    this.random = randomFrom(seed)
    const { participants, options, localHandoffs } = plan
    this.cluster = new Cluster({
      participants,
      localHandoffs: localHandoffs ?? 2,
      ...(options && { options }),
    })
  }

  run(): void {
    for (let step = 0; step < this.plan.steps; step++) this.act()
    this.heal()
  }

  private chance(probability: number | undefined): boolean {
    return this.random() < (probability ?? 0)
  }

  private pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.random() * items.length)]
  }

  private nodes(): number[] {
    return Array.from({ length: this.plan.participants }, (_, index) => index + 1)
  }

  private act(): void {
    const { cluster, plan } = this
    const node = this.pick(this.nodes())!
    if (this.down.has(node)) {
      if (this.chance(0.3)) this.restart(node)
      return
    }
    if (this.chance(plan.crashes)) {
      if (this.chance(plan.wipes)) return this.wipe(node)
      cluster.crashDuringNextStep(node, Math.floor(this.random() * 5))
    }
    if (this.chance(plan.wishes))
      cluster.user(node, { type: 'membership', request: 'w', wish: this.chance(0.5) ? 'leave' : 'join' })
    else if (this.chance(plan.timers)) this.fireAny(node)
    else if (this.chance(0.25)) this.act1(node)
    else this.deliverAny()
    for (const other of this.nodes()) if (!cluster.isUp(other)) this.down.add(other)
  }

  private wipe(node: number): void {
    // If nobody is left that knows the lock, there is nobody to come back to.
    const others = this.nodes().filter(other => other !== node && this.isSound(other))
    if (others.length === 0) return
    this.cluster.wipe(node)
    this.down.add(node)
  }

  private isSound(node: number): boolean {
    const membership = this.cluster.storage(node).get('membership') as { status: string } | undefined
    return membership?.status === 'member'
  }

  private act1(node: number): void {
    const { cluster } = this
    if (!cluster.isUp(node)) return
    const { holders, waiters } = cluster.state(node).durable.localQueue
    const holder = this.pick(holders)
    if (holder !== undefined && this.chance(0.6)) return void cluster.exit(node, holder.user)
    const waiter = this.pick(waiters)
    if (waiter !== undefined && this.chance(this.plan.withdrawals))
      return void cluster.user(node, { type: 'withdraw', user: waiter.user })
    if (waiters.length > 2) return
    const mode: Mode = this.chance(this.plan.readers) ? 'shared' : 'exclusive'
    cluster.try(node, `u${++this.users}`, { mode })
  }

  private deliverAny(): void {
    const { cluster, plan } = this
    if (cluster.network.length === 0) return
    const index = Math.floor(this.random() * cluster.network.length)
    const sent = cluster.network[index]!
    if (!cluster.isUp(sent.to) || this.chance(plan.loss)) cluster.network.splice(index, 1)
    else if (this.chance(plan.duplication)) cluster.hand(sent)
    else cluster.deliverAt(index)
  }

  private fireAny(node: number): void {
    if (!this.cluster.isUp(node)) return
    const timer = this.pick(this.cluster.timers(node).filter(name => name === 'repeat'))
    if (timer !== undefined) this.cluster.fire(node, timer)
  }

  private restart(node: number): void {
    this.cluster.start(node)
    // It may have been about to crash once more.
    if (this.cluster.isUp(node)) this.down.delete(node)
  }

  /**
   * All nodes are up, nothing is lost, and users inside leave: every user that waits gets in, and then all is
   * silent.
   */
  private heal(): void {
    const { cluster } = this
    for (let round = 0; round < 400; round++) {
      for (const node of this.nodes()) if (!cluster.isUp(node)) this.restart(node)
      cluster.run(2_000)
      const inside = cluster.inside()
      for (const name of inside) {
        const [node, user] = name.split(':')
        if (cluster.isUp(Number(node))) cluster.exit(Number(node), user)
      }
      if (inside.length === 0 && this.isSilent()) return
    }
    const states = this.nodes().map(node => JSON.stringify(cluster.state(node).durable))
    throw new Error(`somebody still waits: ${states.join('\n')}`)
  }

  private isSilent(): boolean {
    const { cluster } = this
    return cluster.network.length === 0 && this.nodes().every(node => cluster.timers(node).length === 0)
  }
}
