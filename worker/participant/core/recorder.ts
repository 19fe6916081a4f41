/**
 * What one step means for the history (which the checker judges) and for watchers. User events are recorded
 * once, when the stub takes them up: a retry that is merely answered again, and an event that is refused,
 * change nothing and leave no trace.
 */

import type { HistoryEvent } from '../../../shared/history/events.ts'
import type { Json } from '../../../shared/json.ts'
import type { Emitted, HoldingUser, UserInput, UserOutput, View } from '../../../shared/protocols/protocol.ts'
import { isAside, isFinish } from '../../../shared/resource/import.ts'
import { keyOfCell } from '../../../shared/resource/key-value.ts'
import type { CellChange } from '../../../shared/resource/resource.ts'
import type { WatchEvent } from './event-log.ts'
import { iso } from './iso.ts'
import type { Stay } from './owners.ts'

/**
 * The users of this participant before a step: they tell whether a user event was taken up or answered from
 * memory.
 */
export type LocalUsers = Pick<View, 'holders' | 'waiters'>

export interface Recorded {
  readonly history: HistoryEvent[]
  readonly changes: WatchEvent[]
}

export function recordStep(
  participant: number,
  at: number,
  before: LocalUsers,
  cause: UserInput | null,
  emitted: readonly Emitted[],
  hash: () => string,
  stayOf: (user: string) => Stay | undefined = () => undefined,
): Recorded {
  const history: HistoryEvent[] = []
  const changes: WatchEvent[] = []
  const isRefused = emitted.some(event => event.type === 'refused' && event.event === cause?.type)
  const opening = cause === null || isRefused ? null : openingEvent(participant, at, before, cause, stayOf)
  if (opening !== null) history.push(opening)
  const isRepeat = (event: UserOutput) => opening === null && isAnsweredAgain(before, cause, event)
  for (const event of emitted) {
    switch (event.type) {
      case 'applied': {
        const { sequence, fence, opId, operation, result } = event
        history.push({ at, participant, type: 'invoke', sequence, fence, opId, operation })
        history.push({ at, participant, type: 'response', sequence, opId, result })
        // The whole state is no event: watchers begin with a snapshot.
        if (isFinish(operation)) break
        changes.push({
          event: 'op',
          sequence,
          data: { sequence, fence, opId, changes: describe(event.changes) },
        })
        break
      }
      case 'granted': {
        const { sequence, fence, to } = event
        const holder = to === participant ? holderWith(fence, at, before, emitted, stayOf) : {}
        changes.push({ event: 'holder', sequence, data: { sequence, participant: to, fence, ...holder } })
        break
      }
      case 'restored':
        history.push({ at, participant, type: 'restore', sequence: event.sequence, hash: hash() })
        break
      case 'crit': {
        const { fence, epoch, expiresAt } = event
        const user = nameOf(participant, event.user)
        const own = ownerIn(stayOf(event.user))
        if (!isRepeat(event))
          history.push({ at, participant, type: 'crit', user, fence, epoch, expiresAt, ...own })
        break
      }
      case 'outcome': {
        const { fence, opId, sequence, result } = event
        const user = nameOf(participant, event.user)
        if (!isRepeat(event))
          history.push({ at, participant, type: 'outcome', user, fence, opId, sequence, result })
        break
      }
      case 'rem': {
        const { fence } = event
        const user = nameOf(participant, event.user)
        if (hasOutcome(emitted, event)) history.push({ at, participant, type: 'exit', user, fence })
        if (!isRepeat(event)) history.push({ at, participant, type: 'rem', user, fence })
        break
      }
      case 'ejected': {
        const { fence, reason, pending } = event
        const user = nameOf(participant, event.user)
        history.push({ at, participant, type: 'ejected', user, fence, reason, ...(pending && { pending }) })
        break
      }
      case 'withdrawn':
        history.push({ at, participant, type: 'withdrawn', user: nameOf(participant, event.user) })
        break
      case 'refused':
        // The core that it waited in was dropped: the user has to try again.
        if (event.event === 'try' && cause?.type !== 'try' && isWaiting(before, event.user))
          history.push({ at, participant, type: 'withdrawn', user: nameOf(participant, event.user) })
    }
  }
  return { history, changes }
}

