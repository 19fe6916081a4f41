/** Runs the cases of the contract of `Rows` in Durable Objects, each in its own object: `GET /{case}`. */
import { DurableObject } from 'cloudflare:workers'
import { SqlRows } from '../../worker/participant/sql-rows.ts'
import { ROWS_CONTRACT } from './rows-contract.ts'

interface Environment {
  readonly PARTICIPANT: DurableObjectNamespace
}

/** The name that the local launcher binds. */
export class BatonParticipant extends DurableObject<Environment> {
  override async fetch(request: Request): Promise<Response> {
    const { storage } = this.ctx
    try {
      const { run } = ROWS_CONTRACT[Number(new URL(request.url).pathname.slice(1))]!
      run(new SqlRows(storage), () => new SqlRows(storage))
      return new Response('kept')
    } catch (error) {
      return new Response(String(error))
    }
  }
}

export default {
  fetch: (request, env) =>
    env.PARTICIPANT.get(env.PARTICIPANT.idFromName(new URL(request.url).pathname)).fetch(request),
} satisfies ExportedHandler<Environment>
