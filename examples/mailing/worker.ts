/** The Worker around the mailing: it accepts mails anywhere, and a cron trigger starts the rounds. */
import { BatonError, createBaton } from '@baton-lock/baton/client'
import { slotOf } from '@baton-lock/baton/recipes'
import { Mailing, type Send } from './mailing.ts'

interface MailingEnvironment {
  /** The service binding to Baton, where both are deployed to one account. */
  readonly BATON?: Fetcher
  /** Where Baton is instead, such as under `npm start`. */
  readonly BATON_URL?: string
  /** Secret: a key with the verbs `acquire` and `read`. An open service needs none. */
  readonly BATON_KEY?: string
}

const MINUTE_MS = 60_000

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url)
    const mailing = mailingOf(env, ctx, request)
    const to = searchParams.get('to') ?? ''
    try {
      switch (`${request.method} ${pathname}`) {
        case 'GET /sent':
          return Response.json({ sent: await mailing.sent() })
        case 'POST /mails':
          return /^[\w.@-]{1,64}$/.test(to) ? await accept(mailing, to) : wrong()
        // What the cron trigger does, by hand. By the clock of this machine: rounds of others may be of
        // another minute then, and each minute still has one round.
        case 'POST /round':
          return Response.json(await mailing.round(slotOf(Date.now(), MINUTE_MS), send))
        default:
          return wrong()
      }
    } catch (error) {
      if (!(error instanceof BatonError)) throw error
      // No mail is accepted or sent twice, so asking again is right.
      const headers = { 'retry-after': '1' }
      return Response.json({ askAgain: true, because: error.code }, { status: 503, headers })
    }
  },

  // All that are started for the same minute have the same `scheduledTime`: no clock is compared.
  async scheduled(controller, env, ctx) {
    await mailingOf(env, ctx).round(controller.scheduledTime, send)
  },
} satisfies ExportedHandler<MailingEnvironment>

/** In place of a service that sends mails. Give it the fence, and let it refuse a lower one. */
const send: Send = async ({ to }, fence) => {
  if (to.startsWith('nobody')) throw new Error('there is no such address')
  console.log(`sent to ${to}, with fence ${fence}`)
}

async function accept(mailing: Mailing, to: string): Promise<Response> {
  const outcome = await mailing.accept({ to }, to)
  if (outcome.accepted) return Response.json(outcome, { status: 202 })
  const headers = { 'retry-after': String(Math.ceil(outcome.retryAfterMs / 1_000)) }
  return Response.json(outcome, { status: 429, headers })
}

function mailingOf(env: MailingEnvironment, ctx: ExecutionContext, near?: Request): Mailing {
  const { BATON, BATON_URL = 'http://127.0.0.1:8787', BATON_KEY } = env
  const options = {
    waitUntil: (work: Promise<unknown>) => ctx.waitUntil(work),
    ...(BATON_KEY && { key: BATON_KEY }),
    ...(near && { near }),
  }
  const address = BATON === undefined ? { url: BATON_URL } : { binding: BATON }
  return new Mailing(createBaton({ ...address, ...options }))
}

const wrong = (): Response => new Response('POST /mails?to=…, POST /round or GET /sent\n', { status: 404 })
