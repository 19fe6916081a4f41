/**
 * One participant of one lock: a Durable Object around the protocol core. Every entry first touches storage, then runs
 * synchronous steps, then lets what they want sent leave. See calls.ts for what it is asked.
 */
import { DurableObject } from 'cloudflare:workers'
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { accept, NEW_REGISTRAR, prepare, type RegistrarRecord } from '../../shared/birth.ts'
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import type { Emitted, UserInput } from '../../shared/protocols/protocol.ts'
import { resourceByName } from '../../shared/resource/registry.ts'
import { resultOf } from '../../shared/resource/replica.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import { createDirectory, type ParticipantDirectory } from '../directory.ts'
import { type BatonEnvironment, DEFAULT_RESOURCE, defaultConfiguration, eventsKept } from '../environment.ts'
import { Answers } from './answers.ts'
import { agreeOnConfiguration, type BirthHost, isBirth, NoMajority } from './birth.ts'
import type { ParticipantAnswer, ParticipantRequest } from './calls.ts'
import { Connections } from './connections.ts'
import { Deadlines } from './deadlines.ts'
import { Engine, type Message } from './engine.ts'
import { callPeer, type PeerAnswer, type PeerRequest } from './peers.ts'
import { type Glimpse, recordStep } from './recorder.ts'
import { guardsNothing, tooMany } from './refusals.ts'
import { ReplicaSize } from './replica-size.ts'
import { Sessions } from './sessions.ts'
import { Storage } from './storage.ts'
import { Waiting } from './waiting.ts'
import { KEEP_OPEN, KEEP_OPEN_MS, Watchers } from './watchers.ts'

interface Identity {
  readonly lock: string
  readonly id: number
}

/** A late copy of the message that founds a lock must not revive a participant that was wiped meanwhile. */
const MOST_AGE_OF_FOUNDING_MS = 30_000

export class BatonParticipant extends DurableObject<BatonEnvironment> {
  readonly storage: Storage
  readonly deadlines: Deadlines
  readonly waiting: Waiting
  readonly watchers = new Watchers()
  readonly sessions: Sessions
  readonly connections: Connections
  private readonly directory: ParticipantDirectory
  private readonly answers: Answers
  private engine: Engine | null = null
  private size: ReplicaSize | null = null
  private birth: Promise<void> | null = null

  constructor(ctx: DurableObjectState, env: BatonEnvironment) {
    super(ctx, env)
    this.storage = new Storage(ctx.storage.sql, eventsKept(env))
    this.deadlines = new Deadlines(ctx.storage)
    this.waiting = new Waiting(this.deadlines)
    this.directory = createDirectory(env)
    this.answers = new Answers(this)
    this.sessions = new Sessions(this, ctx)
    this.connections = new Connections(this.storage)
    if (this.storage.get('membership') !== undefined) {
      this.startEngine(false)
      const lost = this.connections.lostUsers(this.running.view, user => this.sessions.has(user))
      for (const user of lost) this.leave(user)
    }
  }

  /** Resources that a lock's configuration may name; a Worker of one's own overrides this to register others. */
  resourceNamed(name: string): Resource | undefined {
    return resourceByName(name)
  }

  /** What a lock guards that nobody has used before. Decided by its name, once: the lock keeps what it was born with. */
  resourceNameOf(_lock: string): string {
    return DEFAULT_RESOURCE
  }

  private get defaults(): LockConfiguration {
    const { lock, id } = this.identity
    return defaultConfiguration(this.env, id, this.resourceNameOf(lock))
  }

  // ---- entries

  /** A body comes later than its request: `call` and `peer` touch storage when it is there, and nothing is done before. */
  override async fetch(request: Request): Promise<Response> {
    this.remember(request)
    const { pathname, searchParams } = new URL(request.url)
    switch (pathname) {
      case '/call':
        return Response.json(await this.call((await request.json()) as ParticipantRequest, request.signal))
      case '/peer':
        return Response.json(await this.peer((await request.json()) as PeerRequest))
      case '/watch':
        return this.open(() =>
          this.watch(searchParams.has('since') ? Number(searchParams.get('since')) : null),
        )
      case '/session':
        return this.open(() => this.sessions.open(searchParams.get('user') ?? ''))
      default:
        return new Response(null, { status: 404 })
    }
  }

