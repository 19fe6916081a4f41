/**
 * `session`: a hibernating WebSocket that speaks the paper's events. The socket's tag is its user, so nothing
 * need be kept in memory. When the socket closes the grant is over. While it is open, the grant's time to
 * live counts from the client's last sign of life: a client that stands still loses the lock, however long
 * its connection stays open.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { ProblemCode } from '../../../shared/api/problems.ts'
import {
  PING,
  PONG,
  parseSessionMessage,
  type SessionEvent,
  type SessionMessage,
} from '../../../shared/api/session.ts'
import type { Json } from '../../../shared/json.ts'
import type { Emitted, Refusal, UserOutput } from '../../../shared/protocols/protocol.ts'
import { outcomeBody } from '../calls/outcome.ts'
import {
  hasLeft,
  noMember,
  opIdConflict,
  type ProblemAnswer,
  refusalProblem,
  sessionOfDeleted,
  shareTaken,
  stateTooLarge,
  tooMany,
} from '../calls/refusals.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { bytesOf } from '../core/bytes.ts'
import { boundToConnection } from '../core/connections.ts'
import type { Following } from '../core/following.ts'
import type { Member } from '../core/member.ts'
import type { Owners } from '../core/owners.ts'
import { mayHaveMore, type Places } from '../core/places.ts'
import type { Storage } from '../core/storage.ts'
import type { Turns } from '../core/turns.ts'
import type { Caller } from '../observe/callers.ts'
import type { Runtime, Socket, SocketAttachment } from '../runtime.ts'
import { attachmentOf, NOTHING_KNOWN } from './attachment.ts'
import { SessionCalls, type SessionCallsHost } from './session-calls.ts'
import { Unread } from './unread.ts'

/** After this much a client is asked whether it reads. */
const PROBE_BYTES = API_LIMITS.unreadSessionsBytes / API_LIMITS.sessionsPerParticipant
const CLOSE_TRY_LATER = 1013
const ISSUING = 'An operation of this session is on its way. Wait for its outcome first.'
/** From the range that is free for applications; like the status 404. */
const CLOSE_NO_SUCH_LOCK = 4404

/** The resource of a lock of which nothing is known here: ops are what its clients say. */
const UNKNOWN = ''

export class Sessions {
  private readonly turns: Turns
  private readonly runtime: Runtime
  private readonly member: () => Member
  private readonly places: Places
  private readonly owners: Owners
  private readonly following: Following
  private readonly storage: Storage
  private readonly unread = new Unread()
  private readonly calls: SessionCalls

  constructor(
    turns: Turns,
    runtime: Runtime,
    member: () => Member,
    places: Places,
    owners: Owners,
    following: Following,
    storage: Storage,
    ask: SessionCallsHost['ask'],
  ) {
    this.owners = owners
    this.following = following
    this.storage = storage
    this.calls = new SessionCalls({ runtime, turns, ask, say: (socket, event) => this.say(socket, event) })
    this.turns = turns
    this.runtime = runtime
    this.member = member
    this.places = places
    for (const socket of runtime.sockets.all()) this.unread.set(socket.tag, attachmentOf(socket).unreadBytes)
  }

  /** At the beginning of an instance. */
  begin(): void {
    this.calls.begin()
  }

  get size(): number {
    return this.runtime.sockets.all().length
  }

  has(user: string): boolean {
    return this.runtime.sockets.withTag(user) !== undefined
  }

  /** `null`: the socket was accepted. */
  open(
    user: string,
    accept: (tag: string) => void,
    client: string | undefined,
    caller: Caller,
    mayRead: boolean,
    near?: string,
  ): ParticipantAnswer | null {
    const { sessionsPerParticipant: most } = API_LIMITS
    if (this.size >= most) return tooMany('Too many sessions of this lock are open at this participant.')
    if (client !== undefined && !mayHaveMore(this.countOf(client), this.size, most))
      return tooMany(
        'This key has its share of the sessions at this participant. Open fewer of them at once.',
      )
    const tag = boundToConnection(user)
    accept(tag)
    const socket = this.runtime.sockets.withTag(tag)
    socket?.attach({
      ...NOTHING_KNOWN,
      ...(client !== undefined && { client }),
      ...(near !== undefined && { near }),
      caller,
      mayRead,
    })
    return null
  }

  /** Who opened the session of this user. */
  callerOf(user: string): Caller | undefined {
    const socket = this.runtime.sockets.withTag(user)
    return socket === undefined ? undefined : attachmentOf(socket).caller
  }

  /** How long a user may wait, if it is a session's that said so. */
  waitMsOf(user: string): number | undefined {
    const socket = this.runtime.sockets.withTag(user)
    return socket === undefined ? undefined : attachmentOf(socket).waitMs
  }

  private countOf(client: string): number {
    // Below half of the places nobody can have more than its share: then nobody is counted.
    if (this.size * 2 < API_LIMITS.sessionsPerParticipant) return 0
    return this.runtime.sockets.all().filter(socket => attachmentOf(socket).client === client).length
  }

