/**
 * `session`: a hibernating WebSocket that speaks the paper's events. The socket's tag is its user, so nothing need be kept
 * in memory: while the socket is open its grant is kept alive, and when it closes the grant is over.
 */

import { API_LIMITS } from '../../shared/api/limits.ts'
import type { ProblemCode } from '../../shared/api/problems.ts'
import { parseSessionMessage } from '../../shared/api/session.ts'
import type { Json } from '../../shared/json.ts'
import type { Emitted, Refusal, UserOutput } from '../../shared/protocols/protocol.ts'
import type { ParticipantAnswer } from './calls.ts'
import { boundToConnection } from './connections.ts'
import { outcomeBody } from './outcome.ts'
import type { BatonParticipant } from './participant.ts'
import { opIdConflict, stateTooLarge, tooMany } from './refusals.ts'

export class Sessions {
  private readonly participant: BatonParticipant
  private readonly ctx: DurableObjectState

  constructor(participant: BatonParticipant, ctx: DurableObjectState) {
    this.participant = participant
    this.ctx = ctx
  }

  get size(): number {
    return this.ctx.getWebSockets().length
  }

  open(user: string): Response | ParticipantAnswer {
    if (this.size >= API_LIMITS.sessionsPerParticipant) {
      return tooMany('Too many sessions of this lock are open at this participant.')
    }
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server, [boundToConnection(user)])
    return new Response(null, { status: 101, webSocket: client })
  }

  onMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    const { running, configuration } = this.participant
    const parsed = parseSessionMessage(message, configuration!.resource)
    if (!parsed.ok) return this.say(socket, { type: 'error', code: parsed.code, detail: parsed.detail })
    const user = this.userOf(socket)
    const { holders, waiters } = running.view
    const held = holders.find(holder => holder.user === user) ?? null
    const event = parsed.message
    if (event.type === 'try') {
      if (held !== null)
        return this.say(socket, { type: 'error', code: 'conflict', detail: 'The lock is held already.' })
      if (waiters.some(waiter => waiter.user === user))
        return this.say(socket, { type: 'error', code: 'conflict', detail: 'This session waits already.' })
      const { waitMs, confirm } = event
      const ttlMs = event.ttlMs ?? configuration!.ttlMs
      const options = {
        ...(waitMs === undefined ? {} : { waitMs }),
        ...(confirm === undefined ? {} : { confirm }),
      }
      return running.user({ type: 'try', user, ttlMs, ...options })
    }
    if (held === null) {
      return this.say(socket, {
        type: 'error',
        code: 'conflict',
        detail: `${event.type} needs crit before it.`,
      })
    }
    if (event.type === 'exit') return running.user({ type: 'exit', user, fence: held.fence })
    const { opId, ops } = event as { readonly opId: string; readonly ops: Json }
    if (this.participant.isTooMuch(user, held.fence, opId, ops)) {
      const { code, detail } = stateTooLarge
      return this.say(socket, { type: 'error', code, detail })
    }
    running.user({ type: 'issue', user, fence: held.fence, opId, operation: ops })
  }

  onClose(socket: WebSocket): void {
    this.participant.leave(this.userOf(socket))
  }

  /** The time of a grant whose socket is open does not run out: it begins again. */
  keepsAlive(deadline: string): boolean {
    if (deadline !== 'timer/ttl') return false
    const { running } = this.participant
    const { holders } = running.view
    const open = holders.filter(({ user }) => this.has(user))
    for (const { user, fence, ttlMs } of open) running.user({ type: 'keep-alive', user, fence, ttlMs })
    return open.length > 0 && open.length === holders.length
  }

  has(user: string): boolean {
    return this.socketOf(user) !== undefined
  }

  tell(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      if (!('user' in event)) continue
      const socket = this.socketOf(event.user)
      if (socket !== undefined) this.translate(socket, event as UserOutput)
    }
  }

  private translate(socket: WebSocket, event: UserOutput): void {
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

  private say(socket: WebSocket, message: Json): void {
    try {
      socket.send(JSON.stringify(message))
    } catch {
      // The socket is closing: its close event ends the grant.
    }
  }

  private userOf = (socket: WebSocket): string => this.ctx.getTags(socket)[0]!

  private socketOf = (user: string): WebSocket | undefined => this.ctx.getWebSockets(user)[0]
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
