/**
 * What the participants of each lock recorded, as their steps became durable: outside of the participants,
 * so that no crash and no lost storage takes any of it away, and by the time of the run, which is the same
 * for all.
 */
import type { HistoryEvent } from '../../../shared/history/events.ts'
import { ActiveUsers } from '../../../shared/history/liveness.ts'
import { linesOf } from '../../../worker/participant/core/lines.ts'
import type { Group, SimObject } from './sim-object.ts'

interface Recording {
  readonly events: HistoryEvent[]
  readonly users: ActiveUsers
}

/** Above all numbers of participants. */
const ALIKE = 10_000

/** The number that such a participant has in its lock. */
export const numberOf = (participant: number): number => participant % ALIKE

type Note = (who: string, text: string) => void

export class Histories {
  readonly #note: Note
  /** By lock and generation. */
  readonly #locks = new Map<string, Recording>()
  /** By object: how many steps are in the journal, and in no block yet. */
  readonly #unfolded = new Map<string, number>()
  /** By object: how often it has lost its storage. */
  readonly #lives = new Map<string, number>()
  /** The names of the objects of a lock that have the same number. */
  readonly #alike = new Map<string, string[]>()

  constructor(note: Note) {
    this.#note = note
  }

  eventsOf(lock: string, generation: number): readonly HistoryEvent[] {
    return this.#of(lock, generation).events
  }

  /** Whoever was at this participant is gone with the lock. */
  ended(object: SimObject, generation: number, at: number): void {
    this.#leave(object.lock, generation, this.#numberOf(object), at)
  }

  /**
   * A participant that has lost its storage has forgotten its users. A request that was sent again brings one
   * of the same name, which is another user to it.
   */
  #asOf(object: SimObject, event: HistoryEvent): HistoryEvent {
    if (!('participant' in event)) return event
    const named = { ...event, participant: this.#numberOf(object) }
    const life = this.#lives.get(object.name) ?? 0
    return 'user' in named && life > 0 ? { ...named, user: `${named.user} (life ${life})` } : named
  }

  /** Two that were to become participants at once may have the same number: they are different replicas. */
  #numberOf({ lock, participant, name }: SimObject): number {
    const alike = this.#alike.get(`${lock} ${participant}`) ?? []
    this.#alike.set(`${lock} ${participant}`, alike)
    if (!alike.includes(name)) alike.push(name)
    return participant + ALIKE * alike.indexOf(name)
  }

  committed(object: SimObject, generation: number, group: Group, now: number): void {
    for (const text of this.#newSteps(object, group)) {
      const { history } = JSON.parse(text) as { readonly history: readonly HistoryEvent[] }
      for (const event of history) {
        this.#note(object.name, describe(event))
        this.#record(object.lock, generation, this.#asOf(object, { ...event, at: now }))
      }
    }
  }

  /**
   * A step is in the journal first, and in a block later; one of a very long turn is in a block at once. The
   * steps of a lock that is deleted go with its storage, written or not.
   */
  #newSteps({ name }: SimObject, group: Group): string[] {
    const found: string[] = []
    let unfolded = this.#unfolded.get(name) ?? 0
    for (const write of group) {
      if (write[0] === 'empty') unfolded = 0
      if (write[0] === 'journal') {
        const steps = linesOf(write[3]).filter(line => line.startsWith('{'))
        unfolded += steps.length
        found.push(...steps)
      }
      if (write[0] !== 'append') continue
      const lines = linesOf(write[1].body)
      found.push(...lines.slice(unfolded))
      unfolded = Math.max(0, unfolded - lines.length)
    }
    this.#unfolded.set(name, unfolded)
    return found
  }

  /** The replica is empty, and whoever was at this participant is gone with it. */
  wiped(object: SimObject, generation: number, at: number): void {
    const { lock, name } = object
    const participant = this.#numberOf(object)
    this.#unfolded.delete(name)
    this.#lives.set(name, (this.#lives.get(name) ?? 0) + 1)
    this.#record(lock, generation, { at, type: 'wipe', participant })
    this.#leave(lock, generation, participant, at)
  }

  #leave(lock: string, generation: number, participant: number, at: number): void {
    const { users } = this.#of(lock, generation)
    const gone = [...users].filter(([, user]) => user.participant === participant)
    for (const [user] of gone) this.#record(lock, generation, { at, type: 'crash', participant, user })
  }

  #record(lock: string, generation: number, event: HistoryEvent): void {
    const recording = this.#of(lock, generation)
    recording.users.follow(recording.events.length, event)
    recording.events.push(event)
  }

  #of(lock: string, generation: number): Recording {
    const key = `${lock} ${generation}`
    const known = this.#locks.get(key)
    if (known !== undefined) return known
    const recording = { events: [], users: new ActiveUsers() }
    this.#locks.set(key, recording)
    return recording
  }
}

function describe(event: HistoryEvent): string {
  const { type } = event
  const user = 'user' in event ? ` ${event.user}` : ''
  const fence = 'fence' in event ? ` fence ${event.fence}` : ''
  const operation = 'opId' in event ? ` ${event.opId}` : ''
  const sequence = 'sequence' in event ? ` at ${event.sequence}` : ''
  return `* ${type}${user}${fence}${operation}${sequence}`
}
