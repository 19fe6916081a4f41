/**
 * Nodes of `ricart-agrawala` on a table. After every step `Grants` also checks that users exclude each other.
 */
import {
  DEFAULT_TIMING,
  type Effect,
  type Emitted,
  type Mode,
  type ProtocolOptions,
  type Timing,
} from '../../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../../shared/protocols/ricart-agrawala/messages.ts'
import { checkOptions, ricartAgrawala } from '../../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'
import type { RicartAgrawalaState } from '../../../shared/protocols/ricart-agrawala/state.ts'
import { type Sent as SentOn, Table } from '../table.ts'
import { Grants } from './grants.ts'

export type Sent = SentOn<RicartAgrawalaMessage>

export interface ClusterOptions {
  readonly participants: number
  readonly options?: ProtocolOptions
  readonly localHandoffs?: number
  readonly timing?: Partial<Timing>
}

export class Cluster extends Table<RicartAgrawalaState, RicartAgrawalaMessage> {
  readonly grants = new Grants()
  /** Steps so far, and the one that is to be cut short after that many of its effects. */
  steps = 0
  plannedCrash: { step: number; effects: number } | null = null
  /** How many effects the step had that was cut short. */
  effectsOfCrashedStep: number | null = null

  constructor({ participants, options = {}, localHandoffs = 1, timing }: ClusterOptions) {
    const problem = checkOptions(options, participants)
    if (problem !== null) throw new Error(problem)
    super(ricartAgrawala, {
      participants,
      keepsCount: true,
      config: { options, localHandoffs, timing: { ...DEFAULT_TIMING, ...timing } },
    })
    this.bear()
  }

  /** An operator asks this node for these members. The request has the name of the change. */
  change(at: number, id: string, members: readonly number[], base = 0, request = id): Emitted[] {
    const places = Object.fromEntries(members.map(member => [member, '']))
    return this.user(at, { type: 'change-members', request, id, base, members: places })
  }

  /**
   * A node comes that an operator wants as a member, and the set says so. It has been called, and its JOIN is
   * on its way to node 1.
   */
  invite(): number {
    const node = this.add()
    this.take(({ from }) => from === node)
    const members = [...Object.keys(this.state(1).durable.group.members).map(Number), node]
    this.change(1, `insert ${node}`, members)
    let joins = 0
    this.deliver(({ message: { body } }) => body.type !== 'join' || ++joins === 1)
    return node
  }

  override wipe(participant: number): void {
    super.wipe(participant)
    this.grants.wiped(participant)
  }

  try(participant: number, user = 'u', rest: { ttlMs?: number; waitMs?: number; mode?: Mode } = {}) {
    return this.user(participant, { type: 'try', user, ttlMs: 1_000_000, ...rest })
  }

  exit(participant: number, user = 'u'): Emitted[] {
    const holder = this.view(participant).holders.find(inside => inside.user === user)
    if (holder === undefined) throw new Error(`${user} is not inside at node ${participant}`)
    return this.user(participant, { type: 'exit', user, fence: holder.fence })
  }

  /** The users inside, as `node:user`. */
  inside(): string[] {
    const up = this.everybody.filter(participant => this.isUp(participant))
    return up.flatMap(participant =>
      this.view(participant).holders.map(({ user }) => `${participant}:${user}`),
    )
  }

  protected override saved(participant: number): void {
    this.grants.saved(participant, this.storage(participant))
  }

  protected override crashPoint(
    participant: number,
    effects: readonly Effect<RicartAgrawalaMessage>[],
  ): number | null {
    const asked = super.crashPoint(participant, effects)
    if (this.plannedCrash?.step !== ++this.steps) return asked
    this.effectsOfCrashedStep = effects.length
    return this.plannedCrash.effects
  }
}
