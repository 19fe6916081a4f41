/**
 * A session's WebSocket as a test uses it: what the service says comes out in order, one message at a time.
 */
// The one that Node has of its own from 22 on.
import { WebSocket } from 'undici'
import {
  PING,
  PONG,
  type SessionEvent,
  type SessionMessage,
  type SessionProbe,
} from '../../shared/api/session.ts'
import { GENEROUS_MS } from './eventually.ts'

export class TestSession {
  readonly socket: WebSocket
  private readonly arrived: SessionEvent[] = []
  private wake = () => {}
  private isClosed = false

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.addEventListener('message', ({ data }) => {
      if (data === PONG) return
      if ((JSON.parse(data as string) as SessionEvent | SessionProbe).type === 'probe')
        return socket.send(data)
      this.arrived.push(JSON.parse(data as string) as SessionEvent)
      this.wake()
    })
    socket.addEventListener('close', () => {
      this.isClosed = true
      this.wake()
    })
  }

  send(message: SessionMessage): void {
    this.socket.send(JSON.stringify(message))
  }

  sendRaw(data: string | Uint8Array<ArrayBuffer>): void {
    this.socket.send(data)
  }

  /** A sign of life. */
  ping(): void {
    this.socket.send(PING)
  }

  /** The next message. */
  async next(): Promise<SessionEvent> {
    const end = Date.now() + GENEROUS_MS
    while (this.arrived.length === 0) {
      if (this.isClosed) throw new Error('the session was closed')
      if (Date.now() > end) throw new Error('the service has said nothing more')
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, 1_000)
        this.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.arrived.shift()!
  }

  /** The next message, which must be of this type. */
  async nextOf<Type extends SessionEvent['type']>(
    type: Type,
  ): Promise<Extract<SessionEvent, { type: Type }>> {
    const event = await this.next()
    if (event.type !== type) throw new Error(`${type} was expected, not ${JSON.stringify(event)}`)
    return event as Extract<SessionEvent, { type: Type }>
  }

  close(): void {
    this.socket.close()
  }
}

/** `url` is that of the route. Rejects if the service refuses. */
export function openSession(url: string, protocols: readonly string[] = []): Promise<TestSession> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols])
  const session = new TestSession(socket)
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(session))
    socket.addEventListener('error', () => reject(new Error('the session was refused')))
  })
}
