/**
 * A TCP proxy on loopback that counts what goes through it: nothing that two processes say to each other
 * escapes it.
 */
import { createConnection, createServer, type Server, type Socket } from 'node:net'

export class CountingProxy {
  /** The port to forward to. Set it before the first connection. */
  targetPort = 0
  bytes = 0
  private readonly server: Server
  private readonly sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.server = server
    server.on('connection', socket => this.forward(socket))
  }

  static async start(): Promise<CountingProxy> {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return new CountingProxy(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`
  }

  private forward(incoming: Socket): void {
    const outgoing = createConnection(this.targetPort, '127.0.0.1')
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      this.sockets.add(from)
      from.on('data', data => {
        this.bytes += data.length
      })
      from.on('error', () => to.destroy())
      from.on('close', () => this.sockets.delete(from))
      from.pipe(to)
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise(resolve => this.server.close(resolve))
  }
}
