/** As much of a ZooKeeper client as its recipe for a lock needs: one session, calls, and watches. */
import { createConnection, type Socket } from 'node:net'
import { Frames, Reader, Writer } from './zookeeper-wire.ts'

export const OPCODES = { create: 1, delete: 2, exists: 3, setData: 5, getChildren: 8, ping: 11 } as const
export const EPHEMERAL_SEQUENTIAL = 3
export const ERRORS = { noNode: -101, nodeExists: -110 } as const
export const WATCH_XID = -1
export const PING_XID = -2

const ALL_PERMISSIONS = 31
const ANY_VERSION = -1
const SESSION_MS = 60_000
const PING_MS = 10_000

export class ZooKeeperError extends Error {
  readonly code: number

  constructor(code: number, what: string) {
    super(`ZooKeeper: ${what} failed with code ${code}`)
    this.code = code
  }
}

interface Call {
  readonly what: string
  resolve(reader: Reader): void
  reject(error: Error): void
}

export class ZooKeeperClient {
  private readonly socket: Socket
  private readonly frames = new Frames()
  private readonly calls = new Map<number, Call>()
  private readonly watches = new Map<string, (() => void)[]>()
  private onConnected: (() => void) | null = null
  private readonly pinging: ReturnType<typeof setInterval>
  private xid = 0

  private constructor(socket: Socket) {
    this.socket = socket.setNoDelay(true)
    socket.on('data', bytes => {
      for (const frame of this.frames.add(bytes)) this.onFrame(new Reader(frame))
    })
    socket.on('error', error => this.fail(error))
    socket.on('close', () => this.fail(new Error('ZooKeeper closed the connection')))
    this.pinging = setInterval(() => this.send(PING_XID, OPCODES.ping, new Writer()), PING_MS)
    this.pinging.unref()
  }

  static async connect(port: number): Promise<ZooKeeperClient> {
    const socket = createConnection({ host: '127.0.0.1', port })
    const client = new ZooKeeperClient(socket)
    await new Promise<void>((resolve, reject) => {
      client.onConnected = resolve
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('ZooKeeper refused the session')))
      const hello = new Writer().int(0).long(0n).int(SESSION_MS).long(0n).bytes(Buffer.alloc(16)).bool(false)
      socket.write(hello.frame())
    })
    return client
  }

  /** Gives the path that was made, which has a number at its end if it is sequential. */
  async create(path: string, flags = 0): Promise<string> {
    const body = new Writer().text(path).bytes(Buffer.alloc(0))
    body.int(1).int(ALL_PERMISSIONS).text('world').text('anyone').int(flags)
    return (await this.call(OPCODES.create, body, `create ${path}`)).text()
  }

  async delete(path: string): Promise<void> {
    await this.call(OPCODES.delete, new Writer().text(path).int(ANY_VERSION), `delete ${path}`)
  }

  async setData(path: string, data: string): Promise<void> {
    await this.call(OPCODES.setData, new Writer().text(path).text(data).int(ANY_VERSION), `set ${path}`)
  }

  async children(path: string): Promise<string[]> {
    return (await this.call(OPCODES.getChildren, new Writer().text(path).bool(false), `list ${path}`)).texts()
  }

  /** Resolves when the node is gone; at once if it is gone already. */
  async untilGone(path: string): Promise<void> {
    const gone = new Promise<void>(resolve => {
      this.watches.set(path, [...(this.watches.get(path) ?? []), resolve])
    })
    try {
      await this.call(OPCODES.exists, new Writer().text(path).bool(true), `watch ${path}`)
    } catch (error) {
      if ((error as ZooKeeperError).code === ERRORS.noNode) return
      throw error
    }
    await gone
  }

  close(): void {
    clearInterval(this.pinging)
    this.socket.destroy()
  }

  private call(opcode: number, body: Writer, what: string): Promise<Reader> {
    const xid = ++this.xid
    return new Promise((resolve, reject) => {
      this.calls.set(xid, { what, resolve, reject })
      this.send(xid, opcode, body)
    })
  }

  private send(xid: number, opcode: number, body: Writer): void {
    const header = new Writer().int(xid).int(opcode)
    this.socket.write(header.append(body).frame())
  }

  private onFrame(reader: Reader): void {
    if (this.onConnected !== null) {
      this.onConnected()
      this.onConnected = null
      return
    }
    const xid = reader.int()
    reader.long()
    const code = reader.int()
    if (xid === WATCH_XID) return this.onWatch(reader)
    const call = this.calls.get(xid)
    this.calls.delete(xid)
    if (code === 0) call?.resolve(reader)
    else call?.reject(new ZooKeeperError(code, call.what))
  }

  /** Whatever happened to the node: the kind of the event, the state of the session, then its path. */
  private onWatch(reader: Reader): void {
    reader.int()
    reader.int()
    const path = reader.text()
    for (const resolve of this.watches.get(path) ?? []) resolve()
    this.watches.delete(path)
  }

  private fail(error: Error): void {
    for (const { reject } of this.calls.values()) reject(error)
    this.calls.clear()
  }
}
