/** Baton, with participants that can be made to crash: `POST /crash/{lock}/{participant}`. */
import { objectName } from '../../worker/directory.ts'
import { type BatonEnvironment, defineBaton } from '../../worker/library.ts'

const baton = defineBaton()

export class BatonParticipant extends baton.Participant {
  override async fetch(request: Request): Promise<Response> {
    // Everything in memory is gone, callers that wait get an error, and the next request finds a new
    // instance.
    if (new URL(request.url).pathname === '/crash') this.ctx.abort('crashed by a test')
    return super.fetch(request)
  }
}

export default {
  async fetch(request, env, ctx) {
    const crash = /^\/crash\/([\w-]+)\/(\d+)$/.exec(new URL(request.url).pathname)
    if (crash === null) return baton.fetch(request, env, ctx)
    const stub = env.PARTICIPANT.get(
      env.PARTICIPANT.idFromName(objectName(crash[1]!, { id: Number(crash[2]) })),
    )
    const isGone = await stub.fetch('https://participant/crash').then(
      () => false,
      () => true,
    )
    return Response.json({ isGone })
  },
} satisfies ExportedHandler<BatonEnvironment>
