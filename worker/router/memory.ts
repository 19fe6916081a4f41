/**
 * What one isolate's router remembers between requests. All of it may be lost at any time, and none of it
 * grows.
 */
import type { LockConfiguration, ParticipantPlace } from '../../shared/api/configuration.ts'
import { firstOwnerOf } from '../../shared/birth/value.ts'

const MAX_LOCKS = 1_000
const MAX_SILENCES = 1_000
const MAX_FORMER = 26

/** A map that forgets what was used least recently. */
export class BoundedMap<Value> {
  private readonly entries = new Map<string, Value>()
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  get size(): number {
    return this.entries.size
  }

  get(key: string): Value | undefined {
    const value = this.entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.entries.delete(key)
    this.entries.set(key, value)
    if (this.entries.size > this.most) this.entries.delete(this.entries.keys().next().value!)
  }

  delete(key: string): void {
    this.entries.delete(key)
  }
}

/**
 * The configurations that participants reported. They rarely change, and a participant that is no longer one
 * says so, so nothing here needs to expire.
 */
export class KnownConfigurations {
  private readonly known = new BoundedMap<LockConfiguration>(MAX_LOCKS)
  /** Participants that locks had before. */
  private readonly former = new BoundedMap<readonly ParticipantPlace[]>(MAX_LOCKS)
  private readonly defaults: (lock: string) => LockConfiguration

  constructor(defaults: (lock: string) => LockConfiguration) {
    this.defaults = defaults
  }

  knows(lock: string): boolean {
    return this.known.get(lock) !== undefined
  }

  of(lock: string): LockConfiguration {
    return this.known.get(lock) ?? this.defaults(lock)
  }

  /** Where every lock of this name begins. */
  defaultsOf(lock: string): readonly ParticipantPlace[] {
    return this.defaults(lock).participants
  }

  /**
   * The participant to ask if none is nearer: a lock that is new is born there without asking the others, and
   * locks are spread over the participants.
   */
  firstOf(lock: string): number {
    return firstOwnerOf(lock, this.defaultsOf(lock).length)
  }

  forget(lock: string): void {
    this.known.delete(lock)
    this.former.delete(lock)
  }

  /**
   * An answer that was on its way while a newer one overtook it must not bring the old configuration back.
   */
  learn(lock: string, configuration: LockConfiguration): void {
    const before = this.known.get(lock)
    const later = before === undefined ? 1 : generationOf(configuration) - generationOf(before)
    if (later < 0 || (later === 0 && configuration.number < before!.number)) return
    this.known.set(lock, configuration)
    if (later > 0) return this.former.delete(lock)
    if (before === undefined || configuration.number === before.number) return
    const isFormer = ({ id }: ParticipantPlace) => configuration.participants.every(place => place.id !== id)
    const former = [...before.participants, ...(this.former.get(lock) ?? [])].filter(isFormer)
    if (former.length > 0) this.former.set(lock, former.slice(0, MAX_FORMER))
  }

  /**
   * Where a participant is, or was: one that was removed still knows how its grants ended. The default
   * participants are always there to be asked.
   */
  placeOf(lock: string, participant: number): ParticipantPlace | undefined {
    const isIt = ({ id }: ParticipantPlace) => id === participant
    const { participants } = this.of(lock)
    return participants.find(isIt) ?? this.former.get(lock)?.find(isIt) ?? this.ofDefaults(lock, isIt)
  }

  /** Participants that the lock may have had before: only one whose participants have changed had others. */
  formerOf(lock: string): readonly ParticipantPlace[] {
    const { participants } = this.of(lock)
    if (participants.every(({ address }) => address === undefined) && !this.former.get(lock)) return []
    const all = [...this.defaults(lock).participants, ...(this.former.get(lock) ?? [])]
    const isOne = (places: readonly ParticipantPlace[], { id }: ParticipantPlace) =>
      places.some(place => place.id === id)
    return all.filter((place, index) => !isOne(participants, place) && !isOne(all.slice(0, index), place))
  }

  private ofDefaults(lock: string, isIt: (place: ParticipantPlace) => boolean): ParticipantPlace | undefined {
    return this.knows(lock) ? this.defaults(lock).participants.find(isIt) : undefined
  }
}

/** Another router may have deleted the lock: the next one of its name may count anew. */
const generationOf = ({ generation = 1 }: LockConfiguration): number => generation

/**
 * Participants that did not answer lately are asked last, so that a client that waited for one once need not
 * wait each time.
 */
export class Silences {
  private readonly until = new BoundedMap<number>(MAX_SILENCES)
  private readonly begins = new BoundedMap<number>(MAX_SILENCES)
  private readonly lastsMs: number

  constructor(lastsMs: number) {
    this.lastsMs = lastsMs
  }

  note(lock: string, participant: number, now: number): void {
    const name = `${lock}/${participant}`
    if (!this.isSilent(lock, participant, now)) this.begins.set(name, now)
    this.until.set(name, now + this.lastsMs)
  }

  end(lock: string, participant: number): void {
    this.until.delete(`${lock}/${participant}`)
    this.begins.delete(`${lock}/${participant}`)
  }

  /** For how long it has been silent, as far as this router knows; `undefined` if it is not. */
  silentMs(lock: string, participant: number, now: number): number | undefined {
    const begun = this.begins.get(`${lock}/${participant}`)
    return begun === undefined || !this.isSilent(lock, participant, now) ? undefined : now - begun
  }

  /** One that seems to last longer than it may is from before the clock was set back. */
  isSilent(lock: string, participant: number, now: number): boolean {
    const leftMs = (this.until.get(`${lock}/${participant}`) ?? 0) - now
    return leftMs > 0 && leftMs <= this.lastsMs
  }
}
