/**
 * What happened in a run, moment by moment: the page draws this and nothing else. A run of the page
 * (host.ts), a seed of the simulator and a recorded history all become a tape, so all are shown alike. To go
 * back is to look at an earlier moment.
 */
import type { History } from '../../../shared/history/events.ts'
import type { Json } from '../../../shared/json.ts'

export interface Tape {
  readonly protocol: string
  /** Whether users change a state that the lock guards. */
  readonly guardsState: boolean
  readonly moments: readonly Moment[]
  /** By their number. */
  readonly messages: readonly Message[]
  readonly history: History
}

/** One thing that happened, at one participant or (0) to the world between them. */
export interface Moment {
  readonly at: number
  readonly participant: number
  readonly text: string
  /** A number in `messages`. */
  readonly received: number | null
  readonly marks: readonly Mark[]
  /** What has changed about participants: usually one, or none. */
  readonly seats: readonly Seat[]
  /** How many events the history has after this. */
  readonly recorded: number
  /** How many messages have left by now. */
  readonly sent: number
  /** Links that are cut now, as from and to. The list is shared by all moments that agree. */
  readonly cuts: readonly Link[]
}

export type Link = readonly [from: number, to: number]

export interface Message {
  readonly from: number
  readonly to: number
  readonly type: string
  /** The moments in which it left and arrived. `null`: it is on its way, or lost. */
  readonly sentIn: number
  receivedIn: number | null
  /** When it arrives, or would have. */
  readonly sentAt: number
  readonly arrivesAt: number | null
}

export type Glyph =
  | 'try'
  | 'withdrawn'
  | 'enter'
  | 'issue'
  | 'outcome'
  | 'applied'
  | 'restored'
  | 'exit'
  | 'leave'
  | 'ejected'
  | 'epoch'
  | 'suspects'
  | 'trusts'
  | 'crash'
  | 'start'
  | 'pause'
  | 'resume'
  | 'wipe'
  | 'cut'
  | 'heal'
  | 'operator'
  | 'members'

export interface Mark {
  readonly glyph: Glyph
  readonly participant: number
  readonly text: string
}

/** What is known about a participant after a moment. */
export interface Seat {
  readonly id: number
  readonly condition: 'up' | 'paused' | 'down' | 'off'
  readonly isMember: boolean
  readonly phase: string
  readonly epoch: number
  readonly sequence: number
  readonly committed: number
  readonly owner: number | null
  readonly suspects: readonly number[]
  readonly waiters: readonly string[]
  readonly holders: readonly SeatHolder[]
  /** What its replica holds; `null` if the lock guards nothing. */
  readonly cells: readonly SeatCell[] | null
}

export interface SeatHolder {
  readonly user: string
  readonly fence: number
  readonly expiresAt: number | null
  readonly isIssuing: boolean
}

export interface SeatCell {
  readonly key: string
  readonly value: Json
  readonly revision: number
}

/** The participant's seat after the first `position` moments; `null` before it came. */
export function seatAt(tape: Tape, id: number, position: number): Seat | null {
  for (let index = Math.min(position, tape.moments.length) - 1; index >= 0; index--) {
    const seat = tape.moments[index]!.seats.find(one => one.id === id)
    if (seat !== undefined) return seat
  }
  return null
}

/** Of every participant that has come by then, in the order of their numbers. */
export function seatsAt(tape: Tape, position: number): Seat[] {
  const seats = new Map<number, Seat>()
  for (let index = Math.min(position, tape.moments.length) - 1; index >= 0; index--) {
    for (const seat of tape.moments[index]!.seats) if (!seats.has(seat.id)) seats.set(seat.id, seat)
  }
  return [...seats.values()].sort((one, other) => one.id - other.id)
}

/** The numbers of all participants that ever come. */
export function participantsOf(tape: Tape): number[] {
  const ids = new Set<number>()
  for (const { seats } of tape.moments) for (const { id } of seats) ids.add(id)
  return [...ids].sort((one, other) => one - other)
}
