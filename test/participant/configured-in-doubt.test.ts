/** Whoever configures a lock may not learn whether it was made like that. */
import { expect, it } from 'vitest'
import { MemoryPlatform } from './memory-platform.ts'

it('regression: what others have accepted may be chosen later, so the outcome is unknown', async () => {
  const platform = new MemoryPlatform(3)
  const [one, two, three] = platform.nodes
  // They accept what the first one proposes, and their words get lost.
  let isLost = false
  for (const node of [two!, three!]) {
    const receive = node.peer.bind(node)
    node.peer = async request => {
      const answer = await receive(request)
      isLost ||= request.type === 'messages' && request.messages.some(({ body }) => body.type === 'accept')
      if (isLost) throw new Error('unreachable')
      return answer
    }
  }
  const hear = one!.peer.bind(one)
  one!.peer = async request => {
    if (isLost) throw new Error('unreachable')
    return hear(request)
  }
  const configuration = { ...platform.defaults(1), ttlMs: 5_000 }
  const answer = await platform.during(one!.call({ type: 'configure', configuration }))
  expect(answer).toMatchObject({ type: 'problem', code: 'no_quorum', outcome: 'unknown' })
  isLost = false
  const later = await platform.during(two!.call({ type: 'configure', configuration: platform.defaults(2) }))
  expect(later).toMatchObject({ status: 200, body: { created: false, configuration: { ttlMs: 5_000 } } })
})
