/**
 * What the three liveness properties have in common. A finite history cannot break a promise of the kind
 * "eventually", so they are judged only when the recorder says, with three marks, that eventually has come:
 *   `healed`   from here on a majority is up and reaches each other (of several such marks the last one
 *              counts);
 *   `settled`  from here on nobody suspects a healed participant;
 *   `end`      everything that was owed has had time enough.
 * Nothing is owed to users at participants that were not healed, nor to a user that crashed. (That nobody is
 * overtaken too often is not a promise of that kind: it is judged in every calm stretch, see waits.ts.)
 */
import { majority } from '../protocols/quorum.ts'
import type { History, HistoryEvent, UserStubEvent } from './events.ts'

export interface LivenessScope {
  /** Places of the marks in the list of events. */
  readonly healed: number
  readonly settled: number
  readonly end: number
  readonly healedParticipants: ReadonlySet<number>
}

/** Returns the scope, or a text that says why there is none. */
export function livenessScope({ header, events }: History): LivenessScope | string {
  const healed = events.findLastIndex(event => event.type === 'healed')
  const mark = events[healed]
  if (mark?.type !== 'healed') return 'the history has no mark `healed`'
  const settled = events.findIndex((event, index) => index > healed && event.type === 'settled')
  if (settled < 0) return 'the history has no mark `settled` after its last mark `healed`'
  const end = events.findIndex((event, index) => index > settled && event.type === 'end')
  if (end < 0) return 'the history has no mark `end` after its mark `settled`'
  const healedParticipants = new Set(mark.participants)
  if (healedParticipants.size < majority(mark.of ?? header.participants))
    return 'no majority of the participants was healed'
  return { healed, settled, end, healedParticipants }
}

export type ActivePhase = 'trying' | 'inside' | 'issuing' | 'leaving'

export interface ActiveUser {
  readonly phase: ActivePhase
  /** The event that brought the user into this phase. */
  readonly since: number
  readonly participant: number
}

/**
 * The users that are not outside and have not crashed. Every history is taken, even one that is not
 * well-formed.
 */
export class ActiveUsers {
  readonly #users = new Map<string, ActiveUser>()

  get size(): number {
    return this.#users.size
  }

  get(user: string): ActiveUser | undefined {
    return this.#users.get(user)
  }

  [Symbol.iterator](): Iterator<[string, ActiveUser]> {
    return this.#users[Symbol.iterator]()
  }

  follow(index: number, event: HistoryEvent): void {
    if (!('user' in event)) return
    const phase = PHASE_AFTER[event.type]
    if (phase === null) this.#users.delete(event.user)
    else this.#users.set(event.user, { phase, since: index, participant: event.participant })
  }
}

const PHASE_AFTER: { readonly [Type in UserStubEvent['type']]: ActivePhase | null } = {
  try: 'trying',
  crit: 'inside',
  issue: 'issuing',
  outcome: 'inside',
  exit: 'leaving',
  rem: null,
  ejected: null,
  withdrawn: null,
  crash: null,
}

/** Which users were where when the recording ended. */
export function activeAtEnd(events: readonly HistoryEvent[], scope: LivenessScope): ActiveUsers {
  const active = new ActiveUsers()
  for (let index = 0; index < scope.end; index++) active.follow(index, events[index]!)
  return active
}
