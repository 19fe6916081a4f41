/**
 * The critical section instances of a history and the operations that were issued in them, found by their
 * fences. It takes every history, even one that is not well-formed; check-well-formedness.ts judges that.
 */
import type { HistoryEvent } from './events.ts'
import type { EventOf } from './serial-order.ts'

export interface Instance {
  readonly fence: number
  readonly user: string
  /** The paper's init event: the `try` that led to it. */
  readonly init: number | null
  readonly crit: number
  /** The paper's final event: the first of `rem`, `ejected` and `crash`. */
  readonly final: number | null
}

export interface Instances {
  /** By fence; where two have the same fence, the first. */
  readonly byFence: ReadonlyMap<number, Instance>
  /** The `crit` events whose fence another one had before. */
  readonly repeated: readonly number[]
  /** The `issue` events by `issueKey`, in order. */
  readonly issues: ReadonlyMap<string, readonly number[]>
}

export const issueKey = (fence: number, opId: string): string => `${fence} ${opId}`

type Draft = { -readonly [Field in keyof Instance]: Instance[Field] }

/** What is remembered of a user while the events go by. */
interface UserTrack {
  lastTry: number | null
  readonly open: Set<Draft>
}

export function findInstances(events: readonly HistoryEvent[]): Instances {
  const byFence = new Map<number, Draft>()
  const repeated: number[] = []
  const issues = new Map<string, number[]>()
  const users = new Map<string, UserTrack>()
  for (const [index, event] of events.entries()) {
    switch (event.type) {
      case 'try':
        trackOf(users, event.user).lastTry = index
        break
      case 'crit':
        if (byFence.has(event.fence)) repeated.push(index)
        else open(byFence, trackOf(users, event.user), index, event)
        break
      case 'issue':
        append(issues, issueKey(event.fence, event.opId), index)
        break
      case 'rem':
      case 'ejected': {
        const instance = byFence.get(event.fence)
        if (instance?.user === event.user) close(trackOf(users, event.user), instance, index)
        break
      }
      case 'crash': {
        const track = trackOf(users, event.user)
        for (const instance of track.open) close(track, instance, index)
        break
      }
    }
  }
  return { byFence, repeated, issues }
}

function trackOf(users: Map<string, UserTrack>, user: string): UserTrack {
  const known = users.get(user)
  if (known !== undefined) return known
  const track: UserTrack = { lastTry: null, open: new Set() }
  users.set(user, track)
  return track
}

function open(byFence: Map<number, Draft>, track: UserTrack, index: number, event: EventOf<'crit'>): void {
  const instance = { fence: event.fence, user: event.user, init: track.lastTry, crit: index, final: null }
  track.lastTry = null
  track.open.add(instance)
  byFence.set(event.fence, instance)
}

function close(track: UserTrack, instance: Draft, index: number): void {
  if (instance.final === null) instance.final = index
  track.open.delete(instance)
}

function append(lists: Map<string, number[]>, key: string, index: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [index])
  else list.push(index)
}
