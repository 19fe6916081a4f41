/**
 * Virtual time. One event happens after the other; after each of them everything that it has set in motion
 * without time passing (promises, their continuations) comes to an end before the next one begins. Nothing
 * else runs meanwhile: the same events give the same run.
 */
import { EventQueue, type Scheduled } from '../event-queue.ts'

/** Taken before a run replaces the globals by its own. */
const nextTurn = setImmediate

export interface Timer {
  cancel(): void
}

type Task = Scheduled<'task', { run: (() => void) | null }>

export class Loop {
  now = 0
  /** How many events have happened. */
  events = 0
  readonly #queue = new EventQueue<Task>()
  #order = 0
  readonly #onTurnEnd: () => void
  readonly #onError: (error: unknown) => void

  constructor(onTurnEnd: () => void, onError: (error: unknown) => void) {
    this.#onTurnEnd = onTurnEnd
    this.#onError = onError
  }

  at(time: number, run: () => void): Timer {
    const payload: { run: (() => void) | null } = { run }
    const at = Math.max(time, this.now)
    this.#queue.push({ at, order: this.#order++, kind: 'task', target: 0, source: 0, payload })
    return {
      cancel: () => {
        payload.run = null
      },
    }
  }

  after(delayMs: number, run: () => void): Timer {
    return this.at(this.now + Math.max(0, delayMs), run)
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise(resolve => this.after(delayMs, resolve))
  }

  /** Lets everything happen that is due until then, or until `isOver` says so. */
  runUntil(end: number, isOver: () => boolean = () => false): Promise<void> {
    return new Promise(resolve => {
      const turn = (): void => {
        this.#onTurnEnd()
        const task = isOver() ? undefined : this.#nextUntil(end)
        if (task === undefined) {
          if (!isOver()) this.now = Math.max(this.now, end)
          return resolve()
        }
        this.now = task.at
        this.events++
        try {
          task.payload.run!()
        } catch (error) {
          this.#onError(error)
        }
        nextTurn(turn)
      }
      nextTurn(turn)
    })
  }

  #nextUntil(end: number): Task | undefined {
    for (let task = this.#queue.peek(); task !== undefined && task.at <= end; task = this.#queue.peek()) {
      this.#queue.pop()
      if (task.payload.run !== null) return task
    }
    return undefined
  }
}
