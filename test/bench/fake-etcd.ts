/** A stand-in for etcd's JSON gateway: leases, locks whose keys come and go, and transactions on them. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Body {
  readonly name?: string
  readonly lease?: string
  readonly key?: string
  readonly compare?: readonly { readonly key: string; readonly target: string; readonly result: string }[]
  readonly success?: readonly { readonly requestPut: { readonly key: string; readonly value: string } }[]
}

const decoded = (text: string): string => Buffer.from(text, 'base64').toString()
const encoded = (text: string): string => Buffer.from(text).toString('base64')

export class FakeEtcd {
  readonly leases: string[] = []
  /** Every key that was put, with its value. */
  readonly puts: [key: string, value: string][] = []
  /** By the prefix of the lock: the keys of those who hold it or wait for it, in their order. */
  private readonly queues = new Map<string, string[]>()
  private readonly waiting = new Map<string, () => void>()
  private readonly server: Server

  constructor() {
    this.server = createServer(async (incoming, outgoing) => {
      const answer = await this.answer(incoming.url!, await bodyOf(incoming))
      outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>(resolve => this.server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  private async answer(path: string, body: Body): Promise<object> {
    switch (path) {
      case '/v3/lease/grant': {
        const id = String(this.leases.length + 1)
        this.leases.push(id)
        return { ID: id, TTL: '600' }
      }
      case '/v3/lock/lock':
        return { key: encoded(await this.lock(decoded(body.name!), body.lease!)) }
      case '/v3/lock/unlock':
        this.unlock(decoded(body.key!))
        return {}
      case '/v3/kv/txn':
        return this.transaction(body)
      default:
        throw new Error(path)
    }
  }

  private async lock(name: string, lease: string): Promise<string> {
    const key = `${name}/${lease}`
    const queue = this.queues.get(name) ?? []
    this.queues.set(name, queue)
    if (!queue.includes(key)) queue.push(key)
    if (queue[0] !== key) await new Promise<void>(resolve => this.waiting.set(key, resolve))
    return key
  }

  private unlock(key: string): void {
    const queue = this.queues.get(key.slice(0, key.lastIndexOf('/')))!
    queue.splice(queue.indexOf(key), 1)
    this.waiting.get(queue[0] ?? '')?.()
  }

  private transaction({ compare, success }: Body): object {
    const [condition] = compare!
    if (condition!.target !== 'CREATE' || condition!.result !== 'GREATER')
      throw new Error('another condition')
    const isHeld = [...this.queues.values()].some(queue => queue.includes(decoded(condition!.key)))
    // As etcd does: what is false is left out.
    if (!isHeld) return {}
    const [{ requestPut }] = success as readonly [NonNullable<Body['success']>[number]]
    this.puts.push([decoded(requestPut.key), decoded(requestPut.value)])
    return { succeeded: true }
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Body
}
