/**
 * The second phase: everything is mended. Every call of a client must come to an end, and every lock that
 * has not lost more than it can bear must be of use again within a bound of virtual time; then there must
 * be silence.
 */

import { BatonError } from '../../../client/index.ts'
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { firstOwnerOf, isWeak } from '../../../shared/birth/value.ts'
import type { Json } from '../../../shared/json.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { LEDGER_NAME } from '../../../worker/participant/ledger/name.ts'
import { Violation } from '../violation.ts'
import { LOG, operationFor, settle } from './client-actions.ts'
import { hasWaiters, judgeMemory, judgeStorage, statusOf } from './judge-sizes.ts'
import { LastWatchers } from './last-watchers.ts'
import { birthOf } from './losses.ts'
import { isCopy } from './plan-copies.ts'
import { MOVING } from './plan-moves.ts'
import { SimClient } from './sim-client.ts'
import type { SimObject } from './sim-object.ts'
import { Site } from './site.ts'
import type { World } from './world.ts'

/** The longest that a call of the library can take: its own limits, and the service's. */
const CALLS_MS = 200_000
/** For each lock, from when the calls have ended. */
const PROGRESS_MS = 180_000
/**
 * Until the last alarm of a lock that nobody uses: the longest time to live, a ticket's time, the slowest
 * repeat.
 */
const SILENCE_MS = 300_000
const LOOK_EVERY_MS = 500
/** Until the index has heard of a lock: it is told again, after longer and longer times. */
const LISTED_MS = 200_000
const LIST_AGAIN_MS = 5_000
/** Until everything that participants keep in memory for a while is on their disks. */
const WRITTEN_MS = 1_000
/** For a lock that may be down. */
const TRIED_MS = 30_000
/** In the transcript. */
export const HEALED = 'everything is mended'

export class Healing {
  readonly #world: World
  readonly #calls: Promise<unknown>
  readonly #client: SimClient
  readonly #used = new Set<string>()

  constructor(world: World, calls: Promise<unknown>) {
    this.#world = world
    this.#calls = calls
    const site = new Site(world.loop, 299, 'last', 0)
    this.#client = new SimClient(world, site, world.routers[0]!, 99)
  }

