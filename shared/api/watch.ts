/** What `watch` sends as Server-Sent Events: `event` is the type, `id` the sequence, `data` the rest. */
import type { Json } from '../json.ts'

export type WatchChange =
  | { readonly key: string; readonly value: Json; readonly revision: number }
  | { readonly key: string; readonly deleted: true }

export interface WatchEvents {
  readonly op: {
    readonly sequence: number
    readonly fence: number
    readonly opId: string
    readonly changes: readonly WatchChange[]
  }
  /**
   * Who holds the lock now, or that nobody does. Its fences only rise in one stream. What happens where the
   * token is may not be in the log, or not yet: then the event comes all the same, and its sequence is that
   * of the last event before it in the log. So it is always safe to resume from. If holders follow one
   * another very quickly, another participant may tell only the last of them.
   *
   * A watcher that begins now is told who holds the lock, if somebody does. One that resumes is told what the
   * log has, and then who holds the lock, or that nobody does.
   */
  readonly holder:
    | {
        readonly sequence: number
        readonly participant: number
        readonly fence: number
        /**
         * Since when, until when and for whom it is held. Only the holder's participant knows: if another one
         * hears of the holder from the log first, it tells the event once more, with these and without an id.
         */
        readonly since?: string
        readonly expiresAt?: string
        readonly owner?: string
      }
    /** It was released, or it expired, or an operator or the other participants ended it. */
    | { readonly sequence: number; readonly participant: null }
  /** The events asked for are no longer kept: the whole state comes instead, and events go on from here. */
  readonly snapshot: {
    readonly sequence: number
    /** What was seen may be another lock of this name, which was deleted: sequences begin anew. */
    readonly anew?: true
    readonly entries: readonly { readonly key: string; readonly value: Json; readonly revision: number }[]
  }
}
