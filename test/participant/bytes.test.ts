/** What sessions, calls and peers may hold in memory together. */
import { beforeEach, describe, expect, it } from 'vitest'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { weight } from '../../shared/resource/canonical.ts'
import {
  Exchange,
  type ExchangeHost,
  inRequests,
  PEER_MESSAGES_WEIGHT,
  PEER_UNANSWERED_WEIGHT,
} from '../../worker/participant/peers/exchange.ts'
import type { Message } from '../../worker/participant/peers/requests.ts'
import { PEER_REQUEST_BYTES } from '../../worker/signature.ts'
import { type MemoryNode, MemoryPlatform, type MemorySocket } from './memory-platform.ts'

let platform: MemoryPlatform
let node: MemoryNode

beforeEach(() => {
  platform = new MemoryPlatform(1)
  node = platform.node(1)
})

describe('sessions that do not read', () => {
  const big = 'x'.repeat(100_000)
  const unread = (sockets: readonly MemorySocket[]) =>
    sockets
      .filter(({ closedWith }) => closedWith === null)
      .reduce((sum, socket) => sum + (socket.attachment()?.unreadBytes ?? 0), 0)

  it('have no more unread together than they may: the one furthest behind is closed', async () => {
    const sockets: MemorySocket[] = []
    for (let index = 0; index < 30; index++) sockets.push(await node.session(`session-${index}`))
    const [furthest] = sockets
    for (const [index, socket] of sockets.entries()) {
      node.say(socket, { type: 'try' })
      const rounds = socket === furthest ? 15 : 8
      // Said again, it is answered again.
      const issue = { type: 'issue', opId: `${index}`, ops: [{ put: 'big', value: big }, { get: 'big' }] }
      for (let round = 0; round < rounds; round++) node.say(socket, issue)
      node.say(socket, { type: 'exit' })
      expect(unread(sockets)).toBeLessThanOrEqual(API_LIMITS.unreadSessionsBytes)
    }
    expect(furthest!.closedWith).toBe(1013)
    expect(sockets.filter(({ closedWith }) => closedWith === null).length).toBeGreaterThan(5)
  })
})

describe('calls under way', () => {
  it('hold no more of their operations than they may, and say that nothing was begun', async () => {
    const acquire = { user: 'a', waitMs: 0, ttlMs: 600_000, ticket: true, confirm: false } as const
    await node.call({ type: 'acquire', ...acquire })
    const ops = [{ put: 'k', value: 'x'.repeat(200_000) }]
    const transact = (index: number) =>
      node.call({ type: 'transact', user: `t${index}`, opId: `t${index}`, ops, waitMs: 25_000 })
    const fitting = Math.floor(API_LIMITS.callsWeight / weight(ops, Number.POSITIVE_INFINITY))
    const waiting = Array.from({ length: fitting }, (_, index) => transact(index))
    expect(await transact(-1)).toMatchObject({ code: 'too_many', outcome: 'not-applied' })
    expect(await node.call({ type: 'get', key: 'k', consistency: 'local' })).toMatchObject({
      code: 'no_such_key',
    })
    await node.call({ type: 'withdraw', user: 'a' })
    await platform.during(Promise.all(waiting))
    expect(await transact(-1)).toMatchObject({ type: 'done' })
  })

  it('are counted, too, while their participant finds out whether there is such a lock', async () => {
    platform = new MemoryPlatform(3)
    for (const id of [2, 3]) platform.node(id).isAway = true
    const ops = [{ put: 'k', value: 'x'.repeat(200_000) }]
    const operate = (index: number) =>
      platform.node(1).call({ type: 'ops', user: 'nobody', fence: 7, opId: `t${index}`, ops })
    const fitting = Math.floor(API_LIMITS.callsWeight / weight(ops, Number.POSITIVE_INFINITY))
    const waiting = Array.from({ length: fitting }, (_, index) => operate(index))
    expect(await operate(-1)).toMatchObject({ code: 'too_many', outcome: 'not-applied' })
    for (const answer of await platform.during(Promise.all(waiting)))
      expect(answer).toMatchObject({ code: 'no_quorum' })
    expect(await platform.during(operate(-2))).toMatchObject({ code: 'no_quorum' })
  })
})

describe('messages to peers', () => {
  const message = (length: number) =>
    ({ format: 1, configuration: 1, body: 'x'.repeat(length) }) as never as Message

  it('go in several requests if they are heavy, in their order', () => {
    const messages = Array.from({ length: 20 }, (_, index) => message(200_000 + index))
    const parcels = inRequests(messages)
    expect(parcels.flatMap(({ messages: some }) => some)).toEqual(messages)
    expect(parcels.length).toBeGreaterThan(3)
    for (const parcel of parcels) expect(parcel.weight).toBeLessThanOrEqual(PEER_MESSAGES_WEIGHT)
  })

  it('fit what a peer reads, in their longest spelling', () => {
    const longest = '\u0000'.repeat(PEER_MESSAGES_WEIGHT)
    const [parcel] = inRequests([{ format: 1, configuration: 1, body: longest } as never as Message])
    const text = JSON.stringify({ type: 'messages', from: 13, messages: parcel!.messages })
    expect(text.length).toBeLessThan(PEER_REQUEST_BYTES)
  })

  interface Asking {
    readonly exchange: Exchange<Message>
    /** What peers were asked and have not answered. */
    readonly asked: { readonly weight: number; readonly answer: () => void }[]
  }

  function asking(): Asking {
    const asked: { weight: number; answer: () => void }[] = []
    const ask = (_: string, __: object, { messages }: { messages: Message[] }) =>
      new Promise(resolve =>
        asked.push({
          weight: inRequests(messages)[0]!.weight,
          answer: () => resolve({ type: 'messages', messages: [] }),
        }),
      )
    const exchange = new Exchange({
      runtime: { peers: { ask }, background: () => {} },
      turns: { run: (body: () => void) => body() },
      lockName: 'lock',
      placeOf: (peer: number) => ({ id: peer }),
      request: (messages: Message[]) => ({ messages }),
      messagesOf: (answer: { messages: Message[] }) => answer.messages,
      receive: () => {},
    } as never as ExchangeHost<Message>)
    return { exchange, asked }
  }

  const answerAll = async ({ asked }: Asking) => {
    for (const { answer } of asked.splice(0)) answer()
    await platform.settle()
  }

  it('are lost, and do not wait in memory, when a peer leaves too much unanswered', async () => {
    const peers = asking()
    const { exchange, asked } = peers
    const send = () => {
      exchange.post(2, message(250_000))
      exchange.send()
    }
    for (let round = 0; round < 50; round++) send()
    expect(asked.length).toBeGreaterThan(1)
    expect(asked.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(PEER_UNANSWERED_WEIGHT)
    await answerAll(peers)
    send()
    expect(asked).toHaveLength(1)
  })

  it('regression: are not lost for the sake of peers that the lock had before', async () => {
    const peers = asking()
    const { exchange, asked } = peers
    for (let peer = 2; peer < 200; peer++) {
      exchange.post(peer, message(10))
      exchange.send()
      await answerAll(peers)
    }
    for (let count = 0; count < 3; count++) {
      exchange.post(199, message(PEER_MESSAGES_WEIGHT / 4))
      exchange.send()
    }
    expect(asked).toHaveLength(3)
  })
})
