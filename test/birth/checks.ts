/**
 * What must hold in every run, whatever happens: one choice for each generation, no fence twice, and a
 * history that the judge accepts.
 */

import { modeOf } from '../../shared/birth/lock-state.ts'
import type { BirthEvent } from '../../shared/birth/lock-types.ts'
import { digestOf, isWeak, type LockValue } from '../../shared/birth/value.ts'
import { judge } from '../../shared/history/judge.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { Violation } from './violation.ts'
import type { LockHost, World } from './world.ts'

export interface Counts {
  births: number
  ballotZero: number
  configured: number
  created: number
  wipes: number
  objectWipes: number
  parked: number
  resumed: number
  dropped: number
  lost: number
  unavailable: number
  acknowledged: number
  usable: number
  /** Users that tried to end a lock, and generations that have ended. */
  ends: number
  generations: number
  /** Processes that went on with another version. */
  deploys: number
  /** Locks whose protocol promises strict exclusion. */
  strict: number
}

export class Checks {
  private readonly world: World
  private readonly chosen = new Map<string, LockValue>()
  private readonly fences = new Map<string, string>()
  private readonly seen = new Set<string>()
  private readonly tombstones = new Map<string, number>()
  private readonly modes = new Map<LockHost, string>()
  private readonly begun = new Map<LockHost, number>()
  /** Participants that were wiped and are not back. */
  readonly wounded = new Set<LockHost>()
  acknowledged = 0
  readonly counts = {
    births: 0,
    ballotZero: 0,
    configured: 0,
    created: 0,
    wipes: 0,
    objectWipes: 0,
    parked: 0,
    resumed: 0,
    dropped: 0,
    lost: 0,
    unavailable: 0,
    acknowledged: 0,
    usable: 0,
    ends: 0,
    generations: 0,
    deploys: 0,
    strict: 0,
  } satisfies Counts

  constructor(world: World) {
    this.world = world
  }

  stepped(host: LockHost): void {
    const { state } = host
    if (state === null) return
    const { birth, core } = state
    this.countModes(host)
    this.noteGeneration(host.lock, birth.generation, birth.startEpoch)
    if (birth.standing.status === 'lost') this.once(`lost ${host.process} ${host.lock}`, 'lost')
    // What was lost is of a generation that has ended.
    if (birth.generation > 1 && birth.standing.status === 'entitled') this.wounded.delete(host)
    const key = `${host.lock} ${birth.generation}`
    const before = this.chosen.get(key)
    this.noteBeginning(host)
    if (before !== undefined) this.refuseWeakBeginning(host, before, birth.generation)
    if (birth.chosen === null) return
    if (before === undefined) {
      this.chosen.set(key, birth.chosen)
      this.counts.births++
      if (!isWeak(birth.chosen.configuration)) this.counts.strict++
      for (const other of this.world.participants.flat())
        if (other.lock === host.lock) this.refuseWeakBeginning(other, birth.chosen, birth.generation)
      if (birth.chosen.startEpoch === birth.startEpoch) this.counts.ballotZero++
    } else if (before !== birth.chosen && digestOf(before) !== digestOf(birth.chosen)) {
      throw new Violation(
        'one choice',
        `${key} is ${JSON.stringify(before)} and, at ${host.process}, ${JSON.stringify(birth.chosen)}`,
      )
    }
    if (!this.wounded.has(host)) return
    const isMember = host.process <= birth.chosen.configuration.participants.length
    const isBack = core !== null && core.protocol.view(core.context, core.state).membership === 'member'
    if (isBack || !isMember) this.wounded.delete(host)
  }

  /** Whether a participant acts, or has acted, in ballot 0 under a weak value, and still has its core. */
  private noteBeginning(host: LockHost): void {
    const { accepted, chosen, core, generation } = host.state!.birth
    if (core === null || chosen !== null || this.begun.get(host) !== generation) this.begun.delete(host)
    if (accepted?.ballot === 0 && isWeak(accepted.value.configuration)) this.begun.set(host, generation)
  }

  /** G13: no participant has begun with a weak lock, or begins with one, where a strict one is chosen. */
  private refuseWeakBeginning(host: LockHost, chosen: LockValue, generation: number): void {
    const { process, lock } = host
    if (isWeak(chosen.configuration) || this.begun.get(host) !== generation) return
    throw new Violation('strict', `${lock} is weak at ${process}, and ${chosen.configuration.protocol}`)
  }

  /** Everybody knows the same tombstone. */
  private noteGeneration(lock: string, generation: number, startEpoch: number): void {
    const key = `${lock} ${generation}`
    const before = this.tombstones.get(key)
    if (before === undefined) {
      this.tombstones.set(key, startEpoch)
      if (generation > 1) this.counts.generations++
    } else if (before !== startEpoch)
      throw new Violation('one tombstone', `${key} begins in epoch ${before}, and in ${startEpoch}`)
  }

  private countModes(host: LockHost): void {
    const mode = modeOf(host.state!.birth)
    const before = this.modes.get(host) ?? 'none'
    if (mode === before) return
    this.modes.set(host, mode)
    if (mode === 'parked') this.counts.parked++
    if (before === 'parked') this.counts[mode === 'active' ? 'resumed' : 'dropped']++
  }

  private once(key: string, count: 'lost'): void {
    if (this.seen.has(key)) return
    this.seen.add(key)
    this.counts[count]++
  }

  /** A retry is told the same fence again; nobody else is. */
  granted(host: LockHost, fence: number, user: string): void {
    const key = `${host.lock} ${fence}`
    const before = this.fences.get(key)
    if (before !== undefined && before !== user)
      throw new Violation('fences', `the fence ${key} was given to ${before} and to ${user}`)
    this.fences.set(key, user)
  }

  configured(host: LockHost, event: Extract<BirthEvent, { request: string }>, generation: number): void {
    if (event.type === 'configuration-refused') return
    this.counts.configured++
    if (!event.created) return
    this.counts.created++
    const key = `created ${host.lock} ${generation}`
    if (this.seen.has(key)) throw new Violation('one creator', `${host.lock} was created by two requests`)
    this.seen.add(key)
  }

  unavailable(_reason: string): void {
    this.counts.unavailable++
  }

  wiped(host: LockHost): void {
    if (host.storage.size > 0) this.wounded.add(host)
    this.modes.delete(host)
    this.begun.delete(host)
    this.world.users.wiped(host)
  }

  /** The histories of all locks, each under the protocol that it was born with. */
  finish(): void {
    this.counts.acknowledged = this.acknowledged
    for (const [lock, events] of this.world.users.history) {
      const value = this.chosen.get(lock)
      if (value === undefined) continue
      const { protocol, participants } = value.configuration
      const header = {
        format: 1,
        protocol,
        participants: participants.length,
        resource: 'key-value',
        resultsKept: 10_000,
      } as const
      const { properties } = judge({ header, events }, keyValue)
      for (const { name, kind, verdict, evidence } of properties) {
        if (kind !== 'safety' || verdict !== 'invalid') continue
        const [first] = evidence
        const proof = (first?.events ?? []).map(({ event }) => JSON.stringify(event)).join(' ')
        throw new Violation(name, `${lock}: ${first?.message}: ${proof}`)
      }
    }
  }
}