  override async alarm(): Promise<void> {
    this.storage.touch()
    for (const deadline of this.deadlines.takeDue(Date.now())) {
      if (this.sessions.keepsAlive(deadline)) continue
      if (this.engine?.timer(deadline) || this.waiting.expire(deadline)) continue
      if (deadline === KEEP_OPEN) this.keepWatchersOpen()
    }
    this.finishEvent()
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.storage.touch()
    this.sessions.onMessage(socket, message)
    this.finishEvent()
  }

  override webSocketClose(socket: WebSocket): void {
    this.storage.touch()
    this.sessions.onClose(socket)
    this.finishEvent()
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket)
  }

  // ---- who am I

  /** Memory is a cache of storage: both are read again by the next instance of the object. */
  private knownIdentity: Identity | null = null
  private knownConfiguration: LockConfiguration | undefined

  get identity(): Identity {
    this.knownIdentity ??= this.storage.get('.identity') as unknown as Identity
    return this.knownIdentity
  }

  get configuration(): LockConfiguration | undefined {
    this.knownConfiguration ??= this.storage.get('.configuration') as unknown as LockConfiguration | undefined
    return this.knownConfiguration
  }

  private adopt(configuration: LockConfiguration): void {
    if (this.configuration === undefined) this.storage.put('.configuration', configuration as unknown as Json)
  }

  private remember(request: Request): void {
    if (this.identity !== undefined) return
    const lock = request.headers.get('x-baton-lock')
    const id = Number(request.headers.get('x-baton-participant'))
    if (lock === null || !Number.isInteger(id))
      throw new Error('a request to a participant must say which it means')
    this.storage.put('.identity', { lock, id })
  }

  // ---- calls of the router

  private async call({ call }: ParticipantRequest, signal: AbortSignal): Promise<ParticipantAnswer> {
    this.storage.touch()
    const wanted = call.type === 'configure' ? call.configuration : this.defaults
    return this.asMember(wanted, isNew => this.answers.answer(call, signal, isNew))
  }

  /** What is asked of a lock is answered by its participants alone, and once there is a majority that knows it. */
  private async asMember<Answer>(
    wanted: LockConfiguration,
    run: (isNew: boolean) => Answer | Promise<Answer>,
  ): Promise<Answer | ParticipantAnswer> {
    try {
      const isNew = await this.ready(wanted)
      const { configuration } = this
      if (!configuration!.participants.some(place => place.id === this.identity.id)) {
        return { type: 'elsewhere', configuration: configuration! }
      }
      return await run(isNew)
    } catch (error) {
      if (!(error instanceof NoMajority)) throw error
      return {
        type: 'problem',
        code: 'no_quorum',
        detail: error.message,
        outcome: 'not-applied',
        retryAfterSeconds: 1,
      }
    } finally {
      this.finishEvent()
    }
  }

  /** Resolves once this participant takes part in its lock (or is known not to). `true` if the lock was born by this call. */
  private async ready(wanted: LockConfiguration): Promise<boolean> {
    if (this.engine !== null) return false
    if (this.birth !== null) {
      await this.birth
      return false
    }
    let isNew = false
    this.birth = this.beBorn(wanted).then(created => {
      isNew = created
    })
    try {
      await this.birth
    } finally {
      this.birth = null
    }
    return isNew
  }

  private async beBorn(wanted: LockConfiguration): Promise<boolean> {
    const { id } = this.identity
    const host: BirthHost = {
      self: id,
      backOff: attempt => scheduler.wait(Math.random() * Math.min(20 * 2 ** attempt, 500)),
      known: () => this.configuration,
      registrars: this.defaults.participants,
      ask: async (place, request) =>
        place.id === id ? this.peer(request) : callPeer(this.directory, this.identity.lock, place, request),
    }
    const configuration = await agreeOnConfiguration(host, wanted)
    this.adopt(configuration)
    if (!configuration.participants.some(place => place.id === id)) return false
    const genesis = await isBirth(host, configuration, Date.now())
    if (this.engine === null) this.startEngine(genesis)
    return genesis
  }

  private startEngine(genesis: boolean): void {
    const configuration = this.configuration!
    const resource = this.resourceNamed(configuration.resource)
    if (resource === undefined) throw new Error(`no resource named ${configuration.resource} is registered`)
    const onStep = (emitted: readonly Emitted[], cause: UserInput | null) => this.onStep(emitted, cause)
    this.engine = new Engine(
      { storage: this.storage, deadlines: this.deadlines, onStep, onDefect: error => this.stop(error) },
      this.identity.id,
      configuration,
      resource,
    )
    this.glimpse = this.glance()
    if (this.engine.guarded !== null)
      this.size = new ReplicaSize(resource, () => this.running.guarded!.replica)
    this.engine.start(genesis)
  }

  /** What is in memory is lost, what is stored is not; the next event begins with a new instance. */
  private stop(error: unknown): void {
    console.error('a defect of the protocol core', error)
    this.ctx.abort('a defect of the protocol core')
  }

  /** Users whose clients are gone while an operation is pending: they leave once it is settled. */
  private readonly leaving = new Set<string>()

  /** The client of this user is gone: it neither waits nor holds any longer. */
  leave(user: string): void {
    const { running } = this
    const { holders, waiters } = running.view
    const holder = holders.find(inside => inside.user === user)
    if (waiters.some(waiter => waiter.user === user)) running.user({ type: 'withdraw', user })
    else if (holder?.isIssuing) this.leaving.add(user)
    else if (holder !== undefined) running.user({ type: 'exit', user, fence: holder.fence })
  }

  /** Whether this would be issued now, as something new, and is more than the lock may hold. */
  isTooMuch(user: string, fence: number, opId: string, operation: Json): boolean {
    const { guarded, view } = this.running
    if (guarded === null || this.size === null || !this.size.isNearLimit) return false
    const holder = view.holders.find(inside => inside.user === user && inside.fence === fence)
    const isNow = holder !== undefined && !holder.isIssuing
    if (!isNow || resultOf(guarded.replica, opId) !== undefined) return false
    const onTheWay = guarded.onTheWay()
    // Said before, and on its way: it will be answered like the first time.
    if (onTheWay.some(entry => entry.opId === opId)) return false
    return this.size.isTooMuch({ sequence: guarded.nextSequence, opId, operation }, onTheWay)
  }

  get running(): Engine {
    if (this.engine === null) throw new Error('this participant does not take part in its lock yet')
    return this.engine
  }

  // ---- messages of peers

  private async peer(request: PeerRequest): Promise<PeerAnswer> {
    this.storage.touch()
    switch (request.type) {
      case 'messages':
        return this.onMessages(request.from, request.messages)
      case 'introduce':
        this.adopt(request.configuration)
        return this.status()
      case 'found': {
        this.adopt(request.configuration)
        const isFresh = Math.abs(Date.now() - request.bornAt) < MOST_AGE_OF_FOUNDING_MS
        if (this.engine === null && isFresh) this.startEngine(true)
        this.finishEvent()
        return this.status()
      }
      case 'prepare': {
        const { record, answer } = prepare(this.registrar, request.ballot)
        this.storage.put('.registrar', record as unknown as Json)
        return { type: 'registrar', answer }
      }
      case 'accept': {
        const { record, answer } = accept(this.registrar, request.ballot, request.configuration)
        this.storage.put('.registrar', record as unknown as Json)
        return { type: 'registrar', answer }
      }
    }
  }

  private get registrar(): RegistrarRecord<LockConfiguration> {
    const record = this.storage.get('.registrar') as unknown as RegistrarRecord<LockConfiguration> | undefined
    return record ?? NEW_REGISTRAR
  }

  private status(): PeerAnswer {
    const membership = this.engine?.view.membership ?? 'blank'
    // Who has left the group still has its storage, and its place.
    return { type: 'status', status: membership === 'left' ? 'member' : membership }
  }

  /** What the steps answer to the sender rides in the response. */
  private onMessages(from: number, messages: readonly Message[]): PeerAnswer {
    if (this.engine === null) {
      if (this.configuration === undefined || this.birth !== null) return this.status()
      // The others are members already, so this one is late or was wiped: it asks to be taken back.
      this.startEngine(false)
    }
    for (const message of messages) this.running.message(from, message)
    const outbox = this.running.takeOutbox()
    const answers = outbox.get(from) ?? []
    outbox.delete(from)
    this.transmit(outbox)
    this.deadlines.arm(Date.now())
    return { type: 'messages', messages: answers }
  }

  // ---- after each event

  finishEvent(): void {
    if (this.engine !== null) this.transmit(this.engine.takeOutbox())
    this.deadlines.arm(Date.now())
  }

  private transmit(outbox: Map<number, Message[]>): void {
    for (const [peer, messages] of outbox) this.ctx.waitUntil(this.exchange(peer, messages))
  }

  /** Requests to other participants since this instance began; for /metrics and the benchmark. */
  peerRequests = 0

  readonly counters = { grants: 0, ejections: 0, operations: 0 }

  get stateWeight(): number {
    return this.size?.weight ?? 0
  }

  private async exchange(peer: number, messages: readonly Message[]): Promise<void> {
    this.peerRequests++
    const place = this.configuration!.participants.find(({ id }) => id === peer)!
    const { lock, id } = this.identity
    const ask = (request: PeerRequest) => callPeer(this.directory, lock, place, request).catch(() => null)
    const answer = await ask({ type: 'messages', from: id, messages })
    // The answer is an event like any other.
    this.storage.touch()
    if (answer === null) this.running.unreachable(peer)
    else if (answer.type === 'messages') {
      for (const message of answer.messages) this.running.message(peer, message)
    } else if (answer.type === 'status' && answer.status === 'blank') {
      await ask({ type: 'introduce', configuration: this.configuration! })
    }
    this.finishEvent()
  }

  // ---- what steps bring about

  private glimpse: Glimpse | null = null

  private glance(): Glimpse {
    const { holders, waiters } = this.running.view
    return { holders: [...holders], waiters: [...waiters] }
  }

  private onStep(emitted: readonly Emitted[], cause: UserInput | null): void {
    const { running } = this
    const before = this.glimpse!
    this.glimpse = this.glance()
    if (emitted.length > 0 || cause !== null) {
      const hash = () => running.context.resource.hash(running.guarded!.replica.cells)
      const { history, changes } = recordStep(this.identity.id, Date.now(), before, cause, emitted, hash)
      if (history.length > 0 || changes.length > 0) this.storage.record(history, changes)
      for (const { type } of history) this.count(type)
      const restored = emitted.find(event => event.type === 'restored')
      if (restored !== undefined) this.storage.missThrough(restored.sequence)
      if (this.watchers.size > 0) {
        this.watchers.publish(restored === undefined ? changes : [this.answers.snapshot()])
      }
    }
    this.measure(emitted)
    this.waiting.tell(emitted)
    this.sessions.tell(emitted)
    for (const event of emitted) {
      if (event.type === 'crit' || event.type === 'withdrawn') this.connections.takeTicket(event.user)
      if (event.type === 'ejected') this.leaving.delete(event.user)
      if (event.type === 'outcome' && this.leaving.delete(event.user)) this.leave(event.user)
    }
  }

  /** Before anybody is told: who is let in by this step may issue at once, and is measured by what the step applied. */
  private measure(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      if (event.type === 'applied') this.size!.applied(event.opId, event.changes)
      if (event.type === 'restored') this.size!.measureAll()
    }
  }

  private count(type: HistoryEvent['type']): void {
    if (type === 'crit') this.counters.grants++
    if (type === 'ejected') this.counters.ejections++
    if (type === 'invoke') this.counters.operations++
  }

  // ---- watch and session

  /** A stream or a WebSocket, or why there is none. */
  private async open(run: () => Response | ParticipantAnswer): Promise<Response> {
    this.storage.touch()
    const opened = await this.asMember(this.defaults, run)
    return opened instanceof Response ? opened : Response.json(opened)
  }

  private watch(since: number | null): Response | ParticipantAnswer {
    if (this.running.guarded === null) return guardsNothing
    if (this.watchers.size >= API_LIMITS.watchersPerParticipant) {
      return tooMany('Too many watch this lock at this participant.')
    }
    // With others watching it is set already; setting it again would put their comment off.
    if (this.watchers.size === 0) this.deadlines.set(KEEP_OPEN, Date.now() + KEEP_OPEN_MS)
    const stream = this.watchers.open(this.answers.replay(since))
    return new Response(stream, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    })
  }

  private keepWatchersOpen(): void {
    this.watchers.keepOpen()
    if (this.watchers.size > 0) this.deadlines.set(KEEP_OPEN, Date.now() + KEEP_OPEN_MS)
  }
}