  /** The sessions whose clients have keys. */
  *clients(): Iterable<readonly [user: string, client: string]> {
    for (const socket of this.runtime.sockets.all()) {
      const { client } = attachmentOf(socket)
      if (client !== undefined) yield [socket.tag, client]
    }
  }

  onMessage(socket: Socket, message: string | ArrayBuffer): void {
    this.heard(socket, null)
    // For platforms that do not answer it themselves.
    if (message === PING) return this.turns.afterwards(() => socket.send(PONG))
    const { value } = this.member().engine.birth
    const parsed = parseSessionMessage(message, value?.configuration.resource ?? UNKNOWN)
    if (!parsed.ok) {
      const { code, detail, about } = parsed
      return this.say(socket, { type: 'error', code, detail, ...about })
    }
    const { message: event } = parsed
    switch (event.type) {
      case 'probe':
        return this.onProbe(socket, event.id)
      case 'try':
        return this.onTry(socket, event)
      case 'transact':
      case 'get':
        return this.calls.ask(socket, event)
      default:
        return this.onInside(socket, event)
    }
  }

  /** The client has read everything that it was sent before this probe. */
  private onProbe(socket: Socket, id: string): void {
    const { probe, unreadBytes } = attachmentOf(socket)
    if (probe === null || probe.id !== id) return
    this.note(socket, { ...attachmentOf(socket), unreadBytes: unreadBytes - probe.unreadBytes, probe: null })
  }

  private onTry(socket: Socket, message: Extract<SessionMessage, { type: 'try' }>): void {
    const member = this.member()
    const { tag: user } = socket
    // It has lost its place in the lock; or the lock was deleted, and the socket is being closed.
    if (!member.engine.isTakingPart) return this.error(socket, noMember.code, noMember.detail)
    if (member.holderNamed(user) !== undefined)
      return this.error(socket, 'conflict', 'The lock is held already.')
    if (member.isWaiting(user)) return this.error(socket, 'conflict', 'This session waits already.')
    if (!this.places.take(member.view.waiters, user, attachmentOf(socket).client))
      return this.error(socket, shareTaken.code, shareTaken.detail)
    const { waitMs, confirm, ttlMs = member.configuration.ttlMs } = message
    this.heard(socket, ttlMs)
    const { waitMs: _, ...known } = attachmentOf(socket)
    socket.attach({ ...known, ...(waitMs !== undefined && { waitMs }) })
    this.owners.note(user, message.owner)
    this.following.note(user, attachmentOf(socket).near)
    member.engine.user({
      type: 'try',
      user,
      ttlMs,
      ...(waitMs !== undefined && { waitMs }),
      ...(confirm !== undefined && { confirm }),
    })
    // Its socket may outlive this instance: then it must still be known that somebody waits there.
    this.storage.hurry()
  }

  private onInside(socket: Socket, message: Extract<SessionMessage, { type: 'issue' | 'exit' }>): void {
    const member = this.member()
    const { tag: user } = socket
    const holder = member.holderNamed(user)
    if (holder === undefined) return this.error(socket, 'conflict', `${message.type} needs crit before it.`)
    const { fence } = holder
    if (message.type === 'exit') return member.engine.user({ type: 'exit', user, fence })
    const { opId } = message
    const ops = message.ops as Json
    if (member.isTooMuch({ user, fence, opId, ops }))
      return this.error(socket, stateTooLarge.code, stateTooLarge.detail)
    member.engine.user({ type: 'issue', user, fence, opId, operation: ops })
  }

  onClose(socket: Socket): void {
    this.unread.delete(socket.tag)
    this.leave(socket.tag)
  }

  private leave(tag: string): void {
    this.calls.leave(tag)
    this.member().leave(tag)
  }

  /**
   * The time of a grant is over. If it is a session's, and its client has given a sign of life since it
   * began, the grant goes on until its time after that sign. Returns `true` if nobody else is inside.
   */
  keepAlive(): boolean {
    const { engine, view } = this.member()
    const { holders } = view
    let kept = 0
    for (const { user, fence } of holders) {
      const leftMs = this.leftMs(user)
      if (leftMs <= 0) continue
      engine.user({ type: 'keep-alive', user, fence, ttlMs: leftMs })
      kept++
    }
    return kept > 0 && kept === holders.length
  }

  /**
   * How long a session's grant still lasts; 0 if there is no session. A sign of life from a time to come is
   * from before the clock was set back: it counts as one that was given now, and only once.
   */
  private leftMs(user: string): number {
    const socket = this.runtime.sockets.withTag(user)
    if (socket === undefined) return 0
    const now = this.runtime.now()
    const { heardAt, ttlMs } = attachmentOf(socket)
    if (heardAt > now) this.heard(socket, null)
    const signs = [Math.min(heardAt, now), socket.lastPing() ?? 0].filter(sign => sign <= now)
    return Math.max(...signs) + (ttlMs ?? this.member().configuration.ttlMs) - now
  }

