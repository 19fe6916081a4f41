/**
 * A WebSocket for Node before version 22, which has none: the part of RFC 6455 that a session needs, over
 * `node:http`. Node's own modules are named in variables, so that no bundler looks for them where they are
 * not.
 */
import type { Socket } from './session.ts'

type Listener = (event: { readonly data?: unknown }) => void
type EventType = 'open' | 'message' | 'close' | 'error'

/** The parts of `node:http` and `node:net` that are used here. */
interface NodeHttp {
  request(url: URL, options: { headers: { [name: string]: string } }): NodeRequest
}
interface NodeRequest {
  on(event: 'upgrade', listener: (answer: NodeAnswer, socket: NodeSocket, head: Uint8Array) => void): void
  on(event: 'response' | 'error', listener: (answerOrError: NodeAnswer & Error) => void): void
  destroy(): void
  end(): void
}
interface NodeAnswer {
  readonly statusCode?: number
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}
interface NodeSocket {
  on(event: 'data' | 'close' | 'error', listener: (data: Uint8Array) => void): void
  setNoDelay(isOn: boolean): void
  write(data: Uint8Array): void
  end(): void
  destroy(): void
}

const OPCODE = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const NORMAL = 1000
const PROTOCOL_ERROR = 1002
const NOT_TEXT = 1007
const TOO_BIG = 1009
/** For the other end's close, after one's own. */
const LAST_WORDS_MS = 500
/** Far above what the service sends in one message. */
const LARGEST_MESSAGE = 16 * 1024 * 1024

/** The platform has no `WebSocket`, and is Node. */
export function isNodeWithoutWebSocket(): boolean {
  const { WebSocket, process } = globalThis as {
    WebSocket?: unknown
    process?: { versions?: { node?: string } }
  }
  return WebSocket === undefined && process?.versions?.node !== undefined
}

export class NodeWebSocket implements Socket {
  readonly #listeners: { readonly type: EventType; readonly listener: Listener }[] = []
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  #request: NodeRequest | undefined
  #socket: NodeSocket | undefined
  #received: Uint8Array = new Uint8Array()
  #fragments: Uint8Array[] = []
  #isClosing = false
  #isOver = false

  constructor(url: string, protocols: readonly string[]) {
    this.#connect(new URL(url.replace(/^ws/, 'http')), protocols).catch(() => this.#fail())
  }

  addEventListener(type: EventType, listener: Listener): void {
    this.#listeners.push({ type, listener })
  }

