/**
 * One participant of one lock, wherever it runs (runtime.ts). These are its entries; each is a turn
 * (core/turns.ts), or waits for the lock to be born and then is one. What it is asked is in calls.ts and
 * peers/requests.ts.
 *
 *   core/      the engine around the protocol, storage, timers, turns
 *   lock/      which lock this is, what it is made of, how it is born
 *   peers/     what participants say to each other
 *   calls/     what the router asks, a file for each kind of call
 *   streams/   sessions and watchers
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import { answer } from './calls/answer.ts'
import type { CallContext } from './calls/context.ts'
import { Conversations } from './calls/conversations.ts'
import { tooMany } from './calls/refusals.ts'
import type { ParticipantAnswer, ParticipantCall } from './calls.ts'
import { Connections } from './core/connections.ts'
import { Member, type StepReport } from './core/member.ts'
import { Places } from './core/places.ts'
import { Storage } from './core/storage.ts'
import { Timers } from './core/timers.ts'
import { Turns } from './core/turns.ts'
import { weigh } from './core/weigh.ts'
import { NoMajority } from './lock/birth.ts'
import { type Address, Lock } from './lock/lock.ts'
import { Exchange } from './peers/exchange.ts'
import type { PeerAnswer, PeerRequest } from './peers/requests.ts'
import type { Runtime, Sink, Socket } from './runtime.ts'
import { Sessions } from './streams/sessions.ts'
import { Watchers } from './streams/watchers.ts'

/** What the deployment decides. */
export interface Deployment {
  /** How many steps of history are kept; 0: none. */
  readonly eventsKept: number
  /** What a lock is made of that nobody configured, as the participant with this address would have it. */
  defaults(address: Address): LockConfiguration
  resourceNamed(name: string): Resource | undefined
}

/** What makes room, and how the router finds out that a participant which keeps it waiting is there. */
const ALWAYS_TAKEN: ReadonlySet<ParticipantCall['type']> = new Set([
  'status',
  'withdraw',
  'release',
  'keepalive',
  'eject',
])

const BOOTS = '.boots'

export class Participant {
  private readonly runtime: Runtime
  private readonly deployment: Deployment
  private readonly storage: Storage
  private readonly turns: Turns
  private readonly timers: Timers
  private readonly lock: Lock
  private readonly exchange: Exchange
  private readonly conversations: Conversations
  private readonly connections: Connections
  private readonly places = new Places(API_LIMITS.waiters)
  private readonly sessions: Sessions
  private readonly watchers: Watchers
  private knownMember: Member | null = null
  private callsInFlight = 0
  private callsWeight = 0
  private requests = 0

  constructor(runtime: Runtime, deployment: Deployment) {
    const member = () => this.member
    this.runtime = runtime
    this.deployment = deployment
    this.storage = new Storage(runtime.rows, deployment.eventsKept)
    this.turns = new Turns(runtime, this.storage)
    this.timers = new Timers(runtime)
    const { storage, turns, timers } = this
    this.lock = new Lock({
      runtime,
      turns,
      storage,
      timers,
      defaults: address => deployment.defaults(address),
      membership: () => this.knownMember?.view.membership ?? null,
      takePart: genesis => this.takePart(genesis),
    })
    const { lock } = this
    this.exchange = new Exchange({
      runtime,
      turns,
      get member() {
        return member()
      },
      get lockName() {
        return lock.address.lock
      },
      onBlank: place => lock.introduce(place),
    })
    this.conversations = new Conversations(turns, timers, member)
    this.connections = new Connections(storage)
    this.sessions = new Sessions(turns, runtime, member, this.places)
    this.watchers = new Watchers({
      runtime,
      turns,
      timers,
      events: storage.events,
      get member() {
        return member()
      },
    })
    turns.finish = () => {
      this.exchange.send()
      timers.arm()
    }
    turns.begin(() => this.begin())
  }

  /**
   * An instance that cannot write says nothing to anybody: it proves that it can before it says something.
   */
  private begin(): void {
    this.storage.put(BOOTS, ((this.storage.get(BOOTS) as number | undefined) ?? 0) + 1)
    if (this.storage.get('membership') === undefined) return
    this.takePart(false)
    for (const source of [this.connections, this.sessions])
      for (const [user, client] of source.clients()) this.places.restore(user, client)
    const isConnected = (user: string) => this.sessions.has(user)
    for (const user of this.connections.lostUsers(this.member.view, isConnected)) this.member.leave(user)
  }

  // ---------------------------------------------------------------- entries

