/**
 * What a session asks besides the paper's events: `transact` and `get`. They are the calls of the same names,
 * with the same limits and answers; the answer comes as an event. A `transact` is a user of its own, which
 * leaves with the socket.
 *
 * What is under way is in memory alone. An instance that ends with sockets open leaves it unanswered, so each
 * socket carries the number of its calls: the next instance tells such a session that they are lost.
 */
import { PROBLEMS } from '../../../shared/api/problems.ts'
import type {
  SessionError,
  SessionEvent,
  SessionMessage,
  SessionQuestion,
} from '../../../shared/api/session.ts'
import type { Json } from '../../../shared/json.ts'
import type { Talk } from '../calls/conversations.ts'
import type { ParticipantAnswer, ParticipantCall } from '../calls.ts'
import type { Turns } from '../core/turns.ts'
import type { Caller } from '../observe/callers.ts'
import type { Runtime, Socket, SocketAttachment } from '../runtime.ts'
import { attachmentOf } from './attachment.ts'

export type Asking = Extract<SessionMessage, { type: 'transact' | 'get' }>
export type SessionCall = Extract<ParticipantCall, { type: 'transact' | 'get' }>

export interface SessionCallsHost {
  readonly runtime: Runtime
  readonly turns: Turns
  /** In the turn that runs. `onEnd` is called in the turn that brings the answer, which may be this one. */
  ask(call: SessionCall, caller: Caller, onEnd: (answer: ParticipantAnswer) => void): Talk
  say(socket: Socket, event: SessionEvent): void
}

const LOST: SessionError = {
  type: 'error',
  code: 'no_quorum',
  detail:
    'The participant began anew before it answered everything that this session has asked. Ask again, and ' +
    'transact with the same opId.',
  outcome: 'unknown',
  retryable: true,
  lost: true,
}

const FORBIDDEN = 'The key of this session does not allow read on this lock.'

export class SessionCalls {
  private readonly host: SessionCallsHost
  /** By the tag of the socket. */
  private readonly talks = new Map<string, Set<Talk>>()

  constructor(host: SessionCallsHost) {
    this.host = host
  }

  /** At the beginning of an instance: nobody answers any more what the one before was asked. */
  begin(): void {
    for (const socket of this.host.runtime.sockets.all()) {
      if (!attachmentOf(socket).calls) continue
      this.host.say(socket, LOST)
      this.countWhenTold(socket.tag)
    }
  }

  ask(socket: Socket, message: Asking): void {
    const { runtime } = this.host
    const attachment = attachmentOf(socket)
    const { caller = {}, mayRead } = attachment
    if (message.type === 'get' && mayRead !== true)
      return this.host.say(socket, {
        type: 'error',
        code: 'forbidden',
        detail: FORBIDDEN,
        ...questionOf(message),
      })
    const { tag } = socket
    let isOver = false
    let finish = () => {}
    const talk = this.host.ask(callOf(message, runtime, attachment), caller, answer => {
      isOver = true
      const present = runtime.sockets.withTag(tag)
      if (present !== undefined) this.host.say(present, eventOf(message, answer))
      finish()
    })
    if (isOver) return
    this.add(socket, talk)
    // An instance with a call under way must not be evicted, whoever else is there.
    runtime.background(
      new Promise<void>(resolve => {
        finish = () => {
          this.remove(tag, talk)
          resolve()
        }
      }),
    )
  }

  /** The socket is closed, or about to be. */
  leave(tag: string): void {
    for (const talk of this.talks.get(tag) ?? []) talk.leave()
  }

  private add(socket: Socket, talk: Talk): void {
    const talks = this.talks.get(socket.tag) ?? new Set()
    this.talks.set(socket.tag, talks.add(talk))
    this.count(socket, talks.size)
  }

  private remove(tag: string, talk: Talk): void {
    const talks = this.talks.get(tag)
    talks?.delete(talk)
    if (talks?.size === 0) this.talks.delete(tag)
    this.countWhenTold(tag)
  }

  /**
   * Only what was told is no longer under way: the socket is told before it counts less. An instance that
   * ends before it has told anything leaves the count to the next one.
   */
  private countWhenTold(tag: string): void {
    this.host.turns.afterwards(() => {
      const socket = this.host.runtime.sockets.withTag(tag)
      if (socket !== undefined) this.count(socket, this.talks.get(tag)?.size ?? 0)
    })
  }

  private count(socket: Socket, calls: number): void {
    socket.attach({ ...attachmentOf(socket), calls })
  }
}

function callOf(
  message: Asking,
  runtime: Runtime,
  { client, near }: Pick<SocketAttachment, 'client' | 'near'>,
): SessionCall {
  if (message.type === 'get') return { type: 'get', key: message.key, consistency: message.consistency }
  const { opId, waitMs, owner } = message
  const ops = message.ops as Json
  const who = {
    ...(client !== undefined && { client }),
    ...(near !== undefined && { near }),
    ...(owner !== undefined && { owner }),
  }
  return { type: 'transact', user: runtime.randomId(), opId, ops, waitMs, ...who }
}

function questionOf(message: Asking): Partial<SessionQuestion> {
  if (message.type === 'transact') return { opId: message.opId }
  const { key, consistency, id } = message
  return { key, consistency, ...(id !== undefined && { id }) }
}

function eventOf(message: Asking, answer: ParticipantAnswer): SessionEvent {
  const question = questionOf(message)
  if (answer.type === 'done') {
    const type = message.type === 'get' ? 'value' : 'outcome'
    return { type, ...question, ...(answer.body as object) } as SessionEvent
  }
  // Whoever is no participant any more says so when it is asked for the session itself.
  if (answer.type === 'elsewhere') return { ...LOST, ...question }
  const { code, detail, outcome, retryAfterSeconds, more } = answer
  return {
    ...more,
    type: 'error',
    code,
    detail,
    retryable: PROBLEMS[code].retryable,
    ...question,
    ...(outcome !== undefined && message.type === 'transact' && { outcome }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}
