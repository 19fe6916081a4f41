/** The WebSocket for Node before 22, against a server that sends whatever frames the test wants. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isNodeWithoutWebSocket, NodeWebSocket } from '../../client/node-web-socket.ts'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

let server: Server
let url: string

beforeEach(async () => {
  server = createServer((_, response) => response.writeHead(404).end())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/locks/a/session?at=1`
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const acceptOf = (request: IncomingMessage): string =>
  createHash('sha1').update(`${request.headers['sec-websocket-key']}${GUID}`).digest('base64')

/** Accepts one connection. */
async function accepted(accept = acceptOf): Promise<{ request: IncomingMessage; socket: Socket }> {
  const [request, socket] = (await once(server, 'upgrade')) as [IncomingMessage, Socket]
  const lines = ['HTTP/1.1 101 Switching Protocols', 'upgrade: websocket', 'connection: Upgrade']
  socket.write(`${[...lines, `sec-websocket-accept: ${accept(request)}`].join('\r\n')}\r\n\r\n`)
  return { request, socket }
}

function frame(opcode: number, payload: string | Buffer, isLast = true): Buffer {
  const body = Buffer.from(payload)
  const head = Buffer.alloc(body.length > 0xffff ? 10 : body.length > 125 ? 4 : 2)
  head[0] = (isLast ? 0x80 : 0) | opcode
  head[1] = body.length > 0xffff ? 127 : body.length > 125 ? 126 : body.length
  if (body.length > 0xffff) head.writeBigUInt64BE(BigInt(body.length), 2)
  else if (body.length > 125) head.writeUInt16BE(body.length, 2)
  return Buffer.concat([head, body])
}

/** What a client sent, without its mask. */
function unmasked(bytes: Buffer): { opcode: number; payload: Buffer } {
  const short = bytes[1]! & 0x7f
  expect(bytes[1]! & 0x80).toBe(0x80)
  const at = short === 127 ? 10 : short === 126 ? 4 : 2
  const mask = bytes.subarray(at, at + 4)
  const payload = bytes.subarray(at + 4).map((byte, index) => byte ^ mask[index % 4]!)
  return { opcode: bytes[0]! & 0x0f, payload: Buffer.from(payload) }
}

async function readAll(socket: Socket, length: number): Promise<Buffer> {
  let all = Buffer.alloc(0)
  while (all.length < length) all = Buffer.concat([all, ((await once(socket, 'data')) as [Buffer])[0]])
  return all
}

function events(client: NodeWebSocket): { type: string; data?: unknown }[] {
  const all: { type: string; data?: unknown }[] = []
  for (const type of ['open', 'message', 'close', 'error'] as const)
    client.addEventListener(type, ({ data }) => all.push(data === undefined ? { type } : { type, data }))
  return all
}

const until = (condition: () => boolean) =>
  vi.waitFor(() => expect(condition()).toBe(true), { timeout: 20_000 })

describe('the handshake', () => {
  it('asks for the path with the subprotocols, and opens', async () => {
    const client = new NodeWebSocket(url, ['baton', 'baton.key.x'])
    const seen = events(client)
    const { request } = await accepted()
    expect(request.url).toBe('/v1/locks/a/session?at=1')
    expect(request.headers).toMatchObject({
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'baton, baton.key.x',
    })
    await until(() => seen.length === 1)
    expect(seen).toEqual([{ type: 'open' }])
  })

  it.each<[string, () => Promise<unknown>]>([
    ['that is refused', async () => server.emit('test')],
    ['that somebody else answered', () => accepted(() => 'bm8=')],
    ['that breaks', async () => ((await once(server, 'upgrade'))[1] as Socket).destroy()],
  ])('%s is an error, and the end', async (what, answer) => {
    if (what.includes('refused'))
      server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
    const seen = events(new NodeWebSocket(url, []))
    await answer()
    await until(() => seen.length === 2)
    expect(seen).toEqual([{ type: 'error' }, { type: 'close' }])
  })
})