  async run(): Promise<void> {
    this.#heal()
    await this.#until(this.#calls, CALLS_MS, 'calls end', () => 'a call of a client does not come to an end')
    for (const { name } of this.#world.plan.locks) {
      if (this.#isOver) return
      if (isOwed(this.#world, name)) await this.#requireProgress(name)
      else await this.#tryToUse(name)
    }
    await this.#untilWritten()
    if (this.#isOver) return
    await this.#requireListing()
    if (this.#isOver) return
    judgeStorage(this.#world)
    await this.#requireSilence()
  }

  /** What may wait is written soon, though nothing else happens. */
  async #untilWritten(): Promise<void> {
    const { loop } = this.#world
    await loop.runUntil(loop.now + WRITTEN_MS, () => this.#isOver)
  }

  get #isOver(): boolean {
    return this.#world.failure !== null
  }

  #heal(): void {
    const world = this.#world
    world.isHealed = true
    world.note('', HEALED)
    world.network.heal()
    const { broken } = world.plan
    world.counts.brokenAfterHealing += broken.length
    for (const site of world.sites.slice(1)) {
      if (broken.some(({ site: index }) => index === site.index)) continue
      site.disk = 'well'
      site.alarms = 'on time'
      site.slowMs = 0
      if (site.isFrozen) site.resume()
      if (!site.isUp) world.start(site)
    }
    for (const object of world.objects.values()) object.heal()
    for (const { site, how } of broken) breakForGood(world, world.sites[site]!, how)
  }

  async #until(work: Promise<unknown>, limitMs: number, rule: string, what: () => string): Promise<void> {
    const { loop } = this.#world
    let isDone = false
    const finish = () => {
      isDone = true
    }
    work.then(finish, error => {
      this.#world.fail(error)
      finish()
    })
    await loop.runUntil(loop.now + limitMs, () => isDone || this.#isOver)
    if (!isDone && !this.#isOver) throw new Violation('liveness', rule, what())
  }

  // ---------------------------------------------------------------- progress

  async #requireProgress(lock: string): Promise<void> {
    const world = this.#world
    let last = 'nothing was tried'
    let isUsed = false
    const tried = this.#use(lock, why => {
      last = why
    })
    tried.then(
      () => {
        isUsed = true
      },
      error => world.fail(error),
    )
    await world.loop.runUntil(world.loop.now + PROGRESS_MS, () => isUsed || this.#isOver)
    if (this.#isOver) return
    // It may have been born only now, as one that waits for a participant that is gone, or that counts as
    // lost in a lock which was born while its process healed.
    if (isUsed) {
      world.counts.locksAlive++
      this.#used.add(lock)
    } else if (!isOwed(world, lock)) world.counts.locksDown++
    else throw new Violation('liveness', 'progress', this.#uselessness(lock, last))
  }

  /** Every lock that was of use just now is in the list of locks, sooner or later. */
  async #requireListing(): Promise<void> {
    const { counts } = this.#world
    let missing = [...this.#used]
    const look = async () => {
      while (missing.length > 0 && !this.#isOver) {
        try {
          const listed = new Set<string>()
          for await (const { lock } of this.#client.connect().eachLock({ limit: 2 })) listed.add(lock)
          missing = missing.filter(lock => !listed.has(lock))
          counts.listings++
        } catch (error) {
          if (!(error instanceof BatonError)) throw error
        }
        if (missing.length > 0) await this.#client.sleep(LIST_AGAIN_MS)
      }
    }
    const done = look()
    const limitMs = LISTED_MS + this.#latestAlarmMs()
    await this.#until(done, limitMs, 'listing', () => `${missing} are not listed`)
  }

  /** What was put off while a clock was ahead comes only when the clock is there again. */
  #latestAlarmMs(): number {
    const waits = [...this.#world.objects.values()].map(({ disk, site }) => (disk.alarmAt ?? 0) - site.now)
    return Math.max(0, ...waits)
  }

  #uselessness(lock: string, why: string): string {
    return `${lock} cannot be used after healing: ${why} (${this.#memberships(lock)})`
  }

  /** A lock that may be down: if it is of use all the same, it must be the lock that it was. */
  async #tryToUse(lock: string): Promise<void> {
    const { counts, loop, losses } = this.#world
    counts.locksDown++
    if (losses.owed(lock) === 'nothing') return
    let isDone = false
    const tried = this.#use(lock, () => {})
    tried.then(
      () => {
        isDone = true
        counts.locksUpAllTheSame++
      },
      error => this.#world.fail(error),
    )
    await loop.runUntil(loop.now + TRIED_MS, () => isDone || this.#isOver)
  }

  #memberships(lock: string): string {
    const objects = [...this.#world.objects.values()].filter(object => object.lock === lock)
    return objects.map(object => `${object.name} ${describeStanding(object)}`).join(', ')
  }

  /** Until it works: acquired and released, operated on and read. */
  async #use(name: string, onFailure: (why: string) => void): Promise<void> {
    const { journal } = this.#world
    const client = this.#client
    const lock = client.connect().lock(name)
    const watchers = new LastWatchers(client, name)
    await this.#insist(onFailure, async () => {
      const begunAt = this.#world.loop.now
      const held = await lock.acquire({ waitMs: 20_000 })
      journal.grant(name, client.name, begunAt, held.fence)
      onFailure('a watcher does not hear of the holder, which does nothing')
      await watchers.hear(held)
      await held.release()
    })
    let count = 0
    await this.#insist(onFailure, async () => {
      const opId = `final-${name}-${++count}`
      const ops = operationFor(opId)
      const call = journal.beginOperation(name, client.name, opId, ops)
      const answer = lock.transact(ops as never, { opId, waitMs: 20_000 })
      await settle(client, call, answer)
      if (call.word !== 'applied' && !journal.lockOnly.has(name)) await answer
    })
    onFailure('a watcher does not hear that nobody holds it any more')
    await watchers.hearOfNobody()
    watchers.end()
    if (journal.lockOnly.has(name)) return
    await this.#insist(onFailure, async () => {
      const begunAt = this.#world.loop.now
      const { value, revision, sequence } = await lock.get(LOG)
      const by = client.name
      journal.read({
        ...{ lock: name, key: LOG, consistency: 'linearizable', by, begunAt },
        ...{ value: value as Json, revision, sequence: sequence ?? null },
      })
      journal.final.set(name, (value ?? []) as readonly string[])
    })
  }

  async #insist(onFailure: (why: string) => void, attempt: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof BatonError)) throw error
        onFailure(error.message)
        await this.#client.sleep(1_000)
      }
    }
  }

  // ---------------------------------------------------------------- silence

  /** Nobody wants anything: sooner or later no lock has an alarm set, and no message is under way. */
  async #requireSilence(): Promise<void> {
    const { counts } = this.#world
    // An alarm that was set before its clock was set back by an hour stays set for an hour.
    if (counts.clockJumps > 0) return
    const quiet = this.#quiet()
    await this.#untilSilent(quiet)
    // An instance that ended within a second of setting a timer had no alarm behind it. The next request to
    // it makes up for that, so it gets one.
    const forgetful = quiet.filter(object => !object.isAwake && hasWaiters(object))
    if (forgetful.length > 0) {
      await this.#untilTold(forgetful.map(statusOf))
      await this.#untilSilent(quiet)
    }
    if (this.#isOver) return
    counts.quiescences++
    await this.#untilTold(quiet.map(judgeMemory))
  }

  #untilTold(answers: readonly Promise<unknown>[]): Promise<unknown> {
    const what = () => 'a participant does not tell its status'
    return this.#until(Promise.all(answers), CALLS_MS, 'calls end', what)
  }

  async #untilSilent(quiet: readonly SimObject[]): Promise<void> {
    const { loop } = this.#world
    const deadline = loop.now + SILENCE_MS
    for (let noise = noiseOf(quiet); noise !== null; noise = noiseOf(quiet)) {
      if (loop.now >= deadline) throw new Violation('liveness', 'quiescence', noise)
      await loop.runUntil(loop.now + LOOK_EVERY_MS, () => this.#isOver)
      if (this.#isOver) return
    }
  }

  /** The objects of locks that are well: the others go on asking for what they want. */
  #quiet(): SimObject[] {
    const { losses, plan, objects } = this.#world
    // A copy that was deleted again has no configuration that says who must still be told of that.
    const isUntold = (lock: string) => isCopy(lock) && plan.broken.length > 0
    const isWell = (lock: string) =>
      losses.owed(lock) === 'progress' && !hasBroken(this.#world, lock) && !isUntold(lock)
    // A ledger goes on trying to get back what cannot be got back now.
    const copies = [...objects.values()].map(({ lock }) => lock).filter(isCopy)
    const names = new Set([...plan.locks.map(({ name }) => name), ...copies])
    const isDone = (id: number) => [...names].every(name => !losses.lostOf(name).has(id) && isWell(name))
    const isQuiet = (object: SimObject) =>
      object.lock === LEDGER_NAME
        ? isDone(object.participant)
        : isWell(object.lock) && !this.#tellsBroken(object)
    const isThere = ({ site }: SimObject) => !plan.broken.some(broken => broken.site === site.index)
    return [...objects.values()].filter(object => isThere(object) && isQuiet(object))
  }

  /** The next lock of the name may do without one that must still be told that the lock before is deleted. */
  #tellsBroken(object: SimObject): boolean {
    const untold = (birthOf(object)?.untold ?? []).map(one => (typeof one === 'number' ? one : one.id))
    return this.#world.plan.broken.some(({ site }) => untold.includes(site))
  }
}

