/** Answers that somebody waits for: a request is answered when its event comes, or when its time is over. */
import type { Emitted, UserOutput } from '../../shared/protocols/protocol.ts'
import type { Deadlines } from './deadlines.ts'

type Listener = (event: UserOutput) => void

/** Names of these among the deadlines. */
const ANSWER = 'answer/'

export class Waiting {
  private readonly deadlines: Deadlines
  private readonly listeners = new Map<string, Set<Listener>>()
  private readonly expirations = new Map<string, () => void>()
  private count = 0

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines
  }

  get size(): number {
    return this.expirations.size
  }

  /**
   * The next event for `key` (a user or a request) that `isAnswer` accepts, or `null` when the time is over. Call it before
   * the step that may bring the event.
   */
  next(key: string, untilMs: number, isAnswer: (event: UserOutput) => boolean): Promise<UserOutput | null> {
    return new Promise(resolve => {
      const deadline = `${ANSWER}${++this.count}`
      const finish = (event: UserOutput | null) => {
        this.deadlines.cancel(deadline)
        this.expirations.delete(deadline)
        this.forget(key, listener)
        resolve(event)
      }
      const listener: Listener = event => {
        if (isAnswer(event)) finish(event)
      }
      this.listen(key, listener)
      this.expirations.set(deadline, () => finish(null))
      this.deadlines.set(deadline, untilMs)
    })
  }

  tell(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      const key = 'user' in event ? event.user : 'request' in event ? event.request : null
      if (key === null) continue
      for (const listener of [...(this.listeners.get(key) ?? [])]) listener(event as UserOutput)
    }
  }

  /** Whether the deadline was one of an answer. */
  expire(deadline: string): boolean {
    if (!deadline.startsWith(ANSWER)) return false
    this.expirations.get(deadline)?.()
    return true
  }

  private listen(key: string, listener: Listener): void {
    const listeners = this.listeners.get(key) ?? new Set()
    listeners.add(listener)
    this.listeners.set(key, listeners)
  }

  private forget(key: string, listener: Listener): void {
    const listeners = this.listeners.get(key)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.listeners.delete(key)
  }
}
