/**
 * Every entry of a participant is a turn, and so is everything that it does after it has waited for
 * something:
 *
 *   1. touch   an instance that was superseded, or whose clock stands still, finds out and ends
 *   2. run     steps of the protocol, and the reactions to them, without waiting for anything
 *   3. write   everything that they want to be remembered, in one transaction
 *   4. send    messages, answers, events of sessions and watchers; then the alarm is armed
 *
 * Fail-stop: if anything in a turn throws, the instance is over before anything leaves it. What is in memory
 * may be half changed, so it is never used again; storage is as it was before the turn, and the next instance
 * begins with it.
 */
import { logEntry } from '../../../shared/log.ts'
import type { Runtime } from '../runtime.ts'
import { Clock } from './clock.ts'
import type { Storage } from './storage.ts'

export class InstanceOver extends Error {}

export class Turns {
  private readonly runtime: Runtime
  private readonly storage: Storage
  private readonly clock: Clock
  private reactions: (() => void)[] = []
  private departures: (() => void)[] = []
  private isRunning = false
  private over = false
  /** Runs at the end of each turn, after everything that leaves through `afterwards`. */
  finish: () => void = () => {}

  constructor(runtime: Runtime, storage: Storage) {
    this.runtime = runtime
    this.storage = storage
    this.clock = new Clock(runtime)
  }

  get isOver(): boolean {
    return this.over
  }

  run<Result>(body: () => Result): Result {
    return this.orStop(() => {
      const result = this.runAndWrite(body)
      this.send()
      return result
    })
  }

  /** The first turn of an instance. Nothing leaves before the instance is woken for something. */
  begin(body: () => void): void {
    this.orStop(() => this.runAndWrite(body))
  }

  /** A turn that nobody waits for: an instance that ends in it has said why. */
  attempt(body: () => void): void {
    try {
      this.run(body)
    } catch {
      // The instance is over.
    }
  }

  /** Something to do in this turn, after the step that brought it about. */
  react(reaction: () => void): void {
    this.assertRunning()
    this.reactions.push(reaction)
  }

  /** Something that leaves the instance once what this turn has changed is written. */
  afterwards(departure: () => void): void {
    this.assertRunning()
    this.departures.push(departure)
  }

  assertRunning(): void {
    if (!this.isRunning) throw new Error('this is done in a turn only')
  }

  private runAndWrite<Result>(body: () => Result): Result {
    if (this.isRunning) throw new Error('a turn cannot begin in another one')
    this.isRunning = true
    this.clock.check(this.runtime.rows.touch())
    const result = body()
    for (let reaction = this.reactions.shift(); reaction !== undefined; reaction = this.reactions.shift())
      reaction()
    this.storage.commit()
    this.isRunning = false
    return result
  }

  private send(): void {
    const { departures } = this
    this.departures = []
    for (const departure of departures) departure()
    this.finish()
  }

  private orStop<Result>(run: () => Result): Result {
    if (this.over) throw new InstanceOver('this instance is over')
    try {
      return run()
    } catch (error) {
      this.stop(error)
      throw error
    }
  }

  private stop(error: unknown): void {
    if (this.over) return
    this.over = true
    const reason = error instanceof Error ? error.message : String(error)
    const stack = error instanceof Error ? error.stack : undefined
    this.runtime.log(logEntry('instance_over', { detail: reason, stack }))
    this.runtime.abort(reason)
  }
}
