/**
 * Which participants of a lock have lost their storage and not been taken back. As long as they are a minority, nothing may
 * be lost; what is owed when they are more depends on the deployment.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import type { Group, SimObject } from './sim-object.ts'
import type { World } from './world.ts'

const MEMBERSHIP = 'membership'

/** Protocols that take a participant back which has lost its storage. */
const READMITTING: ReadonlySet<string> = new Set(['wme-1', 'wme-2'])

export class Losses {
  readonly #world: World
  readonly #lost = new Map<string, Set<number>>()
  readonly #born = new Set<string>()
  /** Locks of which more was lost than they can bear. */
  readonly #beyond = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  /** More of this lock was lost than it promises to survive. */
  isBeyond(lock: string): boolean {
    return this.#beyond.has(lock)
  }

  /** Participants of this lock that lost their storage and were not taken back. */
  lostOf(lock: string): ReadonlySet<number> {
    return this.#lost.get(lock) ?? new Set()
  }

  /**
   * In a single deployment a blank object is a new one: there, an object may lose its storage only once everybody takes
   * part, so that no majority can be blank.
   */
  mayWipe(object: SimObject): boolean {
    if (object.disk.isBlank) return false
    if (this.#world.plan.deployment.kind === 'cluster') return true
    const configuration = this.configurationOf(object.lock)
    if (configuration === null) return false
    const { participants } = configuration
    if (participants.length < 3 || !READMITTING.has(configuration.protocol)) return false
    const isMember = (id: number) => isMemberOf(this.#world.objects.get(`${object.lock}/${id}`))
    return participants.every(({ id }) => isMember(id)) && this.lostOf(object.lock).size === 0
  }

  /** Before the storage is gone. */
  wiping(object: SimObject): void {
    if (object.disk.isBlank) return
    const { lock, participant } = object
    const lost = this.#lost.get(lock) ?? new Set()
    lost.add(participant)
    this.#lost.set(lock, lost)
    const configuration = this.configurationOf(lock)
    const sizes = [this.#world.plan.deployment.sites]
    if (configuration !== null) sizes.push(configuration.participants.length)
    const isTolerated = sizes.every(size => lost.size <= size - majority(size))
    const isReadmitting = configuration === null || READMITTING.has(configuration.protocol)
    if (!isTolerated || !isReadmitting) this.#beyond.add(lock)
  }

  committed(object: SimObject, group: Group): void {
    const { lock, participant } = object
    const writes = group.filter(([kind, key]) => kind === 'put' && key === MEMBERSHIP)
    if (writes.length === 0 || !isMemberOf(object)) return
    if (!this.#born.has(lock)) this.#world.counts.births++
    this.#born.add(lock)
    if (this.#lost.get(lock)?.delete(participant)) this.#world.counts.rejoins++
  }

  /** As its participants have stored it; `null` before there is one. */
  configurationOf(lock: string): LockConfiguration | null {
    for (const object of this.#world.objects.values()) {
      const text = object.lock === lock ? object.disk.durableRecord('.configuration') : undefined
      if (text !== undefined) return JSON.parse(text) as LockConfiguration
    }
    return null
  }
}

export function isMemberOf(object: SimObject | undefined): boolean {
  const text = object?.disk.durableRecord(MEMBERSHIP)
  return text !== undefined && (JSON.parse(text) as { readonly status: string }).status === 'member'
}
