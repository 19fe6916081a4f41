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

type Note = (who: string, text: string) => void

export class Histories {
  readonly #note: Note
  /** By lock and generation. */
  readonly #locks = new Map<string, Recording>()
  /** How many steps of each object are durable. */
  readonly #steps = new Map<string, number>()

  constructor(note: Note) {
    this.#note = note
  }

  eventsOf(lock: string, generation: number): readonly HistoryEvent[] {
    return this.#of(lock, generation).events
  }

  /** Whoever was at this participant is gone with the lock. */
  ended({ lock, participant }: SimObject, generation: number, at: number): void {
    this.#leave(lock, generation, participant, at)
  }

  committed(object: SimObject, generation: number, group: Group, now: number): void {
    for (const text of this.#newSteps(object, group)) {
      const { history } = JSON.parse(text) as { readonly history: readonly HistoryEvent[] }
      for (const event of history) {
        this.#note(object.name, describe(event))
        this.#record(object.lock, generation, { ...event, at: now })
      }
    }
  }

  /** A step is in the journal first, and in a block later; one of a very long turn is in a block at once. */
  #newSteps({ name }: SimObject, group: Group): string[] {
    const found: string[] = []
    let steps = this.#steps.get(name) ?? 0
    for (const write of group) {
      if (write[0] === 'journal') found.push(...linesOf(write[3]).filter(line => line.startsWith('{')))
      if (write[0] !== 'append') continue
      const { first, body } = write[1]
      found.push(...linesOf(body).slice(Math.max(0, steps + found.length + 1 - first)))
    }
    steps += found.length
    this.#steps.set(name, steps)
    return found
  }

  /** The replica is empty, and whoever was at this participant is gone with it. */
  wiped({ lock, participant, name }: SimObject, generation: number, at: number): void {
    this.#steps.delete(name)
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
