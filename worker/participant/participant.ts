/**
 * One participant of one lock, wherever it runs (runtime.ts). These are its entries; each is a turn
 * (core/turns.ts), or waits for the lock to be born and then is one. What it is asked is in calls.ts and
 * peers/requests.ts; what it is made of is put together in parts.ts.
 *
 *   core/      the engine around the protocol, storage, timers, turns
 *   lock/      which lock this is, what it is made of, how it is born
 *   peers/     what participants say to each other
 *   calls/     what the router asks, a file for each kind of call
 *   streams/   sessions and watchers
 *   observe/   what is counted, measured and logged; nothing depends on it
 */
import type { Json } from '../../shared/json.ts'
import { SHARING_PROTOCOLS } from '../../shared/protocols/all.ts'
import { done } from './calls/context.ts'
import { type Call as MemberCall, tooManyCalls } from './calls/in-flight.ts'
import {
  cannotShare,
  deletedUnheard,
  existenceUnknown,
  hasLeft,
  noSuchLock,
  type ProblemAnswer,
  tooMany,
} from './calls/refusals.ts'
import type { ParticipantAnswer, ParticipantCall } from './calls.ts'
import type { Storage } from './core/storage.ts'
import type { Intent } from './lock/intent.ts'
import type { Address, Birth } from './lock/lock.ts'
import type { Caller } from './observe/callers.ts'
import { type Deployment, Parts } from './parts.ts'
import type { PeerAnswer, PeerRequest } from './peers/requests.ts'
import type { Runtime, Sink, Socket } from './runtime.ts'
import { sightingHere } from './streams/holder-knowledge.ts'

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

/** How long a call to delete the lock waits for the participants that are there to hear of it. */
const TELL_MS = 1_000

export class Participant {
  private readonly parts: Parts

  constructor(runtime: Runtime, storage: Storage, deployment: Deployment) {
    this.parts = new Parts(runtime, storage, deployment)
  }

