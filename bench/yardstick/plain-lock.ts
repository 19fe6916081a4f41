/**
 * What one would write instead of Baton: one Durable Object that is the lock and the state it guards, in the
 * simplest way that is durable. Clients that find it held wait in a queue, first come, first served. It is
 * the yardstick of the benchmark, by HTTP and by WebSocket. It does not survive the loss of its region, and
 * it has no fences.
 */
import { DurableObject } from 'cloudflare:workers'
import type { PlainAnswer, PlainCall } from './calls.ts'
import { PUT } from './put.ts'

export const TTL_MS = 30_000

type Holder = { readonly token: string; readonly expires: number }

interface Waiter {
  readonly token: string
  granted(answer: PlainAnswer): void
}

export class PlainLock extends DurableObject {
  private readonly sql: SqlStorage
  private readonly waiting: Waiter[] = []
  private timer: ReturnType<typeof setTimeout> | null = null

  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never)
    this.sql = ctx.storage.sql
    this.sql.exec('CREATE TABLE IF NOT EXISTS holder (one INTEGER PRIMARY KEY, token TEXT, expires INTEGER)')
    this.sql.exec('CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT)')
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade') === 'websocket') return this.open()
    const answer = await this.answer((await request.json()) as PlainCall)
    return Response.json(answer, { status: answer.ok ? 200 : 410 })
  }

  /** Each message is a call, and each answer a message, in the order of the calls. */
  private open(): Response {
    const { 0: client, 1: server } = new WebSocketPair()
    server.accept()
    server.addEventListener('message', async ({ data }) => {
      server.send(JSON.stringify(await this.answer(JSON.parse(data as string) as PlainCall)))
    })
    return new Response(null, { status: 101, webSocket: client })
  }

  /** Also what is called by RPC. */
  answer(call: PlainCall): PlainAnswer | Promise<PlainAnswer> {
    if (call.type === 'acquire') return this.acquire(call.token)
    if (this.holder()?.token !== call.token) return { ok: false }
    if (call.type === 'release') this.handOn()
    else this.sql.exec(PUT, call.key, JSON.stringify(call.value))
    return { ok: true }
  }

  private acquire(token: string): PlainAnswer | Promise<PlainAnswer> {
    const holder = this.holder()
    if (holder === null) return this.grant(token)
    return new Promise(granted => {
      this.waiting.push({ token, granted })
      this.timer ??= setTimeout(() => this.onExpiry(), holder.expires - Date.now())
    })
  }

  /** `null` if nobody holds the lock any more. */
  private holder(): Holder | null {
    const [holder] = this.sql.exec<Holder>('SELECT token, expires FROM holder').toArray()
    return holder !== undefined && holder.expires > Date.now() ? holder : null
  }

  private grant(token: string): PlainAnswer {
    this.sql.exec('INSERT OR REPLACE INTO holder VALUES (1, ?, ?)', token, Date.now() + TTL_MS)
    return { ok: true }
  }

  private handOn(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.sql.exec('DELETE FROM holder')
    else next.granted(this.grant(next.token))
  }

  /** A holder that is gone must not keep the others waiting. */
  private onExpiry(): void {
    this.timer = null
    if (this.holder() === null) this.handOn()
    const holder = this.holder()
    if (holder === null || this.waiting.length === 0) return
    this.timer = setTimeout(() => this.onExpiry(), holder.expires - Date.now())
  }
}
