/**
 * Baton's own Worker, with all that it checks and writes, and behind it the plain object instead of a
 * participant. What Baton takes beyond this is the participant and the protocol.
 */
import { formatGrantId } from '../../shared/api/ids.ts'
import { answerResponse } from '../../worker/answer-response.ts'
import { defineBaton } from '../../worker/library.ts'
import type {
  ParticipantAnswer,
  ParticipantCall,
  ParticipantRequest,
} from '../../worker/participant/calls.ts'
import { PlainLock, TTL_MS } from './plain-lock.ts'
import { Replica, type ReplicaEnvironment } from './replicated-write.ts'

export { Replica }

/** The locks whose operations one peer has written too before they are answered. */
const REPLICATED = 'replicated'

interface Put {
  readonly put: string
  readonly value: string
}

export class PlainParticipant extends PlainLock {
  private fence = 0

  override async fetch(request: Request): Promise<Response> {
    const { call, asItIs } = (await request.json()) as ParticipantRequest
    const isReplicated = request.headers.get('x-baton-lock')!.startsWith(REPLICATED)
    return answerResponse(await this.answerCall(call, isReplicated), asItIs === true)
  }

  private async answerCall(call: ParticipantCall, isReplicated: boolean): Promise<ParticipantAnswer> {
    switch (call.type) {
      case 'acquire': {
        await this.answer({ type: 'acquire', token: call.user })
        const fence = ++this.fence
        const id = formatGrantId(1, fence, call.user)
        const expiresAt = new Date(Date.now() + TTL_MS).toISOString()
        const grant = { id, fence, participant: 1, epoch: 0, expiresAt, ttlMs: TTL_MS }
        return { type: 'done', status: 200, body: { grant } }
      }
      case 'release':
        await this.answer({ type: 'release', token: call.user })
        return { type: 'done', status: 204, body: null }
      case 'ops': {
        const [{ put: key, value }] = call.ops as unknown as [Put]
        await this.answer({ type: 'write', token: call.user, key, value })
        if (isReplicated) await this.replicate({ key, value })
        return { type: 'done', status: 200, body: { sequence: call.fence, results: [] } }
      }
      default:
        throw new Error(`the plain object has no ${call.type}`)
    }
  }

  private async replicate(write: { readonly key: string; readonly value: string }): Promise<void> {
    const { REPLICA } = this.env as ReplicaEnvironment
    const init = { method: 'POST', body: JSON.stringify(write) }
    await REPLICA.get(REPLICA.idFromName('peer')).fetch('http://replica/floor?peers=0', init)
  }
}

const baton = defineBaton()

export default { fetch: baton.fetch }