function noiseOf(objects: readonly SimObject[]): string | null {
  // What is written may be an alarm.
  const isLoud = ({ disk, hasTimeout }: SimObject) =>
    disk.alarmAt !== null || hasTimeout || disk.groupsOnTheWay > 0
  const loud = objects.find(isLoud)
  return loud === undefined ? null : `${loud.name} has an alarm or a timeout though nobody wants anything`
}

function breakForGood(world: World, site: Site, how: 'gone' | 'cut off'): void {
  world.note(site.name, `stays ${how}`)
  if (how === 'gone') {
    for (const object of world.objectsAt(site)) if (object.isAwake) object.crash('killed')
    site.stop()
    return
  }
  const others = [...world.sites.slice(1), ...world.routers.map(router => router.site)]
  for (const other of others) {
    if (other === site) continue
    world.network.cut(site, other)
    world.network.cut(other, site)
  }
}

/** Protocols for which a majority is enough. The others wait for every participant whose turn it may be. */
const BY_MAJORITY: ReadonlySet<string> = new Set(['wme-1', 'wme-2', 'wme-consensus'])

/** Of a lock that is not born yet: those that decide what it will be. They are the same in every version. */
function participantsOf(world: World, lock: string): readonly ParticipantPlace[] {
  const configuration = world.losses.configurationOf(lock) ?? world.defaultsOf(world.sites[1]!, 1)
  return configuration.participants
}

