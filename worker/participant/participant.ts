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
 *   observe/   what is counted, measured and logged; nothing depends on it
 */
import type { LockConfiguration } from '../../shared/api/configuration.ts'
import type { FollowingRules, Move } from '../../shared/api/following.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { isBornIn } from '../../shared/birth/existence.ts'
import type { BirthEvent } from '../../shared/birth/lock-types.ts'
import type { Json } from '../../shared/json.ts'
import { SHARING_PROTOCOLS } from '../../shared/protocols/all.ts'
import type { Limits, MembersOutput } from '../../shared/protocols/protocol.ts'
import type { Resource } from '../../shared/resource/resource.ts'
import { answer } from './calls/answer.ts'
import { type CallContext, done } from './calls/context.ts'
import { Conversations, type Talk } from './calls/conversations.ts'
import { CallsInFlight, type Call as MemberCall, tooManyCalls } from './calls/in-flight.ts'
import { changeMembers } from './calls/members.ts'
import { cannotShare, existenceUnknown, hasLeft, noMember, noSuchLock } from './calls/refusals.ts'
import type { ParticipantAnswer, ParticipantCall } from './calls.ts'
import { boundToConnection, Connections, isBoundToConnection } from './core/connections.ts'
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
import type { Intent } from './lock/intent.ts'
import { type Address, type Birth, contextOf, KEPT_AT_END, Lock } from './lock/lock.ts'
import { Whereabouts } from './lock/whereabouts.ts'
import { type Caller, Callers } from './observe/callers.ts'
import { LogLines } from './observe/log-lines.ts'
import { Exchange } from './peers/exchange.ts'
import type { Message, PeerAnswer, PeerRequest } from './peers/requests.ts'
import type { Runtime, Sink, Socket } from './runtime.ts'
import { Exports } from './streams/exports.ts'
import { sightingHere } from './streams/holder-knowledge.ts'
import { HolderNews } from './streams/holder-news.ts'
import type { SessionCall } from './streams/session-calls.ts'
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

const TRYING: ReadonlySet<ParticipantCall['type']> = new Set(['acquire', 'transact'])

const isShared = (call: ParticipantCall): boolean => call.type === 'acquire' && call.mode === 'shared'

/** What a participant that was removed still answers: how the grants of its users ended, and its history. */
const OF_THE_PAST: ReadonlySet<ParticipantCall['type']> = new Set([
  'ticket',
  'withdraw',
  'confirm',
  'ops',
  'keepalive',
  'release',
  'history',
])

const BOOTS = '.boots'

/** How long a call to delete the lock waits for the participants that are there to hear of it. */
const TELL_MS = 1_000

/** How long something that may wait is kept in memory only. Too short for an alarm (timers.ts). */
const WRITE_WITHIN_MS = 200

