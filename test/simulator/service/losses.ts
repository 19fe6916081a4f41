/**
 * The participants of locks, and the ledgers of whole processes, that have lost their storage and not got it
 * back. As long as they are a minority, nothing may be lost and every lock must go on. With more of them a
 * lock may be down, but where processes have ledgers it is never born again while any participant still has
 * it.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { isBornIn } from '../../../shared/birth/existence.ts'
import { incarnationIn } from '../../../shared/birth/incarnations.ts'
import type { FoundedRecord, LedgerEntry, LedgerRecord } from '../../../shared/birth/ledger-types.ts'
import type { BirthRecord } from '../../../shared/birth/lock-types.ts'
import type { PresentMembers } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { LEDGER_NAME } from '../../../worker/participant/ledger/name.ts'
import { recordsWritten } from './disk.ts'
import { isCopy } from './plan-copies.ts'
import { MOVING } from './plan-moves.ts'
import type { Group, SimObject } from './sim-object.ts'
import type { World } from './world.ts'

/** What is owed: everything, safety alone, or nothing. */
export type Owed = 'progress' | 'safety' | 'nothing'

/** What a participant lost: its storage, or the ledger that knew of it. */
type Cause = 'storage' | 'ledger'

/** Protocols that take a participant back which has lost its storage. */
const READMITTING: ReadonlySet<string> = new Set(['wme-1', 'wme-2'])

export class Losses {
  readonly #world: World
  readonly #lost = new Map<string, Map<number, Cause>>()
  readonly #owed = new Map<string, Owed>()
  readonly #born = new Set<string>()
  #wasLost = false

  constructor(world: World) {
    this.#world = world
  }

  owed(lock: string): Owed {
    // Which of its participants may be lost depends on which it has by then, or on when it is born: only
    // safety is owed.
    const isAnybodys = lock === MOVING || isCopy(lock)
    if (isAnybodys && this.#wasLost) return this.#owed.get(lock) === 'nothing' ? 'nothing' : 'safety'
    const owed = this.#owed.get(lock) ?? 'progress'
    const configuration = this.configurationOf(lock)
    if (owed !== 'progress' || configuration === null) return owed
    const { protocol, participants } = configuration
    // The losses before there was a configuration may be too many for the one that was chosen.
    if (this.lostOf(lock).size > participants.length - majority(participants.length)) return 'safety'
    if (READMITTING.has(protocol)) return owed
    // A process that heals while a lock is born counts as lost there, though it has lost nothing of it.
    const ofLock = [...this.#world.objects.values()].filter(object => object.lock === lock)
    const isLost = ofLock.some(object => birthOf(object)?.standing.status === 'lost')
    return isLost || this.lostOf(lock).size > 0 ? 'safety' : owed
  }

  /** Whether so many of its participants had lost their storage at once that something may be lost. */
  wereTooMany(lock: string): boolean {
    return this.#owed.has(lock)
  }

  /** Participants of this lock, or ledgers, that lost their storage and have not been healed. */
  lostOf(lock: string): ReadonlyMap<number, Cause> {
    return this.#lost.get(lock) ?? new Map()
  }

  /**
   * Whether the processes that are left were up together with the others before, so that locks can be born.
   */
  get areFounded(): boolean {
    const ledgers = [...this.#world.objects.values()].filter(({ lock }) => lock === LEDGER_NAME)
    const { broken } = this.#world.plan
    const isThere = ({ site }: SimObject) => !broken.some(({ site: index }) => index === site.index)
    return ledgers.filter(isThere).every(isHealed)
  }

  /** Whether the processes were founded so that no first owner begins with a weak lock alone (G13). */
  get areStrict(): boolean {
    const ledgers = [...this.#world.objects.values()].filter(({ lock }) => lock === LEDGER_NAME)
    return ledgers.some(isFoundedStrict)
  }

  /** Whether anybody knows of a later incarnation of this process. */
  wasReplaced(process: number): boolean {
    const ledgers = [...this.#world.objects.values()].filter(({ lock }) => lock === LEDGER_NAME)
    return ledgers.map(ledgerOf).some(record => record?.status === 'founded' && isLater(record, process))
  }

  /** Whether all that lost something have got it back. */
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
    this.#lose(object, 'storage')
    if (object.lock !== LEDGER_NAME) return
    // A process without its ledger does not know what else it has lost: everything counts as lost.
    for (const other of this.#world.objectsAt(object.site)) {
      if (other.lock !== LEDGER_NAME && !other.disk.isBlank) this.#lose(other, 'ledger')
    }
  }

  #lose({ lock, participant }: SimObject, cause: Cause): void {
    this.#wasLost = true
    const lost = this.#lost.get(lock) ?? new Map<number, Cause>()
    this.#lost.set(lock, lost.set(participant, cause))
    if (lock === LEDGER_NAME) this.#loseLedger(lost.size)
    else if (lock === MOVING) this.#loseOfMoving(lost)
    else this.#loseParticipant(lock, lost)
  }

  #loseLedger(lost: number): void {
    const { deployment, locks } = this.#world.plan
    const { sites } = deployment
    if (lost > sites - majority(sites)) for (const { name } of locks) this.#lower(name, 'safety')
    if (lost === sites) for (const { name } of locks) this.#lower(name, 'nothing')
  }

  #loseParticipant(lock: string, lost: ReadonlyMap<number, Cause>): void {
    const { sites } = this.#world.plan.deployment
    const sizes = [this.configurationOf(lock), this.#lockOfTheOthers(lock, lost)].map(
      configuration => configuration?.participants.length ?? sites,
    )
    const isTolerated = [...sizes, sites].every(count => lost.size <= count - majority(count))
    if (!isTolerated) this.#lower(lock, 'safety')
    const isGone = (size: number) =>
      Array.from({ length: size }, (_, index) => index + 1).every(id => lost.has(id))
    if (sizes.some(isGone)) this.#lower(lock, 'nothing')
  }

  /** Those that are left may not have heard that the lock was deleted: then it is that one that is lost. */
  #lockOfTheOthers(lock: string, lost: ReadonlyMap<number, Cause>): LockConfiguration | null {
    const { generations, objects } = this.#world
    const left = [...objects.values()].filter(object => object.lock === lock && !lost.has(object.participant))
    return generations.chosenOf(lock, generations.latest(lock, left))?.configuration ?? null
  }

