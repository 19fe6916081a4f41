/**
 * Section 6.2: what a run would cost on a medium with broadcast. There is none between objects, so the run is
 * one without broadcast, and its messages are counted as that medium would carry them: the REQUESTs of one
 * request are one message, and so (6.2.2) are the REPLYs that a node sends in one step to all nodes that it
 * had deferred, with a list of their recipients. A medium that orders the requests itself (6.2.1) needs no
 * sequence numbers: that is another algorithm, and is not counted.
 */
import type { Envelope } from '../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../shared/protocols/ricart-agrawala/messages.ts'

interface Sent {
  readonly from: number
  readonly message: Envelope<RicartAgrawalaMessage>
}

export interface BroadcastCounts {
  readonly requests: number
  readonly replies: number
  /** With broadcast REQUESTs. */
  readonly total: number
  /** With broadcast REPLYs, too (6.2.2). */
  readonly totalWithBroadcastReplies: number
}

export function broadcastCounts(sent: readonly Sent[]): BroadcastCounts {
  const requests = new Set<string>()
  let replies = 0
  let replyBroadcasts = 0
  let deferrals = 0
  sent.forEach(({ from, message: { body } }, place) => {
    if (body.type === 'request') requests.add(`${from}/${body.request}`)
    if (body.type === 'deferred') deferrals++
    if (body.type !== 'reply') return
    replies++
    const before = sent[place - 1]
    if (before?.from !== from || before.message.body.type !== 'reply') replyBroadcasts++
  })
  const rest = requests.size + deferrals
  return {
    requests: requests.size,
    replies,
    total: rest + replies,
    totalWithBroadcastReplies: rest + replyBroadcasts,
  }
}
