/**
 * The waits of a history, as far as fairness is owed: within *stretches* in which nothing goes wrong. A
 * stretch lies between the marks `calm` and `fault`, for all users, or between the marks `healed` and `end`,
 * for those that were healed.
 *
 * Readers share: while one of them stays long, a user may wait for it, and other readers come and go. So
 * grants count only after the readers that were inside when the waiting began have left.
 */
import type { Mode } from '../protocols/protocol.ts'
import type { HistoryEvent } from './events.ts'
import { type ActiveUser, ActiveUsers, type LivenessScope } from './liveness.ts'

/** One wait: until `crit`, or until the end of the stretch. */
export interface Wait {
  readonly user: string
  readonly participant: number
  readonly from: number
  readonly crit: number | null
  readonly othersGranted: number
}

export interface Stretch {
  readonly start: number
  readonly end: number
  /** `null`: all participants. */
  readonly participants: ReadonlySet<number> | null
  readonly waits: Wait[]
  /** The most users that were active at once: in all, and by participant. */
  usersAtOnce: number
  readonly usersAt: Map<number, number>
}

const stretchOf = (start: number, end: number, participants: Stretch['participants'] = null): Stretch => {
  return { start, end, participants, waits: [], usersAtOnce: 0, usersAt: new Map() }
}

/** In order. The last one is that of the scope, if there is one. */
function findStretches(events: readonly HistoryEvent[], scope: LivenessScope | null): Stretch[] {
  const stretches: Stretch[] = []
  let start: number | null = null
  const calmUntil = scope?.healed ?? events.length
  for (let index = 0; index <= calmUntil; index++) {
    const type = events[index]?.type
    if (type === 'calm') start ??= index
    else if (start !== null && (type === 'fault' || index === calmUntil)) {
      stretches.push(stretchOf(start, index))
      start = null
    }
  }
  if (scope !== null) stretches.push(stretchOf(scope.healed, scope.end, scope.healedParticipants))
  return stretches
}

export function collectWaits(events: readonly HistoryEvent[], scope: LivenessScope | null): Stretch[] {
  const stretches = findStretches(events, scope)
  const room = new WaitingRoom()
  let next = 0
  for (let index = 0; next < stretches.length; index++) {
    let stretch = stretches[next]!
    if (index === stretch.end) {
      room.close(stretch)
      next++
      stretch = stretches[next] ?? stretch
      if (stretch.end === index) continue
    }
    if (index === stretch.start) room.open(stretch)
    room.follow(index, events[index]!, index > stretch.start && index < stretch.end ? stretch : null)
  }
  return stretches
}

/** The users that wait, those that are active, and how often others were let in meanwhile. */
class WaitingRoom {
  readonly #active = new ActiveUsers()
  readonly #usersAt = new Map<number, Set<string>>()
  /** How many grants there were when a user began to wait. */
  readonly #grantsAtTry = new Map<string, number>()
  readonly #readers = new Readers()
  #grants = 0
  #grantsAtStart = 0

  open(stretch: Stretch): void {
    this.#grantsAtStart = this.#grants
    for (const participant of this.#usersAt.keys()) this.#notePeak(stretch, participant)
  }

  close(stretch: Stretch): void {
    for (const [user, waiting] of this.#active) {
      if (waiting.phase === 'trying') this.#add(stretch, user, waiting, null)
    }
  }

  follow(index: number, event: HistoryEvent, stretch: Stretch | null): void {
    if (event.type === 'try') this.#grantsAtTry.set(event.user, this.#grants)
    if (event.type === 'crit') {
      const waiting = this.#active.get(event.user)
      if (stretch !== null && waiting?.phase === 'trying') this.#add(stretch, event.user, waiting, index)
      this.#grants++
    }
    this.#active.follow(index, event)
    for (const user of this.#readers.follow(event)) this.#grantsAtTry.set(user, this.#grants)
    if (!('user' in event)) return
    this.#seat(event.user, event.participant)
    if (stretch !== null) this.#notePeak(stretch, event.participant)
  }

  #add(stretch: Stretch, user: string, { since, participant }: ActiveUser, crit: number | null): void {
    if (stretch.participants?.has(participant) === false) return
    const start = Math.max(this.#grantsAtTry.get(user) ?? 0, this.#grantsAtStart)
    const othersGranted = this.#readers.areAwaitedBy(user) ? 0 : this.#grants - start
    stretch.waits.push({ user, participant, from: since, crit, othersGranted })
  }

  #seat(user: string, participant: number): void {
    const users = this.#usersAt.get(participant) ?? new Set()
    this.#usersAt.set(participant, users)
    if (this.#active.get(user) === undefined) users.delete(user)
    else users.add(user)
  }

  #notePeak(stretch: Stretch, participant: number): void {
    const users = this.#usersAt.get(participant)!.size
    stretch.usersAt.set(participant, Math.max(users, stretch.usersAt.get(participant) ?? 0))
    stretch.usersAtOnce = Math.max(stretch.usersAtOnce, this.#active.size)
  }
}

/** The readers that were inside when a user began to wait, and that it still waits for. */
class Readers {
  readonly #modes = new Map<string, Mode | undefined>()
  readonly #inside = new Set<string>()
  readonly #awaited = new Map<string, Set<string>>()

  areAwaitedBy(user: string): boolean {
    return this.#awaited.has(user)
  }

  /** Returns the users that need not wait for readers any more. */
  follow(event: HistoryEvent): string[] {
    if (!('user' in event)) return []
    const { user } = event
    switch (event.type) {
      case 'try':
        this.#modes.set(user, event.mode)
        if (this.#inside.size > 0) this.#awaited.set(user, new Set(this.#inside))
        return []
      case 'crit':
        this.#awaited.delete(user)
        if ((event.mode ?? this.#modes.get(user)) === 'shared') this.#inside.add(user)
        return []
      case 'rem':
      case 'ejected':
      case 'withdrawn':
      case 'crash':
        this.#awaited.delete(user)
        return this.#inside.delete(user) ? this.#left(user) : []
      default:
        return []
    }
  }

  #left(reader: string): string[] {
    const free: string[] = []
    for (const [user, readers] of this.#awaited) {
      if (readers.delete(reader) && readers.size === 0) free.push(user)
    }
    for (const user of free) this.#awaited.delete(user)
    return free
  }
}
