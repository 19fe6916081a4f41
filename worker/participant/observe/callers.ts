/**
 * Who the users of this participant are, for its log: the name of the key and the id of the request that
 * brought each. This is kept in memory alone: what a new instance logs of a user that came before it lacks
 * them.
 */
import { DEFAULT_LIMITS, type Emitted } from '../../../shared/protocols/protocol.ts'

export interface Caller {
  /** The name of the key, never the key. */
  readonly key?: string | undefined
  readonly requestId?: string | undefined
}

/** More than can wait and be inside at once. */
const MAX_CALLERS = 2 * DEFAULT_LIMITS.waiters

export class Callers {
  private readonly callers = new Map<string, Caller>()

  /** The first request of a user counts: those that follow ask for its ticket. */
  note(user: string, caller: Caller): void {
    if (this.callers.has(user)) return
    if (this.callers.size >= MAX_CALLERS) this.callers.delete(this.callers.keys().next().value!)
    this.callers.set(user, caller)
  }

  of(user: string): Caller | undefined {
    return this.callers.get(user)
  }

  forget(user: string): void {
    this.callers.delete(user)
  }

  onStep(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      const isOver =
        event.type === 'rem' ||
        event.type === 'ejected' ||
        event.type === 'withdrawn' ||
        (event.type === 'refused' && event.event === 'try')
      if (isOver) this.callers.delete(event.user)
    }
  }
}