  /** The client has said something. `ttlMs`: the time to live that it wants from now on. */
  private heard(socket: Socket, ttlMs: number | null): void {
    const known = attachmentOf(socket)
    socket.attach({ ...known, heardAt: this.runtime.now(), ttlMs: ttlMs ?? known.ttlMs })
  }

  onStep(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      if (!('user' in event)) continue
      const socket = this.runtime.sockets.withTag(event.user)
      if (socket !== undefined) this.translate(socket, event as UserOutput)
    }
  }

  private translate(socket: Socket, event: UserOutput): void {
    switch (event.type) {
      case 'crit':
        return this.say(socket, {
          type: 'crit',
          fence: event.fence,
          epoch: event.epoch,
          ttlMs: attachmentOf(socket).ttlMs ?? this.member().configuration.ttlMs,
        })
      case 'outcome': {
        // Its socket may outlive this instance: whoever is told must not find it pending afterwards.
        this.storage.hurry()
        const { opId, sequence } = event
        const body = outcomeBody(event.result)
        if (body !== null)
          return this.say(socket, { type: 'outcome', opId, sequence, ...body } as SessionEvent)
        return this.say(socket, { type: 'error', code: 'conflict', detail: opIdConflict.detail })
      }
      case 'rem':
        return this.say(socket, { type: 'rem' })
      case 'ejected': {
        const pending = event.pending === undefined ? {} : { pending: { ...event.pending } }
        return this.say(socket, { type: 'ejected', reason: event.reason, ...pending })
      }
      case 'withdrawn':
        return this.say(socket, {
          type: 'error',
          code: 'locked',
          detail: 'The lock was not granted in time.',
        })
      case 'refused':
        return this.say(socket, {
          type: 'error',
          code: codeOf(event.refusal.code),
          detail: event.refusal.code === 'busy' ? ISSUING : refusalProblem(event.refusal).detail,
        })
    }
  }

  private error(socket: Socket, code: ProblemCode, detail: string): void {
    this.say(socket, { type: 'error', code, detail })
  }

  /**
   * Unread messages wait in memory. A session that does not read is closed, and its user leaves: one that is
   * too far behind, and the one that is furthest behind if all of them together have too much to read.
   */
  private say(socket: Socket, message: SessionEvent): void {
    const text = JSON.stringify(message)
    const known = attachmentOf(socket)
    if ((socket.bufferedBytes() ?? known.unreadBytes) > API_LIMITS.unreadSessionBytes)
      return this.close(socket)
    const unreadBytes = known.unreadBytes + bytesOf(text)
    this.note(socket, { ...known, unreadBytes })
    this.turns.afterwards(() => socket.send(text))
    if (known.probe === null && unreadBytes > PROBE_BYTES) this.probe(socket)
    if (this.unread.total > API_LIMITS.unreadSessionsBytes) this.closeFurthest()
  }

  /** The lock was deleted: whoever wants a new one opens a new session. */
  endAll(): void {
    this.closeAll(sessionOfDeleted, CLOSE_NO_SUCH_LOCK, 'The lock was deleted.')
  }

  /** This participant is no member any more: a new session is opened where the members are. */
  leaveAll(): void {
    this.closeAll(hasLeft, CLOSE_TRY_LATER, 'This participant has left the lock.')
  }

  private closeAll({ code, detail }: ProblemAnswer, closeCode: number, reason: string): void {
    for (const socket of this.runtime.sockets.all()) {
      this.unread.delete(socket.tag)
      this.calls.leave(socket.tag)
      this.turns.afterwards(() => {
        socket.send(JSON.stringify({ type: 'error', code, detail }))
        socket.close(closeCode, reason)
      })
    }
  }

  private closeFurthest(): void {
    const socket = this.runtime.sockets.withTag(this.unread.furthest()!)
    if (socket !== undefined) this.close(socket)
  }

  private close(socket: Socket): void {
    this.unread.delete(socket.tag)
    this.turns.afterwards(() => socket.close(CLOSE_TRY_LATER, 'This session does not read.'))
    this.turns.react(() => this.leave(socket.tag))
  }

  private note(socket: Socket, attachment: SocketAttachment): void {
    socket.attach(attachment)
    this.unread.set(socket.tag, attachment.unreadBytes)
  }

  private probe(socket: Socket): void {
    const known = attachmentOf(socket)
    const id = this.runtime.randomId()
    socket.attach({ ...known, probe: { id, unreadBytes: known.unreadBytes } })
    this.turns.afterwards(() => socket.send(JSON.stringify({ type: 'probe', id })))
  }
}

function codeOf(refusal: Refusal['code']): ProblemCode {
  switch (refusal) {
    case 'conflict':
    case 'busy':
    case 'other-members':
    case 'not-reached':
    case 'no-such-members':
      return 'conflict'
    case 'too-large':
      return 'too_large'
    case 'too-many-waiters':
      return 'too_many'
    case 'grant-over':
      return 'ejected'
    case 'not-supported':
      return 'not_supported'
    case 'ended':
      return 'no_such_lock'
    case 'not-a-member':
    case 'elsewhere':
    case 'not-waiting':
      return 'no_quorum'
  }
}
