/**
 * The network between the processes: one TCP proxy for each directed link, so that what one process says to
 * another can be lost, slowed down or broken off without touching anything else. A link carries the requests
 * of one process to another one, and the answers back. What travels from a to b is thus in two places: the
 * requests of the link a→b, and the answers of the link b→a.
 */
import { createConnection, createServer, type Server, type Socket } from 'node:net'

/** How one direction of a link is. `lost`: bytes disappear, as behind a cable that was pulled. */
export type Condition = { readonly type: 'open' | 'lost' } | { readonly type: 'slow'; readonly ms: number }

export const OPEN: Condition = { type: 'open' }
export const LOST: Condition = { type: 'lost' }

/** Proxied bytes that wait for a slow reader; beyond this the sender is paused. */
const MAX_UNSENT_BYTES = 1024 * 1024

export class Link {
  readonly from: string
  readonly to: string
  requests: Condition = OPEN
  answers: Condition = OPEN
  private readonly server: Server
  private readonly targetPort: number
  private readonly connections = new Set<Connection>()

  private constructor(from: string, to: string, server: Server, targetPort: number) {
    this.from = from
    this.to = to
    this.server = server
    this.targetPort = targetPort
    server.on('connection', incoming => this.accept(incoming))
  }

  static async open(from: string, to: string, targetPort: number): Promise<Link> {
    const server = createServer()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    return new Link(from, to, server, targetPort)
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as { port: number }).port}`
  }

  /** Connections that have lost bytes. */
  get damaged(): number {
    return [...this.connections].filter(({ isDamaged }) => isDamaged).length
  }

  /** A caller that waits for an answer on one of them learns at once that none will come. */
  resetConnections(): void {
    for (const connection of this.connections) connection.destroy()
  }

  /** A connection that has lost bytes cannot go on; one that was only slow can. */
  heal(): void {
    this.requests = OPEN
    this.answers = OPEN
    for (const connection of this.connections) if (connection.isDamaged) connection.destroy()
  }

  async close(): Promise<void> {
    this.resetConnections()
    await new Promise(resolve => this.server.close(resolve))
  }

  private accept(incoming: Socket): void {
    const connection = new Connection(incoming, createConnection(this.targetPort, '127.0.0.1'), {
      requests: () => this.requests,
      answers: () => this.answers,
    })
    this.connections.add(connection)
    connection.onEnd = () => this.connections.delete(connection)
  }
}

class Connection {
  isDamaged = false
  onEnd = () => {}
  private readonly sockets: readonly Socket[]

  constructor(
    incoming: Socket,
    outgoing: Socket,
    conditions: { readonly requests: () => Condition; readonly answers: () => Condition },
  ) {
    this.sockets = [incoming, outgoing]
    this.carry(incoming, outgoing, conditions.requests)
    this.carry(outgoing, incoming, conditions.answers)
    for (const socket of this.sockets) {
      socket.setNoDelay(true)
      socket.on('error', () => this.destroy())
      socket.on('close', () => this.destroy())
    }
  }

  destroy(): void {
    for (const socket of this.sockets) socket.destroy()
    this.onEnd()
  }

  /** Bytes keep their order, also when the link becomes faster while some of them are on their way. */
  private carry(from: Socket, to: Socket, condition: () => Condition): void {
    let lastAt = 0
    const deliver = (action: () => void): void => {
      const now = condition()
      if (now.type === 'lost') {
        this.isDamaged = true
        return
      }
      const at = Math.max(lastAt, Date.now() + (now.type === 'slow' ? now.ms : 0))
      lastAt = at
      if (at <= Date.now()) action()
      else setTimeout(action, at - Date.now())
    }
    from.on('data', data => {
      deliver(() => {
        if (to.destroyed || to.write(data) || to.writableLength < MAX_UNSENT_BYTES) return
        from.pause()
        to.once('drain', () => from.resume())
      })
    })
    from.on('end', () => deliver(() => to.end()))
  }
}

/** The links of a cluster, by who talks to whom. */
export class Network {
  private readonly links = new Map<string, Link>()

  async connect(from: string, to: string, targetPort: number): Promise<Link> {
    const link = await Link.open(from, to, targetPort)
    this.links.set(`${from}→${to}`, link)
    return link
  }

  get all(): Link[] {
    return [...this.links.values()]
  }

  link(from: string, to: string): Link {
    return this.links.get(`${from}→${to}`)!
  }

  of(node: string): Link[] {
    return this.all.filter(({ from, to }) => from === node || to === node)
  }

  /** Nothing of what the node says arrives anywhere. */
  mute(node: string, condition: Condition): void {
    for (const link of this.of(node)) {
      if (link.from === node) link.requests = condition
      else link.answers = condition
    }
  }

  /** Nothing of what is said to the node arrives. */
  deafen(node: string, condition: Condition): void {
    for (const link of this.of(node)) {
      if (link.to === node) link.requests = condition
      else link.answers = condition
    }
  }

  heal(): void {
    for (const link of this.all) link.heal()
  }

  healNode(node: string): void {
    for (const link of this.of(node)) link.heal()
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(link => link.close()))
  }
}