const isAnyBroken = ({ plan }: World, participants: readonly ParticipantPlace[]): boolean =>
  plan.broken.some(({ site }) => participants.some(({ id }) => id === site))

function hasBroken(world: World, lock: string): boolean {
  if (lock === MOVING) return world.plan.broken.length > 0
  return isAnyBroken(world, participantsOf(world, lock))
}

/** Only a lock that is born has a protocol. */
function waitsForBroken(world: World, configuration: LockConfiguration | null): boolean {
  if (configuration === null || BY_MAJORITY.has(configuration.protocol)) return false
  return isAnyBroken(world, configuration.participants)
}

/**
 * G13: a lock that is to be strict by anybody's defaults is made only with the promise of its first owner,
 * which may begin with a weak one alone, or has. If it has lost what it had begun, or may have forgotten it,
 * all others must promise.
 */
function waitsForFirstOwner(world: World, lock: string): boolean {
  const { losses, plan, sites } = world
  const count = plan.deployment.sites
  const first = firstOwnerOf(lock, count)
  if (losses.isBornWithout(lock, first) || losses.areStrict) return false
  const isStrictAt = (site: Site) => !isWeak(world.defaultsOf(site, first))
  const mayHaveForgotten = losses.wasReplaced(first) && majority(count) < count - 1
  const mayHaveBegun = mayHaveForgotten || losses.lostOf(lock).has(first)
  const isMissing = mayHaveBegun || plan.broken.some(({ site }) => site === first)
  return isMissing && sites.slice(1).some(isStrictAt)
}

/**
 * Whether the lock must be of use: a majority of its participants is well, and has what it had. For a birth
 * a majority is enough, whatever the lock will be: one that is not born is owed that much.
 */
function isOwed(world: World, lock: string): boolean {
  const { losses, plan } = world
  if (losses.owed(lock) !== 'progress') return false
  const isCluster = plan.deployment.kind === 'cluster'
  if (isCluster && plan.broken.length > 0 && !losses.areFounded) return false
  if (!hasBroken(world, lock)) return true
  if (lock === MOVING) return false
  if (waitsForBroken(world, losses.configurationOf(lock)) || waitsForFirstOwner(world, lock)) return false
  const isBroken = (id: number) => plan.broken.some(({ site }) => site === id)
  const isWell = (id: number) =>
    ![lock, LEDGER_NAME].some(name => losses.lostOf(name).has(id)) && !isBroken(id)
  const areWell = (participants: readonly ParticipantPlace[]) =>
    participants.filter(({ id }) => isWell(id)).length >= majority(participants.length)
  const before = awaitedBefore(world, lock)
  if (waitsForBroken(world, before)) return false
  return areWell(participantsOf(world, lock)) && (before === null || areWell(before.participants))
}

/**
 * Those that are left may not have heard that a lock was deleted, because only those that are gone took part
 * in it: then it is that lock that they wait for. In a protocol without a log its holder ends it alone, and
 * never gives back the permissions that it has (G12).
 */
function awaitedBefore(world: World, lock: string): LockConfiguration | null {
  const { generations, objects, plan } = world
  const isLeft = ({ site }: SimObject) => !plan.broken.some(broken => broken.site === site.index)
  const known = generations.latest(lock, [...objects.values()].filter(isLeft))
  if (known === world.latestGeneration(lock)) return null
  return generations.chosenOf(lock, known)?.configuration ?? null
}

/** For messages. */
function describeStanding(object: SimObject): string {
  const birth = birthOf(object)
  if (birth === null) return 'blank'
  const { standing, promised, accepted, chosen } = birth
  const membership = object.disk.durableRecord('membership') ?? 'no member'
  const vote = `promised ${promised}, accepted ${accepted?.ballot ?? 'nothing'}`
  return `${standing.status}, ${chosen === null ? vote : 'chosen'}, ${membership}`
}
