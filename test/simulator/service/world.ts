/**
 * The simulated platform as a whole: sites, the network between them, objects, routers, and who watches it
 * all.
 */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { DEFAULT_TIMING } from '../../../shared/protocols/protocol.ts'
import { keyValue } from '../../../shared/resource/key-value.ts'
import { objectName } from '../../../worker/directory.ts'
import { Random } from '../random.ts'
import type { Print } from '../transcript.ts'
import { type Counts, zeroCounts } from './counts.ts'
import type { Entries } from './entries.ts'
import { Generations } from './generations.ts'
import { Histories } from './histories.ts'
import type { Instance } from './instance.ts'
import { Journal } from './journal.ts'
import { Loop } from './loop.ts'
import { Losses } from './losses.ts'
import { Network } from './network.ts'
import { participantEntries } from './participant-entries.ts'
import { calmed, type Plan, STREAM } from './plan.ts'
import { Serving } from './serving.ts'
import { type Group, hashOf, SimObject } from './sim-object.ts'
import { SimRouter } from './sim-router.ts'
import { Site } from './site.ts'
import type { Tampering } from './tampering.ts'

/** Participants that a lock of a single deployment may be configured with. */
const MAX_REGIONS = 7
const DEFAULT_TTL_MS = 30_000

export class World {
  readonly plan: Plan
  readonly counts: Counts = zeroCounts()
  readonly loop: Loop
  readonly network: Network
  /** For what the platform does by chance. */
  readonly random: Random
  /** From 1: where participants live. */
  readonly sites: readonly Site[]
  readonly routers: readonly SimRouter[]
  readonly clientSites: readonly Site[]
  readonly objects = new Map<string, SimObject>()
  readonly serving = new Serving(this)
  readonly histories = new Histories((who, text) => this.note(who, text))
  readonly generations = new Generations()
  readonly losses: Losses
  readonly journal: Journal
  /** From then on nothing goes wrong by itself. */
  isHealed = false
  /** The first thing that went wrong, if one did. */
  failure: unknown = null
  readonly tampering: Tampering
  readonly #print: Print | null
  #hash = 0x811c9dc5
  #endOfTurn: (() => void)[] = []

  constructor(plan: Plan, tampering: Tampering, print: Print | null) {
    this.plan = plan
    this.tampering = tampering
    this.#print = print
    this.loop = new Loop(
      () => this.#turnIsOver(),
      error => this.fail(error),
    )
    this.random = new Random(plan.seed, STREAM.platform)
    const networkRandom = new Random(plan.seed, STREAM.network)
    const network = plan.calmMs > 0 ? calmed(plan.network) : plan.network
    this.network = new Network(this.loop, networkRandom, network, this.counts)
    if (plan.calmMs > 0) this.loop.at(plan.calmMs, () => this.#endCalm())
    const { kind, sites, routers } = plan.deployment
    const places = kind === 'single' ? Math.max(sites, MAX_REGIONS) : sites
    const offsets = plan.calmMs > 0 ? [] : plan.clockOffsetsMs
    const siteAt = (index: number, name: string, offsetMs: number) =>
      new Site(this.loop, index, name, offsetMs)
    this.sites = Array.from({ length: places + 1 }, (_, index) =>
      siteAt(index, `p${index}`, offsets[index] ?? 0),
    )
    this.routers = Array.from({ length: routers }, (_, index) => {
      const site = siteAt(100 + index, `r${index + 1}`, offsets[places + 1 + index] ?? 0)
      return new SimRouter(this, site)
    })
    this.clientSites = plan.clients.map(({ clockOffsetMs }, index) =>
      siteAt(200 + index, `c${index + 1}`, clockOffsetMs),
    )
    this.losses = new Losses(this)
    this.journal = new Journal(this)
  }

  #endCalm(): void {
    this.network.change(this.plan.network)
    for (const site of this.sites) site.clockOffsetMs = this.plan.clockOffsetsMs[site.index] ?? 0
  }

  // ---------------------------------------------------------------- what happened

  get transcriptHash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  note(who: string, text: string): void {
    this.#hash = Math.imul(this.#hash ^ hashOf(`${who} ${text}`) ^ ((this.loop.now * 1024) | 0), 0x01000193)
    this.#line(who, text)
  }

  /** For readers of the transcript alone. */
  detail(who: string, text: () => string): void {
    if (this.#print !== null) this.#line(who, text())
  }

  #line(who: string, text: string): void {
    this.#print?.(`${this.loop.now.toFixed(2).padStart(10)} ${who.padEnd(12)} ${text}`)
  }