  send(text: string): void {
    if (this.#socket === undefined || this.#isClosing) throw new Error('the socket is not open')
    this.#write(OPCODE.text, new TextEncoder().encode(text))
  }

  close(code: number = NORMAL): void {
    if (this.#isClosing) return
    this.#isClosing = true
    if (this.#socket === undefined) {
      // Whoever has not answered yet may never do so.
      this.#request?.destroy()
      return this.#end()
    }
    this.#write(OPCODE.close, Uint8Array.of(code >> 8, code & 0xff))
    this.#socket.end()
    // Whoever is at the other end may not answer, or not soon: that keeps no process alive.
    setTimeout(() => this.#socket?.destroy(), LAST_WORDS_MS)
  }

  async #connect(url: URL, protocols: readonly string[]): Promise<void> {
    const name = url.protocol === 'https:' ? 'node:https' : 'node:http'
    const { request } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as NodeHttp
    const key = base64(crypto.getRandomValues(new Uint8Array(16)))
    const expected = await acceptFor(key)
    if (this.#isClosing) return
    const outgoing = request(url, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
        ...(protocols.length > 0 && { 'sec-websocket-protocol': protocols.join(', ') }),
      },
    })
    this.#request = outgoing
    outgoing.on('error', () => this.#fail())
    // It was refused: the answer says why, but a WebSocket tells nobody, in browsers either.
    outgoing.on('response', () => {
      outgoing.destroy()
      this.#fail()
    })
    outgoing.on('upgrade', ({ headers }, socket, head) => {
      const isOurs = headers['sec-websocket-accept'] === expected
      if (isOurs && !this.#isClosing) return this.#open(socket, head)
      socket.destroy()
      if (!this.#isClosing) this.#fail()
    })
    outgoing.end()
  }

  #open(socket: NodeSocket, head: Uint8Array): void {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', data => this.#receive(data))
    socket.on('error', () => this.#fail())
    socket.on('close', () => this.#end())
    this.#fire('open')
    if (head.length > 0) this.#receive(head)
  }

  // ---------------------------------------------------------------- frames

  #receive(data: Uint8Array): void {
    this.#received = concat([this.#received, data])
    for (;;) {
      const frame = frameIn(this.#received)
      if (frame === 'too-big') return this.#abandon(TOO_BIG)
      if (frame === 'malformed') return this.#abandon(PROTOCOL_ERROR)
      if (frame === null || this.#isOver) return
      this.#received = this.#received.slice(frame.end)
      this.#onFrame(frame)
    }
  }

  #onFrame({ opcode, isLast, payload }: Frame): void {
    if (opcode === OPCODE.ping) return this.#write(OPCODE.pong, payload)
    if (opcode === OPCODE.close) return this.close()
    if (opcode !== OPCODE.text && opcode !== OPCODE.continuation) return
    this.#fragments.push(payload)
    const length = this.#fragments.reduce((sum, fragment) => sum + fragment.length, 0)
    if (length > LARGEST_MESSAGE) return this.#abandon(TOO_BIG)
    if (!isLast) return
    const message = concat(this.#fragments)
    this.#fragments = []
    let text: string
    try {
      text = this.#decoder.decode(message)
    } catch {
      return this.#abandon(NOT_TEXT)
    }
    this.#fire('message', text)
  }

  #write(opcode: number, payload: Uint8Array): void {
    if (!this.#isOver) this.#socket?.write(maskedFrame(opcode, payload))
  }

  // ---------------------------------------------------------------- the end

  #abandon(code: number): void {
    this.close(code)
    this.#fail()
  }

  #fail(): void {
    if (this.#isOver) return
    this.#fire('error')
    this.#socket?.destroy()
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isClosing = true
    this.#fire('close')
  }

  #fire(type: EventType, data?: string): void {
    for (const each of this.#listeners) if (each.type === type) each.listener({ data })
  }
}

interface Frame {
  readonly opcode: number
  readonly isLast: boolean
  readonly payload: Uint8Array
  /** Where the next one begins. */
  readonly end: number
}

/** The first frame, once all of it is there. A service does not mask its frames (RFC 6455, section 5.1). */
function frameIn(bytes: Uint8Array): Frame | 'too-big' | 'malformed' | null {
  if (bytes.length < 2) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const [first, second] = [view.getUint8(0), view.getUint8(1)]
  if ((second & 0x80) !== 0 || (first & 0x70) !== 0) return 'malformed'
  const short = second & 0x7f
  const begin = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < begin) return null
  const length = short === 127 ? Number(view.getBigUint64(2)) : short === 126 ? view.getUint16(2) : short
  if (length > LARGEST_MESSAGE) return 'too-big'
  const end = begin + length
  if (bytes.length < end) return null
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload: bytes.slice(begin, end), end }
}

/** A client masks all that it sends. */
function maskedFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload
  const head = new DataView(new ArrayBuffer(length > 0xffff ? 10 : length > 125 ? 4 : 2))
  head.setUint8(0, 0x80 | opcode)
  head.setUint8(1, 0x80 | (length > 0xffff ? 127 : length > 125 ? 126 : length))
  if (length > 0xffff) head.setBigUint64(2, BigInt(length))
  else if (length > 125) head.setUint16(2, length)
  const mask = crypto.getRandomValues(new Uint8Array(4))
  return concat([new Uint8Array(head.buffer), mask, payload.map((byte, at) => byte ^ mask[at % 4]!)])
}

async function acceptFor(key: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(key + ACCEPT_SUFFIX))
  return base64(new Uint8Array(digest))
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