  /** With a majority of its present members, a lock is gone. */
  #loseOfMoving(lost: ReadonlyMap<number, Cause>): void {
    const members = this.membersOf(MOVING)
    const left = members.filter(id => !lost.has(id)).length
    if (left < majority(members.length)) this.#owed.set(MOVING, 'nothing')
  }

  #lower(lock: string, owed: Owed): void {
    if (this.owed(lock) !== 'nothing') this.#owed.set(lock, owed)
  }

  committed(object: SimObject, group: Group): void {
    const { lock, participant, site } = object
    if (lock === LEDGER_NAME) {
      for (const name of finishedIn(group)) {
        const finished = this.#world.objects.get(`${site.name}:${name}/${participant}`)
        if (finished !== undefined) this.#takeBack(finished)
      }
    }
    if (!recordsWritten(group).some(([key]) => SIGNS.has(key))) return
    if (lock !== LEDGER_NAME && !this.#born.has(lock) && isMemberOf(object)) {
      this.#world.counts.births++
      this.#born.add(lock)
    }
    this.#takeBack(object)
  }

  #takeBack(object: SimObject): void {
    const { lock, participant } = object
    const lost = this.#lost.get(lock)
    const cause = lost?.get(participant)
    if (cause === undefined || !this.#isBack(object, cause)) return
    lost!.delete(participant)
    this.#world.counts.rejoins++
    if (lock === LEDGER_NAME) this.#loseAllThatOthersHave(object)
  }

  /** What a healed process hears of from the others counts as lost there, until it was taken back. */
  #loseAllThatOthersHave({ site, participant }: SimObject): void {
    const { plan, objects } = this.#world
    const all = [...objects.values()]
    const known = all.filter(({ lock, disk }) => lock !== LEDGER_NAME && !disk.isBlank)
    // Its object may be gone: then a ledger alone knows of it.
    const isListed = (name: string) =>
      all.some(({ lock, disk }) => lock === LEDGER_NAME && disk.durableRecord(ENTRY + name) !== undefined)
    for (const { name } of plan.locks) {
      if (!known.some(({ lock }) => lock === name) && !isListed(name)) continue
      const here = known.find(object => object.lock === name && object.site === site)
      if (here !== undefined && this.#isBack(here, 'ledger')) continue
      const lost = this.#lost.get(name) ?? new Map<number, Cause>()
      if (!lost.has(participant)) this.#lost.set(name, lost.set(participant, 'ledger'))
      this.#loseParticipant(name, lost)
    }
  }

  /**
   * One whose ledger was lost is a member until it hears of that: it is back when it was out, or became
   * entitled since; and certainly when its ledger says so, for that is what operators are told.
   */
  #isBack(object: SimObject, cause: Cause): boolean {
    if (object.lock === LEDGER_NAME) return isHealed(object)
    if (this.#isElsewhere(object)) return true
    if (cause === 'storage' && isMemberOf(object)) return true
    const { standing, incarnation } = birthOf(object) ?? { standing: { status: 'unknown' }, incarnation: 0 }
    const isNow = incarnation === this.#incarnationAt(object)
    // In a later lock of the same name, which began after the loss, it may be so.
    if (standing.status === 'entitled') return isNow
    if (cause === 'storage') return false
    return standing.status === 'lost' && isMemberOf(object) && (isNow || this.#isSaidToBeFinished(object))
  }

  #ledgerAt({ site, participant }: SimObject): SimObject | undefined {
    return this.#world.objects.get(`${site.name}:${LEDGER_NAME}/${participant}`)
  }

  #isSaidToBeFinished(object: SimObject): boolean {
    const text = this.#ledgerAt(object)?.disk.durableRecord(ENTRY + object.lock)
    return text !== undefined && (JSON.parse(text) as LedgerEntry).isFinished === true
  }

  #incarnationAt(object: SimObject): number {
    const ledger = this.#ledgerAt(object)
    const record = ledger === undefined ? null : ledgerOf(ledger)
    return record?.status === 'founded' ? record.incarnation : 0
  }

  /** It knows of a lock that it has no part in: there is nothing else to know. */
  #isElsewhere(object: SimObject): boolean {
    const { chosen } = birthOf(object) ?? { chosen: null }
    return chosen !== null && !chosen.configuration.participants.some(({ id }) => id === object.participant)
  }

  /** The participants that the lock has at present, as far as any of them knows. */
  membersOf(name: string): readonly number[] {
    const latest = this.#latestBirths(name).reduce<PresentMembers | null>((found, birth) => {
      const members = birth?.members ?? null
      return members !== null && members.configuration > (found?.configuration ?? 0) ? members : found
    }, null)
    if (latest !== null) return Object.keys(latest.members).map(Number)
    return this.configurationOf(name)?.participants.map(({ id }) => id) ?? []
  }

  /** As its participants have stored it; `null` before there is one. */
  configurationOf(lock: string): LockConfiguration | null {
    const births = this.#latestBirths(lock)
    const values = [...births.map(birth => birth.chosen), ...births.map(birth => birth.core)]
    return values.find(value => value !== null)?.configuration ?? null
  }

  /** Whether anybody but this participant has accepted what the lock is. */
  isBornWithout(lock: string, participant: number): boolean {
    return this.#latestBirths(lock, participant).some(isBornIn)
  }

  /** What the participants of the latest lock of this name have stored of its birth. */
  #latestBirths(name: string, without?: number): BirthRecord[] {
    const births = [...this.#world.objects.values()]
      .filter(({ lock, participant }) => lock === name && participant !== without)
      .map(birthOf)
      .filter(birth => birth !== null)
    const latest = Math.max(1, ...births.map(({ generation }) => generation))
    return births.filter(({ generation }) => generation === latest)
  }
}

