/**
 * How a session gets its WebSocket: from the platform's constructor, or, in a Worker, from the answer to a
 * request.
 */
import { networkError } from './error-factory.ts'
import { isNodeWithoutWebSocket, NodeWebSocket } from './node-web-socket.ts'
import type { OpenedSocket, Socket } from './session.ts'
import type { Call, Transport } from './transport.ts'

export type OpenSocket = (transport: Transport, call: Pick<Call, 'path' | 'query'>) => Promise<OpenedSocket>

type SocketConstructor = new (url: string, protocols: string[]) => Socket

export function socketByConstructor(
  key: string | undefined,
  open: (url: string, protocols: string[]) => Socket = openByPlatform,
): OpenSocket {
  // A browser can send no headers with it, only subprotocols. The service chooses the first of these, so that
  // its answer does not repeat the key.
  const protocols = key === undefined ? [] : ['baton', `baton.key.${key}`]
  return async (transport, call) => ({
    socket: open(transport.url(call).replace(/^http/, 'ws'), protocols),
    isOpening: true,
  })
}

function openByPlatform(url: string, protocols: string[]): Socket {
  const { WebSocket } = globalThis as unknown as { WebSocket?: SocketConstructor }
  if (isNodeWithoutWebSocket()) return new NodeWebSocket(url, protocols)
  if (WebSocket === undefined) throw new Error('no WebSocket on this platform: give one with `webSocket`')
  return new WebSocket(url, protocols)
}

/** What a Worker gets from a binding: the socket is in the response, and open. */
export const socketByUpgrade: OpenSocket = async (transport, call) => {
  const response = await transport.open({ ...call, method: 'GET', headers: { upgrade: 'websocket' } })
  const { webSocket } = response as { webSocket?: (Socket & { accept?: () => void }) | null }
  if (!webSocket) throw networkError(new Error('the answer has no WebSocket'))
  webSocket.accept?.()
  return { socket: webSocket, isOpening: false }
}
