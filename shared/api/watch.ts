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
  readonly holder:
    | {
        readonly sequence: number
        readonly participant: number
        readonly fence: number
        /**
         * Since when, until when and for whom it is held. Only the holder's participant knows: another one
         * asks it, and then tells the event once more, with these.
         */
        readonly since?: string
        readonly expiresAt?: string
        readonly owner?: string
      }
    | { readonly sequence: number; readonly participant: null }
  /** The events asked for are no longer kept: the whole state comes instead, and events go on from here. */
  readonly snapshot: {
    readonly sequence: number
    /** What was seen may be another lock of this name, which was deleted: sequences begin anew. */
    readonly anew?: true
    readonly entries: readonly { readonly key: string; readonly value: Json; readonly revision: number }[]
  }
}