  call(address: Address, call: ParticipantCall, signal: AbortSignal | null): Promise<ParticipantAnswer> {
    const wanted = call.type === 'configure' ? call.configuration : this.deployment.defaults(address)
    return this.asMember(address, wanted, isNew => {
      const weight = 'ops' in call ? weigh(call.ops) : 0
      const isFull =
        this.callsInFlight >= API_LIMITS.callsInFlight || this.callsWeight + weight > API_LIMITS.callsWeight
      if (isFull && !ALWAYS_TAKEN.has(call.type)) {
        const outcome = 'opId' in call ? { outcome: 'not-applied' as const } : {}
        return { ...tooMany('This participant has too many calls to answer.'), ...outcome }
      }
      this.callsInFlight++
      this.callsWeight += weight
      const answered = this.conversations.hold(() => answer(this.callContext, call, isNew), signal)
      return answered.finally(() => {
        this.callsInFlight--
        this.callsWeight -= weight
      })
    })
  }

  async peer(address: Address, request: PeerRequest): Promise<PeerAnswer> {
    if (request.type !== 'messages') {
      return this.turns.run(() => {
        this.lock.meet(address)
        return this.lock.answer(request)
      })
    }
    if (this.knownMember === null) {
      const status = this.turns.run(() => {
        this.lock.meet(address)
        if (!this.lock.mayRejoin) return this.lock.status()
        this.takePart(false)
        return null
      })
      if (status !== null) return status
    }
    return { type: 'messages', messages: this.exchange.receive(request.from, request.messages) }
  }

  /** `null`: the sink gets the events. */
  watch(address: Address, since: number | null, sink: Sink): Promise<ParticipantAnswer | null> {
    return this.asMember(address, this.deployment.defaults(address), () =>
      this.turns.run(() => this.watchers.open(since, sink)),
    )
  }

  /** The watcher has gone. */
  unwatch(sink: Sink): void {
    this.watchers.close(sink)
  }

  /** The watcher has read everything that it was given. */
  drained(sink: Sink): void {
    if (this.watchers.drained(sink)) this.turns.attempt(() => this.watchers.serve())
  }

  /** `null`: `accept` was called, with the tag that the socket is to have. */
  session(
    address: Address,
    user: string,
    accept: (tag: string) => void,
    client?: string,
  ): Promise<ParticipantAnswer | null> {
    return this.asMember(address, this.deployment.defaults(address), () =>
      this.turns.run(() => this.sessions.open(user, accept, client)),
    )
  }

  socketMessage(socket: Socket, message: string | ArrayBuffer): void {
    this.turns.run(() => this.sessions.onMessage(socket, message))
  }

  socketClose(socket: Socket): void {
    this.turns.run(() => this.sessions.onClose(socket))
  }

  alarm(): void {
    this.turns.run(() => this.timers.fire())
  }

  // ---------------------------------------------------------------- taking part

  private get member(): Member {
    if (this.knownMember === null) throw new Error('this participant does not take part in its lock yet')
    return this.knownMember
  }

  /**
   * What is asked of a lock is answered by its participants alone, and once there is a majority that knows
   * it.
   */
  private async asMember<Answer>(
    address: Address,
    wanted: LockConfiguration,
    run: (isNew: boolean) => Answer | Promise<Answer>,
  ): Promise<Answer | ParticipantAnswer> {
    try {
      const isNew = await this.lock.ready(address, wanted)
      const configuration = this.lock.configuration!
      const isPart = configuration.participants.some(place => place.id === address.id)
      return isPart ? await run(isNew) : { type: 'elsewhere', configuration }
    } catch (error) {
      if (!(error instanceof NoMajority)) throw error
      return {
        type: 'problem',
        code: 'no_quorum',
        detail: error.message,
        outcome: 'not-applied',
        retryAfterSeconds: 1,
      }
    }
  }

  private takePart(genesis: boolean): void {
    const configuration = this.lock.configuration!
    const resource = this.deployment.resourceNamed(configuration.resource)
    if (resource === undefined) throw new Error(`no resource named ${configuration.resource} is registered`)
    const { turns, storage, timers, runtime } = this
    this.knownMember = new Member(
      {
        turns,
        storage,
        timers,
        now: () => runtime.now(),
        post: (to, message) => this.exchange.post(to, message),
        onStep: report => this.onStep(report),
        onTimer: timer => timer === 'ttl' && this.sessions.keepAlive(),
      },
      this.lock.address.id,
      configuration,
      resource,
    )
    this.knownMember.engine.start(genesis)
  }

  private onStep(report: StepReport): void {
    this.watchers.onStep(report)
    this.conversations.onStep(report.emitted)
    this.sessions.onStep(report.emitted)
    this.connections.onStep(report.emitted)
    this.places.onStep(report.emitted)
  }

  private get callContext(): CallContext {
    const { runtime, connections, places, member } = this
    return {
      member,
      configuration: member.configuration,
      connections,
      places,
      events: this.storage.events,
      now: () => runtime.now(),
      newRequest: () => `request/${++this.requests}`,
      figures: {
        peerRequests: this.exchange.requests,
        calls: this.callsInFlight,
        watchers: this.watchers.size,
        sessions: this.sessions.size,
      },
    }
  }
}
