/**
 * `session`: a hibernating WebSocket that speaks the paper's events. The socket's tag is its user, so nothing need be kept
 * in memory: while the socket is open its grant is kept alive, and when it closes the grant is over.
 */
import { API_LIMITS } from '../../../shared/api/limits.ts'
import type { ProblemCode } from '../../../shared/api/problems.ts'
import { parseSessionMessage, type SessionMessage } from '../../../shared/api/session.ts'
import type { Json } from '../../../shared/json.ts'
import type { Emitted, Refusal, UserOutput } from '../../../shared/protocols/protocol.ts'
import { outcomeBody } from '../calls/outcome.ts'
import { opIdConflict, stateTooLarge, tooMany } from '../calls/refusals.ts'
import type { ParticipantAnswer } from '../calls.ts'
import { boundToConnection } from '../core/connections.ts'
import type { Member } from '../core/member.ts'
import type { Turns } from '../core/turns.ts'
import type { Socket, Sockets } from '../runtime.ts'

export class Sessions {
  private readonly turns: Turns
  private readonly sockets: Sockets
  private readonly member: () => Member

  constructor(turns: Turns, sockets: Sockets, member: () => Member) {
    this.turns = turns
    this.sockets = sockets
    this.member = member
  }

  get size(): number {
    return this.sockets.all().length
  }

  has(user: string): boolean {
    return this.sockets.withTag(user) !== undefined
  }

  /** `null`: the socket was accepted. */
  open(user: string, accept: (tag: string) => void): ParticipantAnswer | null {
    if (this.size >= API_LIMITS.sessionsPerParticipant) {
      return tooMany('Too many sessions of this lock are open at this participant.')
    }
    accept(boundToConnection(user))
    return null
  }

  onMessage(socket: Socket, message: string | ArrayBuffer): void {
    const { configuration } = this.member()
    const parsed = parseSessionMessage(message, configuration.resource)
    if (!parsed.ok) return this.error(socket, parsed.code, parsed.detail)
    if (parsed.message.type === 'try') this.onTry(socket, parsed.message)
    else this.onInside(socket, parsed.message)
  }

  private onTry(socket: Socket, message: Extract<SessionMessage, { type: 'try' }>): void {
    const member = this.member()
    const { tag: user } = socket
    if (member.holderNamed(user) !== undefined)
      return this.error(socket, 'conflict', 'The lock is held already.')
    if (member.isWaiting(user)) return this.error(socket, 'conflict', 'This session waits already.')
    const { waitMs, confirm, ttlMs = member.configuration.ttlMs } = message
    member.engine.user({
      type: 'try',
      user,
      ttlMs,
      ...(waitMs !== undefined && { waitMs }),
      ...(confirm !== undefined && { confirm }),
    })
  }

  private onInside(socket: Socket, message: Exclude<SessionMessage, { type: 'try' }>): void {
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
    this.member().leave(socket.tag)
  }

  /** The time of a grant whose socket is open does not run out: it begins again. `true` if nobody else is inside. */
  keepAlive(): boolean {
    const { engine, view } = this.member()
    const { holders } = view
    const open = holders.filter(({ user }) => this.has(user))
    for (const { user, fence, ttlMs } of open) engine.user({ type: 'keep-alive', user, fence, ttlMs })
    return open.length > 0 && open.length === holders.length
  }

  onStep(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      if (!('user' in event)) continue
      const socket = this.sockets.withTag(event.user)
      if (socket !== undefined) this.translate(socket, event as UserOutput)
    }
  }

  private translate(socket: Socket, event: UserOutput): void {
    switch (event.type) {
      case 'crit':
        return this.say(socket, { type: 'crit', fence: event.fence, epoch: event.epoch })
      case 'outcome': {
        const { opId, sequence } = event
        const body = outcomeBody(event.result)
        if (body !== null) return this.say(socket, { type: 'outcome', opId, sequence, ...body })
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
          detail: 'The lock was not granted in the time to wait.',
        })
      case 'refused':
        return this.say(socket, {
          type: 'error',
          code: codeOf(event.refusal.code),
          detail: `${event.event}: ${event.refusal.code}`,
        })
    }
  }

  private error(socket: Socket, code: ProblemCode, detail: string): void {
    this.say(socket, { type: 'error', code, detail })
  }

  private say(socket: Socket, message: Json): void {
    this.turns.afterwards(() => socket.send(JSON.stringify(message)))
  }
}

function codeOf(refusal: Refusal['code']): ProblemCode {
  switch (refusal) {
    case 'conflict':
    case 'busy':
      return 'conflict'
    case 'too-large':
      return 'too_large'
    case 'too-many-waiters':
      return 'too_many'
    case 'grant-over':
      return 'ejected'
    case 'not-supported':
      return 'not_supported'
    case 'not-a-member':
    case 'not-waiting':
      return 'no_quorum'
  }
}