export class Participant {
  private readonly runtime: Runtime
  private readonly deployment: Deployment
  private readonly storage: Storage
  private readonly turns: Turns
  private readonly timers: Timers
  private readonly lock: Lock
  private readonly looking: Looking
  private readonly whereabouts: Whereabouts
  private readonly exchange: Exchange<Message>
  private readonly conversations: Conversations
  private readonly connections: Connections
  private readonly handovers: Handovers
  private readonly withdrawals: Withdrawals
  private readonly teller: IndexTeller
  private readonly owners: Owners
  private readonly following: Following
  private readonly formerLock: FormerLock
  private readonly places = new Places(API_LIMITS.waiters)
  private readonly callers = new Callers()
  private readonly logLines: LogLines
  private readonly sessions: Sessions
  private readonly watchers: Watchers
  private readonly exports: Exports
  private readonly holderNews: HolderNews
  private readonly watchLeases: WatchLeases
  private knownMember: Member | null = null
  private readonly inFlight = new CallsInFlight()
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
        move: (move, configuration) => this.follow(move, configuration),
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
      (call, caller, onEnd) => this.begin(call, caller, onEnd),
    )
    this.logLines = new LogLines({
      runtime,
      turns,
      get address() {
        return lock.address
      },
      callerOf: user => this.sessions.callerOf(user) ?? this.callers.of(user),
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

  // ---------------------------------------------------------------- entries

  async call(
    address: Address,
    call: ParticipantCall,
    signal: AbortSignal | null,
    caller: Caller = {},
  ): Promise<ParticipantAnswer> {
    if (call.type === 'locks') throw new Error('a participant of a lock is no index')
    if (call.type === 'configure')
      return answerToConfigure(await this.lock.configure(address, call.configuration))
    const taken = this.inFlight.take(call, caller.key)
    if (taken === null) return tooManyCalls(call)
    try {
      const defaults = this.deployment.defaults(address)
      const isInVain = isShared(call) && !SHARING_PROTOCOLS.includes(defaults.protocol)
      const answered = await this.asMember(
        address,
        TRYING.has(call.type) && !isInVain ? 'try' : 'look',
        () =>
          this.isRemoved && !OF_THE_PAST.has(call.type)
            ? this.elsewhere
            : this.ask(taken.call, signal, caller),
      )
      // Nobody could share the lock that this would create.
      if (answered === noSuchLock && isInVain) return cannotShare(defaults)
      return answered === noSuchLock ? this.answerOfNoLock(address, call) : answered
    } finally {
      taken.end()
    }
  }

  private async ask(
    call: MemberCall,
    signal: AbortSignal | null,
    caller: Caller,
  ): Promise<ParticipantAnswer> {
    const user = userOf(call)
    if (user !== null) this.callers.note(user, caller)
    const given = await this.conversations.hold(() => answer(this.callContext, call), signal)
    this.onAnswered(call, given, caller)
    if (given === hasLeft) return this.elsewhere
    if (call.type === 'delete' && given.type === 'done') await this.untilTold()
    return given
  }

  /**
   * An `acquire` that is on its way may still give birth to the lock: one that was withdrawn before it came
   * must not be let in. So that is noted, lock or no lock.
   */
  private answerOfNoLock(address: Address, call: ParticipantCall): ParticipantAnswer {
    if (call.type === 'delete' && this.hasEnded(call.generation)) return done(204, null)
    const generation = this.knownMember?.engine.birth.generation ?? 1
    const absent = generation === 1 ? noSuchLock : { ...noSuchLock, more: { generation } }
    if (call.type !== 'withdraw' || call.ofTicket) return absent
    this.turns.run(() => {
      this.lock.meet(address)
      this.withdrawals.note(call.user)
    })
    return call.ofWaiter ? done(200, {}) : absent
  }

  private hasEnded(generation: number | null): boolean {
    const present = this.knownMember?.engine.birth.generation ?? 1
    return generation !== null && present > generation
  }

  /** A call that comes with a session's message, in the turn of that message. */
  private begin(call: SessionCall, caller: Caller, onEnd: (answer: ParticipantAnswer) => void): Talk {
    const taken = this.member.engine.isTakingPart ? this.inFlight.take(call, caller.key) : null
    if (taken === null) {
      onEnd(this.member.engine.isTakingPart ? tooManyCalls(call) : noMember)
      return NOBODY
    }
    const user = userOf(call)
    if (user !== null) this.callers.note(user, caller)
    return this.conversations.begin(answer(this.callContext, taken.call), given => {
      taken.end()
      this.onAnswered(call, given, caller)
      onEnd(given)
    })
  }

  /** What is left to do when a call was answered. */
  private onAnswered(call: ParticipantCall, given: ParticipantAnswer, caller: Caller): void {
    if (call.type === 'eject' && given.type === 'done')
      this.logLines.eject(caller, call.fence ?? null, (given.body as { readonly epoch: number }).epoch)
    // Whoever was not even let into the queue has left no other trace.
    const user = userOf(call)
    if (user === null || given.type !== 'problem' || given.code !== 'too_many') return
    if (!this.member.isWaiting(user) && this.member.holderNamed(user) === undefined) this.callers.forget(user)
  }

  async peer(address: Address, request: PeerRequest): Promise<PeerAnswer> {
    if (request.type === 'who') return this.turns.run(() => this.sayWho(request))
    if (request.type === 'holder-news')
      return this.turns.run(() => ({ type: 'heard', isWatched: this.hearOfHolder(request) }))
    if (request.type === 'look') return { type: 'sight', sight: await this.looking.own(address) }
    if (!this.lock.isKnown) this.turns.run(() => this.lock.meet(address))
    switch (request.type) {
      case 'messages':
        if (request.address !== undefined) this.whereabouts.note(request.from, request.address)
        return {
          type: 'messages',
          messages: this.exchange.receive(request.from, request.messages, request.address),
        }
      case 'finish':
        this.turns.run(() => this.member.engine.finish(request.incarnation, request.generation))
        return { type: 'taken' }
      default:
        throw new Error('a participant of a lock is no ledger')
    }
  }

  private sayWho({ fence, watch }: PeerRequestOf<'who'>): PeerAnswer {
    const { knownMember: member, owners } = this
    if (member === null) return { type: 'holder', holder: null }
    const sighting = sightingHere(member, owners)
    const { holder } = sighting
    if (watch === undefined) return { type: 'holder', holder: holder?.fence === fence ? holder : null }
    if (watch.generation !== member.engine.birth.generation) return { type: 'holder', holder: null }
    if (watch.address !== undefined) this.whereabouts.note(watch.from, watch.address)
    this.watchLeases.take(watch.from, sighting)
    return { type: 'holder', ...sighting, owner: member.view.owner }
  }

  private hearOfHolder({ holder, over, generation }: PeerRequestOf<'holder-news'>): boolean {
    return this.knownMember !== null && this.holderNews.hear({ holder, over }, generation)
  }

  /** `null`: the sink gets the events. */
  watch(address: Address, since: number | null, sink: Sink): Promise<ParticipantAnswer | null> {
    return this.asMember(address, 'look', () =>
      this.isRemoved ? this.elsewhere : this.turns.run(() => this.watchers.open(since, sink)),
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
    caller: Caller = {},
    mayRead = true,
    near?: string,
  ): Promise<ParticipantAnswer | null> {
    return this.asMember(address, 'use', () =>
      this.isRemoved
        ? this.elsewhere
        : this.turns.run(() => this.sessions.open(user, accept, client, caller, mayRead, near)),
    )
  }

  socketMessage(socket: Socket, message: string | ArrayBuffer): void {
    this.turns.run(() => this.sessions.onMessage(socket, message))
  }

  socketClose(socket: Socket): void {
    this.turns.run(() => this.sessions.onClose(socket))
  }

  alarm(): void {
    this.turns.run(() => this.timers.onAlarm())
  }

  // ---------------------------------------------------------------- taking part

  private get member(): Member {
    if (this.knownMember === null) throw new Error('this participant does not know yet which one it is')
    return this.knownMember
  }

  private get isBornHere(): boolean {
    return this.knownMember !== null && isBornIn(this.knownMember.engine.birthRecord)
  }

  /** Whether it was a member once, and others are now (rule M5). */
  private get isRemoved(): boolean {
    return this.member.view.membership === 'removed'
  }

  private get elsewhere(): ParticipantAnswer {
    // The lock may have been deleted since this participant left it.
    if (this.member.engine.birth.value === null) return hasLeft
    return { type: 'elsewhere', configuration: this.member.configuration }
  }

  /** Only the participants of a lock answer what it is asked, once it is born. */
  private async asMember<Answer>(
    address: Address,
    intent: Intent,
    run: () => Answer | Promise<Answer>,
  ): Promise<Answer | ParticipantAnswer> {
    while (!this.knownMember?.engine.isTakingPart) {
      if (intent === 'look' && !this.isBornHere) {
        const existence = await this.looking.find(address)
        if (existence !== 'exists') return existence === 'absent' ? noSuchLock : existenceUnknown
      }
      const birth = await this.lock.ready(address, intent)
      if (birth.type === 'elsewhere') return { type: 'elsewhere', configuration: birth.configuration }
      if (birth.type === 'ready') break
      if (birth.type !== 'ended') return unavailable(birth)
    }
    return await run()
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

  /** Whoever is told that the lock is deleted may use its name at once, wherever it asks. */
  private untilTold(): Promise<void> {
    return new Promise(resolve => {
      this.turns.run(() => {
        const { untold = [] } = this.member.engine.birthRecord
        if (untold.length === 0) return this.turns.afterwards(resolve)
        this.lock.onceTold(resolve)
        this.timers.set(this.runtime.now() + TELL_MS, () => this.turns.afterwards(resolve))
      })
    })
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

  /**
   * The lock follows its work. Nobody waits for an answer: if it comes to nothing, it is tried again later.
   */
  private follow(move: Move, configuration: LockConfiguration): void {
    const change = { ...move, configuration: configuration.number }
    this.turns.react(() => {
      this.conversations.begin(changeMembers(this.callContext, { change }, 'follow'), () => {})
    })
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
        calls: this.inFlight.size,
        watchers: this.watchers.size,
        sessions: this.sessions.size,
      }),
    }
  }
}

const NOBODY: Talk = { leave() {} }

type PeerRequestOf<Type extends PeerRequest['type']> = Extract<PeerRequest, { type: Type }>

const senderOf = ({ id, address }: Address) => ({ from: id, ...(address !== undefined && { address }) })

/** The user that the call brings, under the name that the protocol knows it by; `null` if it brings none. */
function userOf(call: ParticipantCall): string | null {
  if (call.type === 'acquire' || call.type === 'ticket') return call.user
  return call.type === 'transact' ? boundToConnection(call.user) : null
}

function answerToConfigure(birth: Birth): ParticipantAnswer {
  if (birth.type === 'configuration-refused') {
    return { type: 'problem', code: 'bad_request', detail: birth.detail }
  }
  if (birth.type !== 'configured') return unavailable(birth)
  const { created, configuration, born } = birth
  return done(created ? 201 : 200, {
    created,
    configuration: configuration as unknown as Json,
    born: born as unknown as Json,
  })
}

/** Nothing was begun: the lock is not there for whoever asked. */
function unavailable(birth: Birth): ParticipantAnswer {
  const detail = birth.type === 'unavailable' ? birth.detail : 'This lock is being created. Ask again.'
  return { type: 'problem', code: 'no_quorum', detail, outcome: 'not-applied', retryAfterSeconds: 1 }
}
