/**
 * The floor under every replicated operation: one object writes, its peers write, and a majority of the three
 * has it when the first peer answers. There is no lock, no order and no safety. Nothing that replicates can
 * be quicker than this on the same runtime.
 */
import { DurableObject } from 'cloudflare:workers'
import { PUT } from './put.ts'

interface Write {
  readonly key: string
  readonly value: string
}

export interface ReplicaEnvironment {
  readonly REPLICA: DurableObjectNamespace
}

const PEERS = ['peer-1', 'peer-2']

export class Replica extends DurableObject<ReplicaEnvironment> {
  constructor(ctx: DurableObjectState, env: ReplicaEnvironment) {
    super(ctx, env)
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT)')
  }

  /** `?peers=2` asks both, `?peers=1` just as many as a majority needs, `?peers=0` is how a peer is asked. */
  override async fetch(request: Request): Promise<Response> {
    const { key, value } = (await request.json()) as Write
    this.ctx.storage.sql.exec(PUT, key, JSON.stringify(value))
    const asked = PEERS.slice(0, Number(new URL(request.url).searchParams.get('peers')))
    if (asked.length > 0) await Promise.any(asked.map(peer => this.write(peer, { key, value })))
    return Response.json({ ok: true })
  }

  private write(peer: string, write: Write): Promise<Response> {
    const { REPLICA } = this.env
    const init = { method: 'POST', body: JSON.stringify(write) }
    return REPLICA.get(REPLICA.idFromName(peer)).fetch('http://replica/floor?peers=0', init)
  }
}
