/**
 * The generations of each lock, as their participants stored them: which configuration each had, and which
 * of them are over. A participant that hears that its lock was deleted empties its storage in one write.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import type { BirthRecord } from '../../../shared/birth/lock-types.ts'
import { type Group, recordsWritten } from './disk.ts'
import type { SimObject } from './sim-object.ts'

const BIRTH = 'birth'

/** What a generation was made of, and when the first participant knew so. */
export interface Chosen {
  readonly configuration: LockConfiguration
  readonly at: number
}

export class Generations {
  readonly #present = new Map<string, number>()
  readonly #configurations = new Map<string, LockConfiguration>()
  readonly #chosen = new Map<string, Chosen>()
  readonly #ended = new Map<string, number>()

  /** The generation that this object is in; those after it begin with `emptiedBy`. */
  of({ name }: SimObject): number {
    return this.#present.get(name) ?? 1
  }

  /** The latest one that anybody has heard of. */
  latest(lock: string, objects: Iterable<SimObject>): number {
    let latest = 1
    for (const object of objects) if (object.lock === lock) latest = Math.max(latest, this.of(object))
    return latest
  }

  configurationOf(lock: string, generation: number): LockConfiguration | null {
    return this.#configurations.get(`${lock} ${generation}`) ?? null
  }

  chosenOf(lock: string, generation: number): Chosen | null {
    return this.#chosen.get(`${lock} ${generation}`) ?? null
  }

  /** When the first participant knew that this generation is over. */
  endedAt(lock: string, generation: number): number | null {
    return this.#ended.get(`${lock} ${generation}`) ?? null
  }

  /** Before anything else is told of this commit. Returns whether the object has begun a generation. */
  committed(object: SimObject, group: Group, at: number): boolean {
    const birth = birthIn(group)
    if (birth === null) return false
    this.#noteTimes(object.lock, birth, at)
    const value = birth.chosen ?? (birth.accepted?.ballot === 0 ? birth.accepted.value : null)
    if (value !== null) this.#configurations.set(`${object.lock} ${birth.generation}`, value.configuration)
    const isNew = birth.generation > this.of(object)
    if (isNew) this.#present.set(object.name, birth.generation)
    return isNew
  }

  #noteTimes(lock: string, { generation, chosen }: BirthRecord, at: number): void {
    const key = `${lock} ${generation}`
    if (chosen !== null && !this.#chosen.has(key))
      this.#chosen.set(key, { configuration: chosen.configuration, at })
    for (let before = generation - 1; before > 0 && !this.#ended.has(`${lock} ${before}`); before--)
      this.#ended.set(`${lock} ${before}`, at)
  }

  wiped({ name }: SimObject): void {
    this.#present.delete(name)
  }
}

function birthIn(group: Group): BirthRecord | null {
  const text = recordsWritten(group).findLast(([key]) => key === BIRTH)?.[1]
  return text === undefined || text === null ? null : (JSON.parse(text) as BirthRecord)
}