/** Records that say that a participant is back. */
const SIGNS: ReadonlySet<string> = new Set(['membership', 'birth', 'ledger'])

const ENTRY = 'lock/'

/** The locks whose entries in a ledger are written, and say that nothing is left to be done. */
function finishedIn(group: Group): string[] {
  return recordsWritten(group).flatMap(([key, text]) => {
    if (text === null || !key.startsWith(ENTRY)) return []
    return (JSON.parse(text) as LedgerEntry).isFinished ? [key.slice(ENTRY.length)] : []
  })
}

export function birthOf(object: SimObject): BirthRecord | null {
  const text = object.disk.durableRecord('birth')
  return text === undefined ? null : (JSON.parse(text) as BirthRecord)
}

export function isMemberOf(object: SimObject | undefined): boolean {
  const text = object?.disk.durableRecord('membership')
  return text !== undefined && (JSON.parse(text) as { readonly status: string }).status === 'member'
}

function ledgerOf(object: SimObject): LedgerRecord | null {
  const text = object.disk.durableRecord('ledger')
  return text === undefined ? null : (JSON.parse(text) as LedgerRecord)
}

function isFoundedStrict(object: SimObject): boolean {
  const record = ledgerOf(object)
  return record?.status === 'founded' && record.founding.isStrict === true
}

const isLater = ({ known }: FoundedRecord, process: number): boolean => incarnationIn(known, process) > 1

function isHealed(object: SimObject): boolean {
  const record = ledgerOf(object)
  return record?.status === 'founded' && record.isHealed
}
