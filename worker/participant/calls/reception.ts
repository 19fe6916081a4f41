/**
 * Where calls come in, from the router or with a session's message: each is taken if there is room for it,
 * and answered by a conversation.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import type { Move } from '../../../shared/api/following.ts'
import type { ParticipantAnswer, ParticipantCall } from '../calls.ts'
import { boundToConnection } from '../core/connections.ts'
import type { Member } from '../core/member.ts'
import type { Turns } from '../core/turns.ts'
import type { Caller, Callers } from '../observe/callers.ts'
import type { LogLines } from '../observe/log-lines.ts'
import type { SessionCall } from '../streams/session-calls.ts'
import { answer } from './answer.ts'
import type { CallContext } from './context.ts'
import type { Conversations, Talk } from './conversations.ts'
import { type Call, CallsInFlight, type Taken, tooManyCalls } from './in-flight.ts'
import { changeMembers } from './members.ts'
import { noMember } from './refusals.ts'

export interface ReceptionHost {
  readonly turns: Turns
  readonly conversations: Conversations
  readonly callers: Callers
  readonly logLines: LogLines
  readonly member: Member
  readonly context: CallContext
}

export class Reception {
  private readonly host: ReceptionHost
  private readonly inFlight = new CallsInFlight()

  constructor(host: ReceptionHost) {
    this.host = host
  }

  /** How many calls are under way. */
  get size(): number {
    return this.inFlight.size
  }

  /** `null`: there is no room for it. */
  take(call: Call, caller: Caller): Taken | null {
    return this.inFlight.take(call, caller.key)
  }

  /** A turn of its own, for a call that was taken. */
  async ask(call: Call, signal: AbortSignal | null, caller: Caller): Promise<ParticipantAnswer> {
    const { callers, conversations } = this.host
    const user = userOf(call)
    if (user !== null) callers.note(user, caller)
    const given = await conversations.hold(() => answer(this.host.context, call), signal)
    this.onAnswered(call, given, caller)
    return given
  }

  /** A call that comes with a session's message, in the turn of that message. */
  begin(call: SessionCall, caller: Caller, onEnd: (answer: ParticipantAnswer) => void): Talk {
    const { callers, conversations, member } = this.host
    const taken = member.engine.isTakingPart ? this.take(call, caller) : null
    if (taken === null) {
      onEnd(member.engine.isTakingPart ? tooManyCalls(call) : noMember)
      return NOBODY
    }
    const user = userOf(call)
    if (user !== null) callers.note(user, caller)
    return conversations.begin(answer(this.host.context, taken.call), given => {
      taken.end()
      this.onAnswered(call, given, caller)
      onEnd(given)
    })
  }

  /**
   * The lock follows its work. Nobody waits for an answer: if it comes to nothing, it is tried again later.
   */
  follow(move: Move, configuration: LockConfiguration): void {
    const { turns, conversations, context } = this.host
    const change = { ...move, configuration: configuration.number }
    // A later step of this turn may end the lock: then there is no context any more.
    turns.react(() => {
      conversations.begin(changeMembers(context, { change }, 'follow'), () => {})
    })
  }

  /** What is left to do when a call was answered. */
  private onAnswered(call: ParticipantCall, given: ParticipantAnswer, caller: Caller): void {
    const { callers, logLines, member } = this.host
    if (call.type === 'eject' && given.type === 'done')
      logLines.eject(caller, call.fence ?? null, (given.body as { readonly epoch: number }).epoch)
    // Whoever was not even let into the queue has left no other trace.
    const user = userOf(call)
    if (user === null || given.type !== 'problem' || given.code !== 'too_many') return
    if (!member.isWaiting(user) && member.holderNamed(user) === undefined) callers.forget(user)
  }
}

const NOBODY: Talk = { leave() {} }

/** The user that the call brings, under the name that the protocol knows it by; `null` if it brings none. */
function userOf(call: ParticipantCall): string | null {
  if (call.type === 'acquire' || call.type === 'ticket') return call.user
  return call.type === 'transact' ? boundToConnection(call.user) : null
}
