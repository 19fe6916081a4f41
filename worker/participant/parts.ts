/**
 * What a participant is made of, and how its parts are tied to each other: what each of them may ask of the
 * others, and in which order they hear of a step.
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type { FollowingRules } from '../../shared/api/following.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { isBornIn } from '../../shared/birth/existence.ts'
import type { BirthEvent } from '../../shared/birth/lock-types.ts'
import type { Limits, MembersOutput } from '../../shared/protocols/protocol.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import type { CallContext } from './calls/context.ts'
import { Conversations } from './calls/conversations.ts'
import { Reception } from './calls/reception.ts'
import { hasLeft } from './calls/refusals.ts'
import type { ParticipantAnswer } from './calls.ts'
import { Connections, isBoundToConnection } from './core/connections.ts'
import { Following } from './core/following.ts'
import { FormerLock, KEPT_OF_FORMER } from './core/former-lock.ts'
import { Handovers } from './core/handovers.ts'
import { Member, type StepReport } from './core/member.ts'
import { Owners } from './core/owners.ts'
import { Places } from './core/places.ts'
import type { Storage } from './core/storage.ts'
import { Timers } from './core/timers.ts'
import { Turns } from './core/turns.ts'
import { Withdrawals } from './core/withdrawals.ts'
import { IndexTeller, KEPT_OF_INDEX } from './index/teller.ts'
import { LedgerCalls } from './ledger/calls.ts'
import { Looking } from './lock/existence.ts'
import { type Address, contextOf, KEPT_AT_END, Lock } from './lock/lock.ts'
import { Whereabouts } from './lock/whereabouts.ts'
import { Callers } from './observe/callers.ts'
import { LogLines } from './observe/log-lines.ts'
import { Exchange } from './peers/exchange.ts'
import type { Message } from './peers/requests.ts'
import type { Runtime } from './runtime.ts'
import { Exports } from './streams/exports.ts'
import { sightingHere } from './streams/holder-knowledge.ts'
import { HolderNews } from './streams/holder-news.ts'
import { Sessions } from './streams/sessions.ts'
import { WatchLeases } from './streams/watch-leases.ts'
import { Watchers } from './streams/watchers.ts'

/** What the deployment decides. */
export interface Deployment {
  /** Bounds of the protocol. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Limits
  /** When locks that follow their work move. Default: `FOLLOWING`. */
  readonly following?: FollowingRules
  /** What a lock is made of that nobody configured, as the participant with this address would have it. */
  defaults(address: Address): LockConfiguration
  resourceNamed(name: string): Resource | undefined
}

const BOOTS = '.boots'

/** How long something that may wait is kept in memory only. Too short for an alarm (timers.ts). */
const WRITE_WITHIN_MS = 200

export class Parts {
  readonly runtime: Runtime
  readonly deployment: Deployment
  private readonly storage: Storage
  readonly turns: Turns
  readonly timers: Timers
  readonly lock: Lock
  readonly looking: Looking
  readonly whereabouts: Whereabouts
  readonly exchange: Exchange<Message>
  private readonly conversations: Conversations
  readonly reception: Reception
  private readonly connections: Connections
  private readonly handovers: Handovers
  readonly withdrawals: Withdrawals
  private readonly teller: IndexTeller
  readonly owners: Owners
  private readonly following: Following
  private readonly formerLock: FormerLock
  private readonly places = new Places(API_LIMITS.waiters)
  private readonly callers = new Callers()
  private readonly logLines: LogLines
  readonly sessions: Sessions
  readonly watchers: Watchers
  private readonly exports: Exports
  readonly holderNews: HolderNews
  readonly watchLeases: WatchLeases
  /** `null` until it knows which participant it is. */
  knownMember: Member | null = null
  private requests = 0
  private willWrite = false

