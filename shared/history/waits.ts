/**
 * The waits of a history, as far as fairness is owed: within *stretches* in which nothing goes wrong. A
 * stretch lies between the marks `calm` and `fault`, for all users, or between the marks `healed` and `end`,
 * for those that were healed.
 *
 * Readers share: while one of them stays long, a user may wait for it, and other readers come and go beside
 * it. They are not what the user waits for. So grants to readers do not count while a reader is inside that
 * was there when the waiting began, or that went first at the same participant because it had waited there
 * for longer. A grant to a writer counts: whoever is in its way is in the way of the one that waits as well.
 */
import type { Mode } from '../protocols/protocol.ts'
import type { HistoryEvent } from './events.ts'
import { type ActiveUser, ActiveUsers, type LivenessScope } from './liveness.ts'

/** One wait: until `crit`, until the user gave up, or until the end of the stretch. */
export interface Wait {
  readonly user: string
  readonly participant: number
  readonly from: number
  /** The `crit` or `withdrawn` that ended it; `null`: the stretch did. */
  readonly ended: number | null
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
  /** The grants to others that count, since a user began to wait, or since the stretch began. */
  readonly #othersGranted = new Map<string, number>()
  readonly #readers = new Readers()

  open(stretch: Stretch): void {
    this.#othersGranted.clear()
    for (const participant of this.#usersAt.keys()) this.#notePeak(stretch, participant)
  }

  close(stretch: Stretch): void {
    for (const [user, waiting] of this.#active) {
      if (waiting.phase === 'trying') this.#add(stretch, user, waiting, null)
    }
  }

  follow(index: number, event: HistoryEvent, stretch: Stretch | null): void {
    if (event.type === 'try') this.#othersGranted.delete(event.user)
    if (event.type === 'crit' || event.type === 'withdrawn') {
      const waiting = this.#active.get(event.user)
      if (stretch !== null && waiting?.phase === 'trying') this.#add(stretch, event.user, waiting, index)
    }
    if (event.type === 'crit') this.#countGrant(event.user, this.#readers.isReader(event))
    this.#readers.follow(event, this.#active)
    this.#active.follow(index, event)
    if (!('user' in event)) return
    this.#seat(event.user, event.participant)
    if (stretch !== null) this.#notePeak(stretch, event.participant)
  }

  #countGrant(to: string, isReader: boolean): void {
    for (const [user, { phase }] of this.#active) {
      if (user === to || phase !== 'trying' || (isReader && this.#readers.areAwaitedBy(user))) continue
      this.#othersGranted.set(user, (this.#othersGranted.get(user) ?? 0) + 1)
    }
  }

  #add(stretch: Stretch, user: string, { since, participant }: ActiveUser, ended: number | null): void {
    if (stretch.participants?.has(participant) === false) return
    const othersGranted = this.#othersGranted.get(user) ?? 0
    stretch.waits.push({ user, participant, from: since, ended, othersGranted })
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

/** The readers that are inside, and the users that wait for them to leave. */
class Readers {
  readonly #modes = new Map<string, Mode | undefined>()
  readonly #inside = new Set<string>()
  readonly #awaited = new Map<string, Set<string>>()

  areAwaitedBy(user: string): boolean {
    return (this.#awaited.get(user)?.size ?? 0) > 0
  }

  isReader({ user, mode }: { readonly user: string; readonly mode?: Mode }): boolean {
    return (mode ?? this.#modes.get(user)) === 'shared'
  }

  /** `active`: as it was before the event. */
  follow(event: HistoryEvent, active: ActiveUsers): void {
    if (!('user' in event)) return
    const { user } = event
    switch (event.type) {
      case 'try':
        this.#modes.set(user, event.mode)
        this.#awaited.set(user, new Set(this.#inside))
        return
      case 'crit':
        this.#awaited.delete(user)
        if (!this.isReader(event)) return
        this.#inside.add(user)
        this.#hasGoneFirst(user, active)
        return
      case 'rem':
      case 'ejected':
      case 'withdrawn':
      case 'crash':
        this.#awaited.delete(user)
        if (this.#inside.delete(user)) for (const readers of this.#awaited.values()) readers.delete(user)
    }
  }

  #hasGoneFirst(reader: string, active: ActiveUsers): void {
    const waited = active.get(reader)
    if (waited?.phase !== 'trying') return
    for (const [user, { phase, participant, since }] of active) {
      if (phase !== 'trying' || participant !== waited.participant || since <= waited.since) continue
      this.#awaited.get(user)?.add(reader)
    }
  }
}
