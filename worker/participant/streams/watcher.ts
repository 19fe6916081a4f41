/** What is known of one watcher, see watchers.ts. */
import type { Sink } from '../runtime.ts'
import type { ToldHolder } from './holder-knowledge.ts'
import type { Behind, Frozen } from './replay.ts'

export interface Watcher {
  readonly sink: Sink
  /** `null`: it gets events as they happen. */
  behind: Behind | null
  /** Its last page has everything up to here, also what is only about to be told as it happens. */
  pagedThrough: number
  holder: ToldHolder
  /** It has read everything that it was given. */
  isDrained: boolean
  /** How much was unread at the last tick. */
  unread: number
  stalledTicks: number
}

export const isWaiting = ({ behind, isDrained }: Watcher): boolean => behind !== null && isDrained

export const isReading = ({ behind }: Watcher, frozen: Frozen | null): boolean =>
  behind?.type === 'snapshot' && behind.frozen === frozen