  constructor(runtime: Runtime, storage: Storage, deployment: Deployment) {
    const member = () => this.member
    const news = () => this.holderNews
    this.runtime = runtime
    this.deployment = deployment
    this.storage = storage
    this.turns = new Turns(runtime, storage)
    this.timers = new Timers(runtime, () => this.turns.attempt(() => this.timers.fire()))
    const { turns, timers } = this
    this.lock = new Lock({
      turns,
      storage,
      get engine() {
        return member().engine
      },
      begin: address => this.takePlace(address),
    })
    const { lock } = this
    this.looking = new Looking({
      runtime,
      turns,
      birth: () => this.knownMember?.engine.birthRecord ?? null,
      registrars: address => deployment.defaults(address).participants,
    })
    this.whereabouts = new Whereabouts({
      birth: () => this.member.engine.birthRecord,
      configuration: () => this.member.engine.birth.value?.configuration,
      registrars: () => deployment.defaults(lock.address).participants,
    })
    this.exchange = new Exchange<Message>({
      runtime,
      turns,
      get lockName() {
        return lock.address.lock
      },
      placeOf: (peer, at) => this.whereabouts.placeOf(peer, at),
      request: messages => ({ type: 'messages', ...senderOf(lock.address), messages }),
      messagesOf: answer => (answer.type === 'messages' ? answer.messages : null),
      receive: (from, message, at) => this.member.engine.message(from, message, at),
      unreachable: peer => this.member.engine.unreachable(peer),
    })
    this.conversations = new Conversations(turns, timers, member)
    this.connections = new Connections(storage)
    this.formerLock = new FormerLock(storage)
    this.withdrawals = new Withdrawals(storage, () => runtime.now())
    this.owners = new Owners({
      storage,
      now: () => runtime.now(),
      view: () => this.member.view,
      isFleeting: user => isBoundToConnection(user) && !this.sessions.has(user),
    })
    this.following = new Following(
      {
        storage,
        now: () => runtime.now(),
        configuration: () =>
          this.knownMember?.engine.birth.value == null ? null : this.knownMember.configuration,
        move: (move, configuration) => this.reception.follow(move, configuration),
      },
      deployment.following,
    )
    this.handovers = new Handovers({
      storage,
      timers,
      now: () => runtime.now(),
      get member() {
        return member()
      },
    })
    this.sessions = new Sessions(
      turns,
      runtime,
      member,
      this.places,
      this.owners,
      this.following,
      storage,
      (call, caller, onEnd) => this.reception.begin(call, caller, onEnd),
    )
    this.logLines = new LogLines({
      runtime,
      turns,
      get address() {
        return lock.address
      },
      callerOf: user => this.sessions.callerOf(user) ?? this.callers.of(user),
    })
    const { conversations, callers, logLines } = this
    const context = () => this.callContext
    this.reception = new Reception({
      turns,
      conversations,
      callers,
      logLines,
      get member() {
        return member()
      },
      get context() {
        return context()
      },
    })
    this.watchers = new Watchers({
      runtime,
      turns,
      timers,
      events: storage.events,
      get member() {
        return member()
      },
      isExported: () => this.exports.isOpen,
      isOfBefore: sequence => this.formerLock.mayHave(sequence, member().engine.birth.generation),
      get knowledge() {
        return news().knowledge
      },
      onFirst: () => this.holderNews.begin(),
      onTick: () => this.holderNews.tick(),
    })
    const { watchers } = this
    this.exports = new Exports({
      timers,
      now: () => runtime.now(),
      newId: () => runtime.randomId(),
      replica: () => this.knownMember?.guarded?.replica ?? null,
      freeze: () => watchers.freezeNow(),
      thaw: () => watchers.afterExport(),
    })
    const aboutHolder = {
      runtime,
      turns,
      sighting: () => sightingHere(this.member, this.owners),
      placeOf: (peer: number) => this.whereabouts.placeOf(peer),
    }
    this.holderNews = new HolderNews({
      ...aboutHolder,
      get address() {
        return lock.address
      },
      get isWatched() {
        return watchers.size > 0
      },
      get member() {
        return member()
      },
      tell: () => watchers.tellHolder(),
    })
    this.watchLeases = new WatchLeases({
      ...aboutHolder,
      get address() {
        return lock.address
      },
      get generation() {
        return member().engine.birth.generation
      },
    })
    this.teller = new IndexTeller({
      runtime,
      turns,
      timers,
      storage,
      get address() {
        return lock.address
      },
      birth: () => this.knownMember?.engine.birthRecord ?? null,
      get hasIndex() {
        return lock.address.id <= deployment.defaults(lock.address).participants.length
      },
    })
    turns.finish = () => {
      this.exchange.send()
      this.teller.check()
      this.writeSoon()
      timers.arm()
    }
    if (lock.isKnown) turns.begin(() => this.wake())
  }

  /**
   * What may wait is written with the next turn that must be written. If none comes, it is written by itself,
   * so that a lock that is woken later finds its last operations settled.
   */
  private writeSoon(): void {
    if (!this.storage.isBehind || this.willWrite) return
    this.willWrite = true
    this.timers.set(this.runtime.now() + WRITE_WITHIN_MS, () => {
      this.willWrite = false
      this.storage.flush()
    })
  }

  /**
   * An instance that cannot write says nothing to anybody: it proves that it can write before it says
   * anything. One that has nothing in its storage, and is only looked at, leaves it so.
   */
  private wake(): void {
    this.storage.put(BOOTS, ((this.storage.get(BOOTS) as number | undefined) ?? 0) + 1)
    this.takePlace(this.lock.address)
    for (const source of [this.connections, this.sessions])
      for (const [user, client] of source.clients()) this.places.restore(user, client)
    this.handovers.begin()
    this.sessions.begin()
    const isConnected = (user: string) => this.sessions.has(user)
    for (const user of this.connections.lostUsers(this.member.view, isConnected)) this.member.leave(user)
    this.shortenWaits()
  }

