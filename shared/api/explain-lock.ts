/**
 * What a lock waits for, in words: for whoever looks at its status and has no time to put the views of its
 * participants together. It says nothing that the views do not say.
 */
import { majority } from '../protocols/quorum.ts'

export interface ParticipantSight {
  readonly id: number
  readonly location: string | null
  readonly reachable: boolean
  /** These are `null` if it is not reachable. */
  readonly phase: string | null
  readonly epoch: number | null
  readonly sequence: number | null
  readonly owner: number | null
  readonly suspects: readonly number[] | null
  /** For how long nothing has been heard of it, if that is known. */
  readonly silentMs?: number | undefined
  /** Why it does not take part, if it said so. */
  readonly trouble?: string | undefined
}

export interface LockSight {
  /** Of a lock that guards none, nobody but the participant of its holder knows that it is held. */
  readonly guardsState: boolean
  readonly participants: readonly ParticipantSight[]
  readonly holder: {
    readonly participant: number
    readonly owner?: string | undefined
    readonly heldMs: number | null
    readonly leftMs: number
  } | null
  readonly waiting: { readonly count: number; readonly forMs: number | null }
}

export function explainLock(sight: LockSight): string {
  const { participants } = sight
  if (participants.every(({ reachable, trouble }) => !reachable && trouble === undefined))
    return 'no participant answers, so nobody knows who holds it'
  return [holding(sight), ...participants.flatMap(troubleOf), ...suspicions(sight), ...quorum(sight)].join(
    '; ',
  )
}

// ---------------------------------------------------------------- who holds it

function holding(sight: LockSight): string {
  const { holder, participants } = sight
  const waiting = waitingFor(sight)
  if (holder !== null) {
    const by = holder.owner === undefined ? '' : ` by ${holder.owner}`
    const long = holder.heldMs === null ? '' : ` for ${duration(holder.heldMs)}`
    const end = holder.leftMs > 0 ? `expires in ${duration(holder.leftMs)}` : 'its time is over'
    return [`held${by} at ${nameOf(participants, holder.participant)}${long}`, end, ...waiting].join(', ')
  }
  const owner = participants.find(({ id }) => id === tokenAt(participants))
  if (owner !== undefined && !owner.reachable)
    return [`the token is at ${placeOf(owner)}, which does not say whether it is held`, ...waiting].join(', ')
  const untold = participants.filter(({ reachable, trouble }) => !reachable && trouble === undefined)
  if (!sight.guardsState && untold.length > 0) {
    const who = untold.map(placeOf).join(' or ')
    return [`nobody who answers holds it, but somebody at ${who} may`, ...waiting].join(', ')
  }
  return [sight.waiting.count === 0 ? 'free' : 'not held', ...waiting].join(', ')
}

function waitingFor({ waiting: { count, forMs } }: LockSight): string[] {
  if (count === 0) return []
  const long = forMs === null ? '' : ` (${count === 1 ? '' : 'the first '}for ${duration(forMs)})`
  return [`${count} ${count === 1 ? 'waits' : 'wait'}${long}`]
}

/** Where the token is, as those say that know most. */
function tokenAt(participants: readonly ParticipantSight[]): number | null {
  let best: ParticipantSight | null = null
  for (const one of participants) {
    if (!one.reachable || one.owner === null) continue
    const isNewer =
      best === null ||
      one.epoch! > best.epoch! ||
      (one.epoch === best.epoch && one.sequence! > best.sequence!)
    if (isNewer) best = one
  }
  return best?.owner ?? null
}

// ---------------------------------------------------------------- what is wrong

function troubleOf({ id, reachable, phase, silentMs, trouble }: ParticipantSight): string[] {
  if (trouble !== undefined) return [`participant ${id} does not take part: ${trouble}`]
  if (!reachable) return [`participant ${id} is silent${silentMs ? ` for ${duration(silentMs)}` : ''}`]
  return phase === 'joining' ? [`participant ${id} is being taken back`] : []
}

/** Of one that is silent it is no news. */
function suspicions({ participants }: LockSight): string[] {
  return participants.flatMap(({ id, reachable }) => {
    const by = participants.filter(({ suspects }) => suspects?.includes(id)).map(one => one.id)
    return reachable && by.length > 0 ? [`participant ${id} is suspected by ${by.join(' and ')}`] : []
  })
}

function quorum({ participants }: LockSight): string[] {
  const able = participants.filter(({ reachable, phase }) => reachable && phase !== 'joining').length
  const needed = majority(participants.length)
  if (able >= needed) return []
  return [`no majority: ${able} of ${participants.length} take part, ${needed} are needed to change anything`]
}

// ---------------------------------------------------------------- words

function nameOf(participants: readonly ParticipantSight[], id: number): string {
  const place = participants.find(one => one.id === id)
  return place === undefined ? String(id) : placeOf(place)
}

const placeOf = ({ id, location }: ParticipantSight): string =>
  location === null ? String(id) : `${id} (${location})`

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Clocks may have been set back: nothing lasts for less than nothing. */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`
  return ms < 2 * HOUR_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${Math.round(ms / HOUR_MS)} h`
}
