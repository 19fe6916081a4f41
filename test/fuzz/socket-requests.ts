/**
 * A session's WebSocket: the handshake with something wrong, or a good one and then frames that break the
 * rules.
 */
import { sessionMessage } from '../../shared/api/session.ts'
import type { Random } from '../simulator/random.ts'
import type { FuzzRequest } from './http-requests.ts'
import { oddJson, randomBytes } from './junk.ts'
import { schemaShaped } from './schema-shaped.ts'

export interface SocketRequest extends FuzzRequest {
  /** To be sent when the handshake is answered with 101. */
  readonly frames: readonly Buffer[]
}

const KEY = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='

export function socketRequest(random: Random, prefix = ''): SocketRequest {
  const path = `${prefix}/v1/locks/fuzz-${random.below(20)}/session`
  const isGood = random.chance(0.8)
  const lines = isGood
    ? ['connection: Upgrade', 'upgrade: websocket', KEY, 'sec-websocket-version: 13']
    : random.shuffled(BAD_HANDSHAKE).slice(0, random.between(1, 5))
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  const frames = Array.from({ length: random.between(1, 6) }, () => badFrame(random))
  // A body that is announced and does not come: the server may wait for it.
  const isComplete = !lines.some(line => /^(content-length|transfer-encoding)/.test(line))
  return { kind: 'WebSocket', bytes, isComplete, frames }
}

const BAD_HANDSHAKE = [
  ...['connection: Upgrade', 'upgrade: websocket', 'upgrade: websocket, h2c', KEY, 'sec-websocket-key: x'],
  ...[
    'sec-websocket-key: ',
    'sec-websocket-version: 12',
    'sec-websocket-version: x',
    'sec-websocket-version: 13',
  ],
  ...[`sec-websocket-protocol: ${'baton.key.x, '.repeat(500)}baton`, 'sec-websocket-protocol: ,,,'],
  ...[
    'sec-websocket-protocol: baton.key.%00',
    'sec-websocket-extensions: permessage-deflate; server_max_window_bits=99',
  ],
  ...['content-length: 5', 'transfer-encoding: chunked', 'origin: https://evil.example'],
]

interface FrameOptions {
  readonly opcode: number
  readonly isFinal?: boolean
  readonly reserved?: number
  readonly isMasked?: boolean
  /** What the head says, if that is not so. */
  readonly claimedLength?: bigint
}

const TEXT = 1

function badFrame(random: Random): Buffer {
  const text = (content: string, isFinal = true) => frame(Buffer.from(content), { opcode: TEXT, isFinal })
  return random.pick([
    () => text(oddJson(random)),
    () => text(schemaShaped(sessionMessage, random)),
    () => text(schemaShaped(sessionMessage, random)),
    () => text('{"type":"issue","opId":"x","ops":[{"increment":"k","by":1e400}]}'),
    () => text('{"type":"try","waitMs":1e400}'),
    () => frame(randomBytes(random, random.between(0, 300)), { opcode: 2 }),
    () => frame(randomBytes(random, 50), { opcode: TEXT }),
    () => frame(Buffer.from('x'), { opcode: random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]) }),
    () => frame(Buffer.from('x'), { opcode: TEXT, reserved: random.between(1, 7) }),
    () => frame(Buffer.from('{}'), { opcode: TEXT, isMasked: false }),
    () => frame(Buffer.from('x'), { opcode: TEXT, claimedLength: 2n ** 63n }),
    () => frame(Buffer.from('x'), { opcode: 2, claimedLength: 2n ** 40n }),
    () => frame(Buffer.from('x'), { opcode: TEXT, claimedLength: 5_000_000n }),
    () => frame(Buffer.from('x'), { opcode: 0 }),
    () => Buffer.concat([text('{"type"', false), text('{"type":"exit"}')]),
    () => Buffer.concat(Array.from({ length: 500 }, () => text('a', false))),
    () => frame(Buffer.alloc(200), { opcode: 9 }),
    () => frame(Buffer.from('x'), { opcode: 9, isFinal: false }),
    () => Buffer.concat(Array.from({ length: 500 }, () => frame(Buffer.from('x'), { opcode: 9 }))),
    () => frame(Buffer.from([3]), { opcode: 8 }),
    () => frame(Buffer.from([0x03, 0xee, 0xff, 0xff]), { opcode: 8 }),
    () => frame(Buffer.alloc(random.pick([70_000, 2_500_000]), 'x'), { opcode: TEXT }),
    () => randomBytes(random, random.between(1, 200)),
  ])()
}

function frame(payload: Buffer, options: FrameOptions): Buffer {
  const { opcode, isFinal = true, reserved = 0, isMasked = true, claimedLength } = options
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode
  const length = claimedLength ?? BigInt(payload.length)
  const mask = isMasked ? 0x80 : 0
  const head =
    length < 126n
      ? Buffer.from([first, mask | Number(length)])
      : length < 65_536n
        ? Buffer.from([first, mask | 126, Number(length >> 8n), Number(length & 255n)])
        : Buffer.concat([Buffer.from([first, mask | 127]), eightBytes(length)])
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), payload])
}

function eightBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}