/** A user that asked to leave with its operation does both in one step. */
const hasOutcome = (emitted: readonly Emitted[], { user, fence }: { user: string; fence: number }): boolean =>
  emitted.some(event => event.type === 'outcome' && event.user === user && event.fence === fence)

const ownerIn = (stay: Stay | undefined): { readonly owner?: string } =>
  stay?.owner === undefined ? {} : { owner: stay.owner }

/** Who holds the lock here with this fence, as watchers are told; nothing if nobody is inside. */
function holderWith(
  fence: number,
  at: number,
  before: LocalUsers,
  emitted: readonly Emitted[],
  stayOf: (user: string) => Stay | undefined,
): HolderDetails {
  const isIt = (event: Emitted) => event.type === 'crit' && event.fence === fence
  const entered = emitted.find(isIt) as Extract<UserOutput, { type: 'crit' }> | undefined
  const inside = before.holders.find(holder => holder.fence === fence)
  const holder = inside ?? entered
  if (holder === undefined) return {}
  const stay = stayOf(holder.user)
  const since = inside === undefined ? at : (stay?.since ?? at)
  return { since: iso(since), expiresAt: iso(holder.expiresAt), ...ownerIn(stay) }
}

type HolderDetails = { readonly since?: string; readonly expiresAt?: string; readonly owner?: string }

const isWaiting = ({ waiters }: LocalUsers, user: string): boolean =>
  waiters.some(waiter => waiter.user === user)

/** Whether this is the answer to a retry. What the same step says to other users is news to them. */
function isAnsweredAgain(before: LocalUsers, cause: UserInput | null, event: UserOutput): boolean {
  if (cause === null || !('user' in cause) || !('user' in event) || cause.user !== event.user) return false
  switch (event.type) {
    case 'crit':
      return cause.type === 'try' && isHolder(before, cause.user)
    case 'outcome':
      return cause.type === 'issue'
    case 'rem':
      return cause.type === 'exit'
    default:
      return false
  }
}

/** The user's own event, if the stub took it up. */
function openingEvent(
  participant: number,
  at: number,
  before: LocalUsers,
  cause: UserInput,
  stayOf: (user: string) => Stay | undefined,
): HistoryEvent | null {
  switch (cause.type) {
    case 'try': {
      const { user, mode } = cause
      const isKnown = isHolder(before, user) || before.waiters.some(waiter => waiter.user === user)
      if (isKnown) return null
      const name = nameOf(participant, user)
      return { at, participant, type: 'try', user: name, ...(mode && { mode }), ...ownerIn(stayOf(user)) }
    }
    case 'issue': {
      const { fence, opId, operation } = cause
      const user = nameOf(participant, cause.user)
      return isInside(before, cause) ? { at, participant, type: 'issue', user, fence, opId, operation } : null
    }
    case 'exit': {
      const { fence } = cause
      const user = nameOf(participant, cause.user)
      return isInside(before, cause) ? { at, participant, type: 'exit', user, fence } : null
    }
    default:
      return null
  }
}

function isInside(before: LocalUsers, cause: { readonly user: string; readonly fence: number }): boolean {
  const isIt = ({ user, fence }: HoldingUser) => user === cause.user && fence === cause.fence
  return before.holders.some(holder => isIt(holder) && !holder.isIssuing)
}

const isHolder = ({ holders }: LocalUsers, user: string): boolean =>
  holders.some(holder => holder.user === user)

/**
 * A user's name in the history. The same client may have tried at another participant before: there it was
 * another user. A reader of the history must not be able to make a grant's id from it, so most of the name
 * stays secret.
 */
export function nameOf(participant: number, user: string): string {
  return `${participant}/${user.slice(0, 8)}`
}

function describe(changes: readonly CellChange[]): Json {
  const seen = changes.filter(({ cell }) => !isAside(cell))
  return seen.map(({ cell, value }) => {
    const key = keyOfCell(cell)
    return value === null ? { key, deleted: true } : { key, ...(value as { [member: string]: Json }) }
  })
}