  /**
   * A wait that seems to last longer than it may is from before the clock was set back: it lasts as long as
   * one that begins now. A ticket may be left until nobody asks for it any more, a session says itself how
   * long it waits.
   */
  private shortenWaits(): void {
    const { engine, view } = this.member
    if (!engine.isTakingPart) return
    const now = this.runtime.now()
    for (const { user, waitUntil } of [...view.waiters]) {
      const waitMs = this.connections.hasTicket(user) ? API_LIMITS.ticketMs : this.sessions.waitMsOf(user)
      if (waitMs === undefined || waitUntil === null || waitUntil <= now + waitMs) continue
      // Its time to live was said when it came: repeating it changes nothing.
      engine.user({ type: 'try', user, ttlMs: API_LIMITS.ttlMs.default, waitMs })
    }
  }

  get member(): Member {
    if (this.knownMember === null) throw new Error('this participant does not know yet which one it is')
    return this.knownMember
  }

  get isBornHere(): boolean {
    return this.knownMember !== null && isBornIn(this.knownMember.engine.birthRecord)
  }

  /** Whether it was a member once, and others are now (rule M5). */
  get isRemoved(): boolean {
    return this.member.view.membership === 'removed'
  }

  get elsewhere(): ParticipantAnswer {
    // The lock may have been deleted since this participant left it.
    if (this.member.engine.birth.value === null) return hasLeft
    return { type: 'elsewhere', configuration: this.member.configuration }
  }

  /**
   * From now on this participant knows which one it is, and takes part in the birth of its lock. Called in a
   * turn.
   */
  private takePlace(address: Address): void {
    const { turns, storage, timers, runtime, deployment, lock } = this
    const context = contextOf(
      address,
      deployment.defaults(address),
      name => deployment.resourceNamed(name),
      deployment.limits,
    )
    const ledger = new LedgerCalls(runtime, turns, address.id, answer => this.member.engine.ledger(answer))
    this.knownMember = new Member(
      {
        turns,
        storage,
        timers,
        now: () => runtime.now(),
        randomId: () => runtime.randomId(),
        post: (to, message, at) => this.exchange.post(to, message, at),
        askLedger: question => ledger.ask(question),
        tellLedger: (name, generation, incarnation) => ledger.tell(name, generation, incarnation),
        onStep: report => this.onStep(report),
        onBirth: events => this.onBirth(events),
        keptAtEnd: [BOOTS, KEPT_OF_FORMER, ...KEPT_AT_END, ...KEPT_OF_INDEX],
        onRestart: () => lock.repeat(),
        onClear: isEnded => {
          this.exports.endAll()
          this.watchLeases.endAll()
          if (isEnded) {
            this.whereabouts.forget()
            this.withdrawals.keep()
          }
          this.watchers.failAll(isEnded ? 'the lock was deleted' : undefined)
        },
        stayOf: user => this.owners.of(user),
        onTimer: timer => timer === 'ttl' && this.sessions.keepAlive(),
      },
      context,
    )
    if (address.address !== undefined) storage.noteMembers()
    this.knownMember.engine.start()
  }

  private onBirth(events: readonly BirthEvent[]): void {
    if (events.some(({ type }) => type === 'ended')) {
      this.conversations.endAll()
      this.sessions.endAll()
    }
    this.lock.onBirth(events)
  }

  private onStep(report: StepReport): void {
    if (report.endedAt !== undefined) this.formerLock.note(report.endedAt)
    this.logLines.onStep(report)
    this.callers.onStep(report.emitted)
    this.watchers.onStep(report)
    this.conversations.onStep(report.emitted)
    this.sessions.onStep(report.emitted)
    this.handovers.onStep(report)
    this.connections.onStep(report.emitted)
    this.places.onStep(report.emitted)
    this.owners.onStep(report.emitted)
    // After those that know since when somebody is inside.
    this.holderNews.onStep(report)
    this.watchLeases.onStep()
    this.following.onStep(report)
    for (const event of report.emitted) if (event.type === 'members') this.onMembers(event)
  }

  private onMembers({ members, isHint }: MembersOutput): void {
    this.whereabouts.expect(members)
    if (!isHint && this.isRemoved) this.leaveLock()
  }

  /** Others are the members now: whoever is connected here goes on there. */
  private leaveLock(): void {
    this.watchers.failAll('this participant has left the lock')
    this.sessions.leaveAll()
  }

  private get callContext(): CallContext {
    const { runtime, connections, places, handovers, withdrawals, owners, following, member } = this
    return {
      member,
      configuration: member.configuration,
      connections,
      places,
      handovers,
      withdrawals,
      owners,
      following,
      events: this.storage.events,
      exports: this.exports,
      processes: this.deployment.defaults(this.lock.address).participants,
      expectMembers: members => this.whereabouts.expect(members),
      flush: () => this.storage.flush(),
      now: () => runtime.now(),
      newRequest: () => `request/${++this.requests}`,
      figures: () => ({
        peerRequests: this.exchange.requests,
        calls: this.reception.size,
        watchers: this.watchers.size,
        sessions: this.sessions.size,
      }),
    }
  }
}

const senderOf = ({ id, address }: Address) => ({ from: id, ...(address !== undefined && { address }) })
