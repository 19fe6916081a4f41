/** A WebSocket whose other end is the test. */
import type { Socket } from '../../client/index.ts'
import type { SessionEvent } from '../../shared/api/session.ts'

export class FakeSocket implements Socket {
  readonly sent: { readonly type: string; readonly [field: string]: unknown }[] = []
  isClosed = false
  readonly #listeners: { type: string; listener: (event: { data?: unknown }) => void }[] = []

  send(data: string): void {
    this.sent.push(JSON.parse(data))
  }
  close(): void {
    this.isClosed = true
  }
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.#listeners.push({ type, listener })
  }
  fire(type: 'open' | 'message' | 'close' | 'error', event?: SessionEvent): void {
    for (const each of this.#listeners) if (each.type === type) each.listener({ data: JSON.stringify(event) })
  }
  /** The answer to a ping. */
  pong(): void {
    for (const each of this.#listeners) if (each.type === 'message') each.listener({ data: 'pong' })
  }
  says(event: SessionEvent): void {
    this.fire('message', event)
  }
}

export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