describe('messages', () => {
  async function open() {
    const client = new NodeWebSocket(url, [])
    const seen = events(client)
    const { socket } = await accepted()
    await until(() => seen.length === 1)
    seen.length = 0
    return { client, seen, socket }
  }

  it.each([0, 1, 125, 126, 65_535, 65_536, 200_000])('of %i bytes come and go', async length => {
    const { client, seen, socket } = await open()
    const text = 'x'.repeat(length)
    socket.write(frame(1, text))
    await until(() => seen.length === 1)
    expect(seen[0]!.data).toBe(text)
    client.send(text)
    const head = length > 0xffff ? 14 : length > 125 ? 8 : 6
    const { opcode, payload } = unmasked(await readAll(socket, head + length))
    expect(opcode).toBe(1)
    expect(payload.toString()).toBe(text)
  })

  it('come whole, however they were cut', async () => {
    const { seen, socket } = await open()
    const bytes = Buffer.concat([
      frame(1, 'a«'),
      frame(1, 'in', false),
      frame(9, 'are you there?'),
      frame(0, ' thr', false),
      frame(0, 'ee'),
      frame(1, Buffer.from('«').subarray(0, 1), false),
      frame(0, Buffer.from('«').subarray(1)),
    ])
    for (const byte of bytes) socket.write(Buffer.of(byte))
    await until(() => seen.length === 3)
    expect(seen.map(({ data }) => data)).toEqual(['a«', 'in three', '«'])
    const { opcode, payload } = unmasked(await readAll(socket, 20))
    expect([opcode, payload.toString()]).toEqual([10, 'are you there?'])
  })

  it('are not sent before it is open, nor after it was closed', async () => {
    const client = new NodeWebSocket(url, [])
    expect(() => client.send('a')).toThrow('not open')
    const seen = events(client)
    await accepted()
    await until(() => seen.length === 1)
    client.close()
    expect(() => client.send('a')).toThrow('not open')
  })

  it.each<[string, Buffer, number]>([
    ['too large', Buffer.from('817f0000000001000001', 'hex'), 1009],
    ['masked', Buffer.from('818000000000', 'hex'), 1002],
    ['not text', frame(1, Buffer.of(0xff)), 1007],
  ])('that are %s end it', async (_, bytes, code) => {
    const { seen, socket } = await open()
    socket.write(bytes)
    await until(() => seen.length === 2)
    expect(seen).toEqual([{ type: 'error' }, { type: 'close' }])
    expect(code).toBeGreaterThan(1000)
  })

  it('end when the service closes, which is answered', async () => {
    const { seen, socket } = await open()
    socket.write(frame(8, Buffer.of(3, 232)))
    const { opcode } = unmasked(await readAll(socket, 8))
    expect(opcode).toBe(8)
    socket.end()
    await until(() => seen.length === 1)
    expect(seen).toEqual([{ type: 'close' }])
  })

  it('end when the client closes, with its code', async () => {
    const { client, seen, socket } = await open()
    client.close(1000)
    const { opcode, payload } = unmasked(await readAll(socket, 8))
    expect([opcode, payload.readUInt16BE()]).toEqual([8, 1000])
    socket.end()
    await until(() => seen.length === 1)
    expect(seen).toEqual([{ type: 'close' }])
  })
})

it('ends although the other end does not answer its close', async () => {
  const client = new NodeWebSocket(url, [])
  const seen = events(client)
  await accepted()
  await until(() => seen.length === 1)
  client.close()
  await until(() => seen.length === 2)
  expect(seen[1]).toEqual({ type: 'close' })
})

it('leaves no connection behind if it is closed before it was answered', async () => {
  const client = new NodeWebSocket(url, [])
  const seen = events(client)
  const [, socket] = (await once(server, 'upgrade')) as [IncomingMessage, Socket]
  let isLeft = false
  for (const event of ['error', 'end'])
    socket.on(event, () => {
      isLeft = true
    })
  socket.resume()
  client.close()
  await until(() => isLeft)
  expect(seen).toEqual([{ type: 'close' }])
})

it('asks for nothing if it is closed at once', async () => {
  let asked = 0
  server.on('connection', () => asked++)
  new NodeWebSocket(url, []).close()
  await new Promise(resolve => setTimeout(resolve, 200))
  expect(asked).toBe(0)
})

it('is for Node without a WebSocket alone', () => {
  expect(isNodeWithoutWebSocket()).toBe(typeof WebSocket === 'undefined')
  vi.stubGlobal('WebSocket', undefined)
  expect(isNodeWithoutWebSocket()).toBe(true)
  vi.stubGlobal('process', undefined)
  const outsideOfNode = isNodeWithoutWebSocket()
  vi.unstubAllGlobals()
  expect(outsideOfNode).toBe(false)
})
