/**
 * Nodes of `maekawa` on a table. After every step the table also asserts that at most one user is inside, and
 * that fences grow.
 */
import { maekawa } from '../../../shared/protocols/maekawa/maekawa.ts'
import type { MaekawaMessage } from '../../../shared/protocols/maekawa/messages.ts'
import type { MaekawaState } from '../../../shared/protocols/maekawa/state.ts'
import { DEFAULT_LIMITS, type Emitted, type UserInput } from '../../../shared/protocols/protocol.ts'
import { Table as CommonTable, type Matcher, type Sent as SentOn } from '../table.ts'

export type Sent = SentOn<MaekawaMessage>

export interface TableOptions {
  readonly participants: number
  readonly localHandoffs?: number
}

export class Table extends CommonTable<MaekawaState, MaekawaMessage> {
  /** The users inside, each with its fence: `crit` was said and the grant has not ended. */
  readonly inside = new Map<string, number>()
  highestFence = 0

  constructor({ participants, localHandoffs = 1 }: TableOptions) {
    // All endings are kept: the table looks there for grants whose users did not hear of their end.
    super(maekawa, {
      participants,
      config: { localHandoffs, limits: { ...DEFAULT_LIMITS, endingsKept: 10_000 } },
    })
    this.bear()
  }

  // ---- inputs; `effects`: after so many of them the node crashes

  override user(node: number, event: UserInput, effects?: number): Emitted[] {
    if (effects !== undefined) this.crashDuringNextStep(node, effects)
    return super.user(node, event)
  }

  override fire(node: number, timer: string, effects?: number): Emitted[] {
    if (effects !== undefined) this.crashDuringNextStep(node, effects)
    return super.fire(node, timer)
  }

  /** Messages to a node that is down are lost. */
  override hand(sent: Sent, effects?: number): Emitted[] {
    if (!this.isUp(sent.to)) return []
    if (effects !== undefined) this.crashDuringNextStep(sent.to, effects)
    return super.hand(sent)
  }

  override deliver(matches: Matcher<MaekawaMessage> = () => true): Sent[] {
    this.take(sent => !this.isUp(sent.to) && matches(sent))
    return super.deliver(matches)
  }

  try(node: number, user = `user-${node}`, options: { waitMs?: number; ttlMs?: number } = {}): Emitted[] {
    return this.user(node, { type: 'try', user, ttlMs: 1_000_000, ...options })
  }

  exit(node: number, user = `user-${node}`): Emitted[] {
    const fence = this.inside.get(`${node}/${user}`)
    if (fence === undefined) throw new Error(`${user} is not inside at node ${node}`)
    return this.user(node, { type: 'exit', user, fence })
  }

  withdraw(node: number, user = `user-${node}`): Emitted[] {
    return this.user(node, { type: 'withdraw', user })
  }

  // ---- what is asserted

  /** Mutual exclusion and the order of the fences, as the users see them. */
  protected override told(node: number, event: Emitted): void {
    if (event.type === 'rem' || event.type === 'ejected') this.inside.delete(`${node}/${event.user}`)
    if (event.type !== 'crit') return
    const name = `${node}/${event.user}`
    this.forgetEnded()
    // Said again to a user that asked again.
    if (this.inside.get(name) === event.fence) return
    if (this.inside.size > 0) throw new Error(`${name} enters while ${[...this.inside.keys()]} is inside`)
    if (event.fence <= this.highestFence)
      throw new Error(`${name} has the fence ${event.fence} after ${this.highestFence}`)
    this.highestFence = event.fence
    this.inside.set(name, event.fence)
  }

  /** A grant is over when its end is written, even if a crash kept its user from hearing of it. */
  forgetEnded(): void {
    for (const [name, fence] of this.inside) {
      const endings = this.storage(Number.parseInt(name, 10)).get('endings') as
        | { fence: number }[]
        | undefined
      if (endings?.some(ending => ending.fence === fence)) this.inside.delete(name)
    }
  }

  protected override recoverable({ durable, derived }: MaekawaState): unknown {
    return { durable, derived }
  }
}
