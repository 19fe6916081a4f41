/** One run: a setup, the actions of the reader, and the tape of what follows from them. */
import { type AnyProtocol, protocolNamed } from '../../../shared/protocols/all.ts'
import { redlock } from '../redlock/redlock.ts'
import type { Action, TimedAction } from './actions.ts'
import { Host } from './host.ts'
import { canDo, perform } from './perform.ts'
import { MAX_ACTIONS, MAX_MOMENTS, type Setup, type SimulatedProtocol } from './setup.ts'
import type { Tape } from './tape.ts'

export class Run {
  readonly setup: Setup
  readonly host: Host
  readonly #actions: TimedAction[]
  #done = 0

  constructor(setup: Setup, actions: readonly TimedAction[] = []) {
    this.setup = setup
    this.#actions = [...actions]
    this.host = new Host(setup, protocolOf(setup.protocol))
  }

  get actions(): readonly TimedAction[] {
    return this.#actions
  }

  /** How many moments there are so far. */
  get length(): number {
    return this.host.moments.length
  }

  get isFull(): boolean {
    return this.length >= MAX_MOMENTS
  }

  get tape(): Tape {
    const { moments, messages, recorder, setup, guardsState } = this.host
    return { protocol: setup.protocol, guardsState, moments, messages, history: recorder.history }
  }

  /**
   * One moment more: an action whose time has come, or whatever is next. False: nothing is left to happen.
   */
  advance(): boolean {
    if (this.isFull) return false
    while (this.#done < this.#actions.length && this.#actions[this.#done]!.after <= this.length)
      if (perform(this.host, this.#actions[this.#done++]!.action)) return true
    return this.host.next()
  }

  /** When the next moment comes; `null`: never, unless somebody does something. */
  get nextAt(): number | null {
    if (this.isFull) return null
    const isActionDue = (this.#actions[this.#done]?.after ?? Number.POSITIVE_INFINITY) <= this.length
    return isActionDue ? this.host.now : this.host.nextAt
  }

  extendTo(position: number): void {
    while (this.length < position && this.advance());
  }

  /**
   * The run in which this is done after `position` moments. What this run did later never happened there. It
   * is this very run if that is where it ends.
   */
  withAction(position: number, action: Action): Run {
    const kept = this.#actions.filter(({ after }) => after < position)
    const run = position >= this.length ? this : new Run(this.setup, kept)
    run.extendTo(position)
    if (run.#done >= MAX_ACTIONS || run.isFull || !canDo(run.host, action)) return this
    run.#actions.length = run.#done
    run.#actions.push({ after: run.length, action })
    run.advance()
    return run
  }
}

function protocolOf(name: SimulatedProtocol): AnyProtocol {
  return name === 'redlock' ? (redlock as unknown as AnyProtocol) : protocolNamed(name)
}