  /** The run has failed; only the first reason counts. */
  fail(error: unknown): void {
    this.failure ??= error
  }

  /** An error that no code of the service has caught. */
  escaped(who: string, error: unknown): void {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    this.note(who, `an exception escapes: ${stack ?? message}`)
    this.fail(new EscapedError(`${who}: ${message}`))
  }

  /** A new instance could not begin: callers that wanted something from it are told. */
  wakeFailed(object: SimObject, error: unknown): void {
    object.note(`cannot begin: ${error instanceof Error ? error.message : error}`)
  }

  committed(object: SimObject, group: Group): void {
    const before = this.generations.of(object)
    const hasEnded = this.generations.committed(object, group, this.loop.now)
    const present = this.generations.of(object)
    // What was written before storage was emptied, in the same group, is of the lock that was there.
    const emptied = hasEnded ? group.findIndex(([kind]) => kind === 'empty') : 0
    if (hasEnded) {
      this.counts.endings++
      this.histories.committed(object, before, group.slice(0, emptied), this.loop.now)
      this.histories.ended(object, before, this.loop.now)
    }
    this.histories.committed(object, present, group.slice(emptied), this.loop.now)
    this.losses.committed(object, group)
  }

  wiped(object: SimObject): void {
    this.histories.wiped(object, this.generations.of(object), this.loop.now)
    this.generations.wiped(object)
  }

  latestGeneration(lock: string): number {
    return this.generations.latest(lock, this.objects.values())
  }

  // ---------------------------------------------------------------- sites

  /** A process that was gone is back, with what is on its disk. */
  start(site: Site): void {
    site.isUp = true
    site.hasWokenLedger = false
    for (const object of this.objectsAt(site)) object.alarm.arm()
  }

  // ---------------------------------------------------------------- turns

  /** After the promises of this turn have settled, and before anything else happens. */
  atEndOfTurn(run: () => void): void {
    this.#endOfTurn.push(run)
  }

  #turnIsOver(): void {
    if (this.#endOfTurn.length === 0) return
    const actions = this.#endOfTurn
    this.#endOfTurn = []
    for (const run of actions) run()
  }

  // ---------------------------------------------------------------- objects

  createEntries(object: SimObject, runtime: Instance): Entries {
    const { tampering } = this
    const seen = tampering.runtime?.(runtime, object) ?? runtime
    const entries = participantEntries(this, object, runtime, seen)
    return tampering.entries?.(entries, object) ?? entries
  }

  /** What a lock is made of that nobody configured, as the version of the deployment at this site says. */
  defaultsOf(site: Pick<Site, 'version'>, firstOwner: number): LockConfiguration {
    const { kind, sites, versions } = this.plan.deployment
    const { protocol, location } = versions[site.version]
    const participants = Array.from({ length: sites }, (_, index) => {
      return { id: index + 1, location, url: kind === 'cluster' ? urlOf(index + 1) : null }
    })
    const { heartbeatMs, timeoutMs } = DEFAULT_TIMING
    return {
      ...{ number: 1, protocol, participants, firstOwner, ttlMs: DEFAULT_TTL_MS },
      ...{ detector: { heartbeatMs, timeoutMs }, localHandoffs: 1, resource: keyValue.name },
    }
  }

  /** The object that `place` means to a caller at this site. */
  objectAt(asking: Site, lock: string, place: ParticipantPlace): SimObject {
    if (this.plan.deployment.kind === 'single') {
      const home = place.address === undefined ? place.id : 1 + (place.id % MAX_REGIONS)
      return this.#object('', this.sites[home] ?? asking, lock, place)
    }
    // Without a URL it is an object of the process that asks.
    const site = place.url === null ? asking : this.sites[siteOf(place.url)]!
    return this.#object(site.name, site, lock, place)
  }

  #object(namespace: string, site: Site, lock: string, place: ParticipantPlace): SimObject {
    const name = `${namespace === '' ? '' : `${namespace}:`}${objectName(lock, place)}`
    const known = this.objects.get(name)
    if (known !== undefined) return known
    const object = new SimObject(this, site, name, lock, place)
    this.objects.set(name, object)
    return object
  }

  objectsAt(site: Site): SimObject[] {
    return [...this.objects.values()].filter(object => object.site === site)
  }
}

/** No code of the service caught it. */
export class EscapedError extends Error {}

/** A client got a 500. */
export class InternalError extends Error {}

const urlOf = (site: number): string => `http://p${site}.test`
const siteOf = (url: string): number => Number(/^http:\/\/p(\d+)\.test$/.exec(url)?.[1])
