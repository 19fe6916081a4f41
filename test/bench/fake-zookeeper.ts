/** A stand-in for one ZooKeeper server: a tree of nodes, numbers for sequential ones, and watches. */

import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { ERRORS, OPCODES, PING_XID, WATCH_XID } from '../../bench/peers/zookeeper-client.ts'
import { Frames, Reader, Writer } from '../../bench/peers/zookeeper-wire.ts'

const NODE_DELETED = 2
const CONNECTED = 3
const SEQUENTIAL = 2

export class FakeZooKeeper {
  readonly nodes = new Map<string, string>()
  pings = 0
  private readonly watches = new Map<string, Set<Socket>>()
  private readonly server: Server
  private numbers = 0
  private zxid = 0n

  constructor() {
    this.server = createServer(socket => this.onConnection(socket))
  }

  async listen(): Promise<number> {
    await new Promise<void>(resolve => this.server.listen(0, '127.0.0.1', resolve))
    return (this.server.address() as AddressInfo).port
  }

  close(): void {
    this.server.close()
  }

  private onConnection(socket: Socket): void {
    const frames = new Frames()
    let isConnected = false
    socket.on('error', () => {})
    socket.on('data', bytes => {
      for (const frame of frames.add(bytes)) {
        if (isConnected) this.onRequest(socket, new Reader(frame))
        else socket.write(this.connect(new Reader(frame)))
        isConnected = true
      }
    })
  }

  private connect(hello: Reader): Buffer {
    const [version, , timeout] = [hello.int(), hello.long(), hello.int()]
    const [session, password] = [hello.long(), hello.bytes()]
    if (version !== 0 || session !== 0n || password.length !== 16) throw new Error('not a new session')
    return new Writer().int(0).int(timeout).long(7n).bytes(Buffer.alloc(16)).bool(false).frame()
  }

  private onRequest(socket: Socket, reader: Reader): void {
    const [xid, opcode] = [reader.int(), reader.int()]
    if (xid === PING_XID) {
      this.pings++
      socket.write(this.reply(xid, 0).frame())
      return
    }
    const path = reader.text()
    if (opcode === OPCODES.create) return this.create(socket, xid, path, reader)
    const isThere = this.nodes.has(path)
    if (opcode === OPCODES.exists && reader.bool()) this.watch(path, socket)
    if (!isThere) return void socket.write(this.reply(xid, ERRORS.noNode).frame())
    if (opcode === OPCODES.setData) this.nodes.set(path, reader.text())
    const reply = this.reply(xid, 0)
    if (opcode === OPCODES.getChildren) {
      const children = this.childrenOf(path)
      reply.int(children.length)
      for (const child of children) reply.text(child)
    }
    // ZooKeeper tells the watchers before it answers whoever deleted the node.
    if (opcode === OPCODES.delete) this.remove(path)
    socket.write(reply.frame())
  }

  private create(socket: Socket, xid: number, path: string, reader: Reader): void {
    reader.bytes()
    const acl = [reader.int(), reader.int(), reader.text(), reader.text()]
    if (acl.join() !== '1,31,world,anyone') throw new Error(`not open to everybody: ${acl.join()}`)
    const isSequential = (reader.int() & SEQUENTIAL) !== 0
    const made = isSequential ? path + String(this.numbers++).padStart(10, '0') : path
    if (this.nodes.has(made)) return void socket.write(this.reply(xid, ERRORS.nodeExists).frame())
    this.nodes.set(made, '')
    socket.write(this.reply(xid, 0).text(made).frame())
  }

  private childrenOf(path: string): string[] {
    return [...this.nodes.keys()]
      .filter(node => node.startsWith(`${path}/`))
      .map(node => node.slice(path.length + 1))
  }

  private watch(path: string, socket: Socket): void {
    this.watches.set(path, (this.watches.get(path) ?? new Set()).add(socket))
  }

  private remove(path: string): void {
    this.nodes.delete(path)
    const event = this.reply(WATCH_XID, 0).int(NODE_DELETED).int(CONNECTED).text(path).frame()
    for (const socket of this.watches.get(path) ?? []) socket.write(event)
    this.watches.delete(path)
  }

  private reply(xid: number, code: number): Writer {
    return new Writer()
      .int(xid)
      .long(++this.zxid)
      .int(code)
  }
}
