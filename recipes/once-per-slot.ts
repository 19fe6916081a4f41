/**
 * Once per time slot: a job that many places start at the same time, such as the cron triggers of several
 * regions, is done by one of them.
 *
 * The slot is a number that all of them agree on, such as `controller.scheduledTime`. So no clock is
 * compared: a clock that is wrong starts a job too early or too late, but never twice for the same slot.
 */
import type { Held, Lock } from '../client/index.ts'
import { duration, ownerName, text, timeToLive } from './options.ts'

export interface SlotOptions {
  /**
   * What happens if the job fails, or its process dies:
   * - `at-least-once` (the default): whoever asks next for the same slot does it again;
   * - `at-most-once`: nobody does it again.
   */
  readonly promise?: 'at-least-once' | 'at-most-once'
  /** How long to wait while somebody else is at it. Default: 10 s. */
  readonly waitMs?: number
  /** How long the slot stays taken if its process dies: 1 s to 10 min. Default: 30 s. */
  readonly ttlMs?: number
  /** What this process calls itself. */
  readonly owner?: string
  /**
   * Where the lock keeps the last slot. Default: `slot`. Jobs with different keys keep each other waiting.
   */
  readonly key?: string
  readonly signal?: AbortSignal
}

export interface Turn {
  readonly slot: number
  /** For effects outside of the lock: whatever is behind can refuse a turn that comes late. */
  readonly fence: number
  /** Aborted if the turn is lost before the job is done. */
  readonly signal: AbortSignal
  /** For operations on the state of the lock, which are refused once the turn is lost. */
  readonly held: Held
}

export type SlotOutcome<T> =
  | { readonly ran: true; readonly value: T }
  /**
   * `done`: this slot is done, or was begun and is not to be repeated. `past`: a later slot is. `busy`:
   * somebody else is at it, and was not done in time.
   */
  | { readonly ran: false; readonly because: 'done' | 'past' | 'busy' }

type SlotRecord = { readonly slot: number; readonly state: 'begun' | 'done'; readonly fence: number }

/**
 * @example
 * async scheduled(controller, env) {
 *   await oncePerSlot(lock, controller.scheduledTime, turn => sendReport({ fence: turn.fence }))
 * }
 */
export async function oncePerSlot<T>(
  lock: Lock,
  slot: number | Date,
  job: (turn: Turn) => Promise<T> | T,
  options: SlotOptions = {},
): Promise<SlotOutcome<T>> {
  const number = Number(slot)
  if (!Number.isSafeInteger(number))
    throw new RangeError(`the slot is a date or a whole number, not ${String(slot)}`)
  const { promise = 'at-least-once', waitMs = 10_000, ttlMs = 30_000, signal } = options
  if (promise !== 'at-least-once' && promise !== 'at-most-once')
    throw new RangeError(`promise is 'at-least-once' or 'at-most-once', not '${promise}'`)
  const key = text('key', options.key ?? 'slot', 512)
  const owner = options.owner === undefined ? {} : { owner: ownerName('owner', options.owner) }
  const wanted = { waitMs: duration('waitMs', waitMs), ttlMs: timeToLive('ttlMs', ttlMs), signal, ...owner }

  const over = (record: SlotRecord | null): 'done' | 'past' | null => {
    if (record === null || record.slot < number) return null
    if (record.slot > number) return 'past'
    return record.state === 'done' || promise === 'at-most-once' ? 'done' : null
  }
  // Most of those that were started find out here, and do not wait for the lock.
  const before = over((await lock.get<SlotRecord>(key, { signal })).value)
  if (before !== null) return { ran: false, because: before }
  const held = await lock.tryAcquire({ ...wanted, hearLoss: true })
  if (held === null) return { ran: false, because: 'busy' }
  try {
    const because = over((await held.get<SlotRecord>(key)).value as SlotRecord | null)
    if (because !== null) return { ran: false, because }
    const { fence } = held
    if (promise === 'at-most-once')
      await held.apply([{ put: key, value: { slot: number, state: 'begun', fence } }])
    const value = await job({ slot: number, fence, signal: held.signal, held })
    // It is refused if the turn was lost meanwhile: then the slot is open again, and the caller is told.
    await held.apply([{ put: key, value: { slot: number, state: 'done', fence } }])
    return { ran: true, value }
  } finally {
    await held[Symbol.asyncDispose]()
  }
}

/** The beginning of the time slot that a time lies in, for those who have a timer of their own. */
export function slotOf(time: number | Date, everyMs: number): number {
  if (!(everyMs >= 1)) throw new RangeError(`everyMs is a number of milliseconds from 1, not ${everyMs}`)
  return Math.floor(Number(time) / everyMs) * everyMs
}