  async call(
    address: Address,
    call: ParticipantCall,
    signal: AbortSignal | null,
    caller: Caller = {},
  ): Promise<ParticipantAnswer> {
    if (call.type === 'locks') throw new Error('a participant of a lock is no index')
    if (call.type === 'configure')
      return answerToConfigure(await this.parts.lock.configure(address, call.configuration))
    const taken = this.parts.reception.take(call, caller)
    if (taken === null) return tooManyCalls(call)
    try {
      const defaults = this.parts.deployment.defaults(address)
      const isInVain = isShared(call) && !SHARING_PROTOCOLS.includes(defaults.protocol)
      const answered = await this.asMember(
        address,
        TRYING.has(call.type) && !isInVain ? 'try' : 'look',
        () =>
          this.parts.isRemoved && !OF_THE_PAST.has(call.type)
            ? this.parts.elsewhere
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
    const given = await this.parts.reception.ask(call, signal, caller)
    if (given === hasLeft) return this.parts.elsewhere
    return call.type === 'delete' && given.type === 'done' ? this.onceTold(given) : given
  }

  /**
   * An `acquire` that is on its way may still give birth to the lock: one that was withdrawn before it came
   * must not be let in. So that is noted, lock or no lock.
   */
  private async answerOfNoLock(address: Address, call: ParticipantCall): Promise<ParticipantAnswer> {
    if (call.type === 'delete' && this.hasEnded(call.generation)) return this.onceTold(done(204, null))
    const generation = this.parts.knownMember?.engine.birth.generation ?? 1
    const absent = generation === 1 ? noSuchLock : { ...noSuchLock, more: { generation } }
    if (call.type !== 'withdraw' || call.ofTicket) return absent
    this.parts.turns.run(() => {
      this.parts.lock.meet(address)
      this.parts.withdrawals.note(call.user)
    })
    return call.ofWaiter ? done(200, {}) : absent
  }

  private hasEnded(generation: number | null): boolean {
    const present = this.parts.knownMember?.engine.birth.generation ?? 1
    return generation !== null && present > generation
  }

  async peer(address: Address, request: PeerRequest): Promise<PeerAnswer> {
    if (request.type === 'who') return this.parts.turns.run(() => this.sayWho(request))
    if (request.type === 'holder-news')
      return this.parts.turns.run(() => ({ type: 'heard', isWatched: this.hearOfHolder(request) }))
    if (request.type === 'look') return { type: 'sight', sight: await this.parts.looking.own(address) }
    if (!this.parts.lock.isKnown) this.parts.turns.run(() => this.parts.lock.meet(address))
    switch (request.type) {
      case 'messages':
        if (request.address !== undefined) this.parts.whereabouts.note(request.from, request.address)
        return {
          type: 'messages',
          messages: this.parts.exchange.receive(request.from, request.messages, request.address),
        }
      case 'finish':
        this.parts.turns.run(() => this.parts.member.engine.finish(request.incarnation, request.generation))
        return { type: 'taken' }
      default:
        throw new Error('a participant of a lock is no ledger')
    }
  }

  private sayWho({ fence, watch }: PeerRequestOf<'who'>): PeerAnswer {
    const { knownMember: member, owners } = this.parts
    if (member === null) return { type: 'holder', holder: null }
    const sighting = sightingHere(member, owners)
    const { holder } = sighting
    if (watch === undefined) return { type: 'holder', holder: holder?.fence === fence ? holder : null }
    if (watch.generation !== member.engine.birth.generation) return { type: 'holder', holder: null }
    if (watch.address !== undefined) this.parts.whereabouts.note(watch.from, watch.address)
    this.parts.watchLeases.take(watch.from, sighting)
    return { type: 'holder', ...sighting, owner: member.view.owner }
  }

  private hearOfHolder({ holder, over, generation }: PeerRequestOf<'holder-news'>): boolean {
    return this.parts.knownMember !== null && this.parts.holderNews.hear({ holder, over }, generation)
  }

  /** `null`: the sink gets the events. */
  watch(address: Address, since: number | null, sink: Sink): Promise<ParticipantAnswer | null> {
    return this.asMember(address, 'look', () =>
      this.parts.isRemoved
        ? this.parts.elsewhere
        : this.parts.turns.run(() => this.parts.watchers.open(since, sink)),
    )
  }

  /** The watcher has gone. */
  unwatch(sink: Sink): void {
    this.parts.watchers.close(sink)
  }

  /** The watcher has read everything that it was given. */
  drained(sink: Sink): void {
    if (this.parts.watchers.drained(sink)) this.parts.turns.attempt(() => this.parts.watchers.serve())
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
      this.parts.isRemoved
        ? this.parts.elsewhere
        : this.parts.turns.run(() => this.parts.sessions.open(user, accept, client, caller, mayRead, near)),
    )
  }

  socketMessage(socket: Socket, message: string | ArrayBuffer): void {
    this.parts.turns.run(() => this.parts.sessions.onMessage(socket, message))
  }

  socketClose(socket: Socket): void {
    this.parts.turns.run(() => this.parts.sessions.onClose(socket))
  }

  alarm(): void {
    this.parts.turns.run(() => this.parts.timers.onAlarm())
  }

  /** Only the participants of a lock answer what it is asked, once it is born. */
  private async asMember<Answer>(
    address: Address,
    intent: Intent,
    run: () => Answer | Promise<Answer>,
  ): Promise<Answer | ParticipantAnswer> {
    while (!this.parts.knownMember?.engine.isTakingPart) {
      if (intent === 'look' && !this.parts.isBornHere) {
        const existence = await this.parts.looking.find(address)
        if (existence !== 'exists') return existence === 'absent' ? noSuchLock : existenceUnknown
      }
      const birth = await this.parts.lock.ready(address, intent)
      if (birth.type === 'elsewhere') return { type: 'elsewhere', configuration: birth.configuration }
      // It may have ended in the very turn in which it was ready.
      if (birth.type === 'ready' && intent === 'try' && this.parts.member.engine.core !== null) break
      if (birth.type !== 'ready' && birth.type !== 'ended') return unavailable(birth)
    }
    return await run()
  }

  /** Nobody is told that the lock is deleted before that is known to enough of the others to last. */
  private async onceTold(deleted: ParticipantAnswer): Promise<ParticipantAnswer> {
    await this.untilTold()
    const { mustHear = 0 } = this.parts.member.engine.birthRecord
    return mustHear === 0 ? deleted : deletedUnheard
  }

  /** Whoever is told that the lock is deleted may use its name at once, wherever it asks. */
  private untilTold(): Promise<void> {
    return new Promise(resolve => {
      this.parts.turns.run(() => {
        const { untold = [] } = this.parts.member.engine.birthRecord
        if (untold.length === 0) return this.parts.turns.afterwards(resolve)
        this.parts.lock.onceTold(resolve)
        this.parts.timers.set(this.parts.runtime.now() + TELL_MS, () => {
          this.parts.lock.waitNoLonger(resolve)
          this.parts.turns.afterwards(resolve)
        })
      })
    })
  }
}

type PeerRequestOf<Type extends PeerRequest['type']> = Extract<PeerRequest, { type: Type }>

function answerToConfigure(birth: Birth): ParticipantAnswer {
  if (birth.type === 'configuration-refused') {
    const { why, detail } = birth
    return why === 'too-many' ? tooMany(detail) : { type: 'problem', code: 'bad_request', detail }
  }
  // What was proposed may be chosen later.
  if (birth.type !== 'configured') return { ...unavailable(birth), outcome: 'unknown' }
  const { created, configuration, born } = birth
  return done(created ? 201 : 200, {
    created,
    configuration: configuration as unknown as Json,
    born: born as unknown as Json,
  })
}

/** Nothing was begun: the lock is not there for whoever asked. */
function unavailable(birth: Birth): ProblemAnswer {
  const detail = birth.type === 'unavailable' ? birth.detail : 'This lock is being created. Ask again.'
  return { type: 'problem', code: 'no_quorum', detail, outcome: 'not-applied', retryAfterSeconds: 1 }
}
