/**
 * Stands in the page for `client/node-web-socket.ts`, which is for an old Node alone: a browser has a
 * WebSocket of its own, and need not load another one.
 */
export const isNodeWithoutWebSocket = (): boolean => false

export class NodeWebSocket {
  constructor() {
    throw new Error('a browser has a WebSocket')
  }
}
