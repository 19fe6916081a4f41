/**
 * What the explorer must know about a protocol: how to look at one of its states. The search itself sees only
 * numbers; what they stand for, what must hold for them and what they may do is here.
 */
import type { Context, Effect, Input, Protocol, ProtocolOptions } from '../../shared/protocols/protocol.ts'
import type { Findings } from './findings.ts'
import type { Menu } from './menu.ts'
import type { Record, Seat } from './seat.ts'

export interface Model<State, Message> {
  readonly protocol: Protocol<State, Message>
  readonly options?: ProtocolOptions
  /**
   * Whether the properties can be told from what each participant once held, so that not every world need be
   * visited (movers.ts).
   */
  readonly mayReduce: boolean
  /** What a search must have reached to be worth anything. */
  readonly coverageGoals: readonly string[]
  /** What must be remembered of a step, for the properties. */
  recorded(record: Record, before: State, after: State): Record
  /** Makes states that differ only in how long they wait the same. */
  normalise(context: Context, state: State): void
  checkStep(
    findings: Findings,
    context: Context,
    seat: Seat<State>,
    input: Input<Message>,
    state: State,
    effects: readonly Effect<Message>[],
  ): void
  noteStep: Model<State, Message>['checkStep']
  checkSeat(findings: Findings, context: Context, seat: Seat<State>): void
  /** Of any two participants of a world. */
  checkPair(findings: Findings, one: Seat<State>, other: Seat<State>): void
  menuOf(seat: Seat<State>): Menu
}
