/**
 * What one would write instead of Baton: one Durable Object that is the lock and the state it guards, in the
 * simplest way that is durable. It is the yardstick of the benchmark. It does not survive the loss of its
 * region, and it has no fences.
 */
import { DurableObject } from 'cloudflare:workers'

export class PlainLock extends DurableObject {
  private readonly sql: SqlStorage

  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never)
    this.sql = ctx.storage.sql
    this.sql.exec('CREATE TABLE IF NOT EXISTS holder (one INTEGER PRIMARY KEY, token TEXT, expires INTEGER)')
    this.sql.exec('CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT)')
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const { token, key, value } = (await request.json()) as { token: string; key?: string; value?: unknown }
    const now = Date.now()
    const [holder] = this.sql
      .exec<{ token: string; expires: number }>('SELECT token, expires FROM holder')
      .toArray()
    const isHeld = holder !== undefined && holder.expires > now
    switch (pathname) {
      case '/plain/acquire':
        if (isHeld) return Response.json({ code: 'locked' }, { status: 409 })
        this.sql.exec('INSERT OR REPLACE INTO holder VALUES (1, ?, ?)', token, now + 30_000)
        return Response.json({ token, expiresAt: now + 30_000 })
      case '/plain/release':
        if (holder?.token === token) this.sql.exec('DELETE FROM holder')
        return Response.json({})
      case '/plain/write':
        if (!isHeld || holder.token !== token) return Response.json({ code: 'released' }, { status: 410 })
        this.sql.exec('INSERT OR REPLACE INTO state VALUES (?, ?)', key!, JSON.stringify(value))
        return Response.json({ applied: true })
      default:
        return new Response(null, { status: 404 })
    }
  }
}
