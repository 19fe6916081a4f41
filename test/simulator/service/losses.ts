/**
 * Who has lost its storage and not got it back: participants of locks, and the ledgers of whole processes. As long as they are
 * a minority, nothing may be lost and every lock must go on. With more of them a lock may be down, but where processes have
 * ledgers it is never born again while anybody still has it.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import type { LedgerRecord } from '../../../shared/birth/ledger-types.ts'
import type { BirthRecord } from '../../../shared/birth/lock-types.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { LEDGER_NAME } from '../../../worker/participant/ledger/name.ts'
import type { Group, SimObject } from './sim-object.ts'
import type { World } from './world.ts'

/** What is owed: everything, safety alone, or nothing. */
export type Owed = 'progress' | 'safety' | 'nothing'

/** Protocols that take a participant back which has lost its storage. */
const READMITTING: ReadonlySet<string> = new Set(['wme-1', 'wme-2'])

export class Losses {
  readonly #world: World
  readonly #lost = new Map<string, Set<number>>()
  readonly #owed = new Map<string, Owed>()
  readonly #born = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  owed(lock: string): Owed {
    return this.#owed.get(lock) ?? 'progress'
  }

  /** Participants of this lock, or ledgers, that lost their storage and have not been healed. */
  lostOf(lock: string): ReadonlySet<number> {
    return this.#lost.get(lock) ?? new Set()
  }

  /** Whether everybody who lost something has got it back. */
  get areHealed(): boolean {
    return [...this.#lost.values()].every(lost => lost.size === 0)
  }

  /** In a single deployment a blank object is a new one: there, the platform loses no storage. */
  mayWipe(object: SimObject): boolean {
    if (object.disk.isBlank) return false
    return this.#world.plan.deployment.kind === 'cluster'
  }

  /** Before the storage is gone. */
  wiping(object: SimObject): void {
    if (object.disk.isBlank) return
    this.#lose(object)
    if (object.lock !== LEDGER_NAME) return
    // A process without its ledger does not know what else it has lost: everything counts as lost.
    for (const other of this.#world.objectsAt(object.site)) {
      if (other.lock !== LEDGER_NAME && !other.disk.isBlank) this.#lose(other)
    }
  }

  #lose({ lock, participant }: SimObject): void {
    const lost = this.#lost.get(lock) ?? new Set()
    this.#lost.set(lock, lost.add(participant))
    if (lock === LEDGER_NAME) this.#loseLedger(lost.size)
    else this.#loseParticipant(lock, lost)
  }

  #loseLedger(lost: number): void {
    const { deployment, locks } = this.#world.plan
    const { sites } = deployment
    if (lost > sites - majority(sites)) for (const { name } of locks) this.#lower(name, 'safety')
    if (lost === sites) for (const { name } of locks) this.#lower(name, 'nothing')
  }

  #loseParticipant(lock: string, lost: ReadonlySet<number>): void {
    const { sites } = this.#world.plan.deployment
    const configuration = this.configurationOf(lock)
    const size = configuration?.participants.length ?? sites
    const isTolerated = [size, sites].every(count => lost.size <= count - majority(count))
    const isReadmitting = configuration === null || READMITTING.has(configuration.protocol)
    if (!isTolerated || !isReadmitting) this.#lower(lock, 'safety')
    const isGone = Array.from({ length: size }, (_, index) => index + 1).every(id => lost.has(id))
    if (isGone) this.#lower(lock, 'nothing')
  }

  #lower(lock: string, owed: Owed): void {
    if (this.owed(lock) !== 'nothing') this.#owed.set(lock, owed)
  }

  committed(object: SimObject, group: Group): void {
    const { lock, participant } = object
    if (!group.some(([kind, key]) => kind === 'put' && SIGNS.has(key as string))) return
    const isBack = lock === LEDGER_NAME ? isHealed(object) : isMemberOf(object) || this.#isElsewhere(object)
    if (!isBack) return
    if (lock !== LEDGER_NAME && !this.#born.has(lock)) this.#world.counts.births++
    this.#born.add(lock)
    if (this.#lost.get(lock)?.delete(participant)) this.#world.counts.rejoins++
  }

  /** It knows of a lock that it has no part in: there is nothing else to know. */
  #isElsewhere(object: SimObject): boolean {
    const { chosen } = birthOf(object) ?? { chosen: null }
    return chosen !== null && !chosen.configuration.participants.some(({ id }) => id === object.participant)
  }

  /** As its participants have stored it; `null` before there is one. */
  configurationOf(lock: string): LockConfiguration | null {
    const births = [...this.#world.objects.values()].filter(object => object.lock === lock).map(birthOf)
    const values = [...births.map(birth => birth?.chosen), ...births.map(birth => birth?.core)]
    return values.find(value => value !== null && value !== undefined)?.configuration ?? null
  }
}

/** Records that say that somebody is back. */
const SIGNS: ReadonlySet<string> = new Set(['membership', 'birth', 'ledger'])

export function birthOf(object: SimObject): BirthRecord | null {
  const text = object.disk.durableRecord('birth')
  return text === undefined ? null : (JSON.parse(text) as BirthRecord)
}

export function isMemberOf(object: SimObject | undefined): boolean {
  const text = object?.disk.durableRecord('membership')
  return text !== undefined && (JSON.parse(text) as { readonly status: string }).status === 'member'
}

function isHealed(object: SimObject): boolean {
  const text = object.disk.durableRecord('ledger')
  if (text === undefined) return false
  const record = JSON.parse(text) as LedgerRecord
  return record.status === 'founded' && record.isHealed
}
