/** Reading the guarded state. */
import { formatCursor, parseCursor } from '../../../shared/api/ids.ts'
import type { ListAnswer, StateAnswer } from '../../../shared/api/types.ts'
import type { Json } from '../../../shared/json.ts'
import { digest } from '../../../shared/resource/canonical.ts'
import type { ParticipantCall } from '../../participant/calls.ts'
import { json, malformed, noSuchParticipant, pass, respond } from '../answers.ts'
import type { Handlers, RouterContext, Services } from '../context.ts'
import { whereFrom } from '../nearest.ts'
import type { AskOptions } from '../participants.ts'
import { bodyOf, type Plan, type Routed } from '../routing.ts'

export const stateHandlers = {
  get: async ({ c, services, parameters: { lock, key }, query: { consistency, at } }) => {
    const answer = await read(c, services, lock, at, { type: 'get', key, consistency }, { asItIs: true })
    if (answer.type === 'gone') return noSuchParticipant(c, 'query', at!)
    if (answer.type !== 'done' && answer.type !== 'passed') return pass(c, answer)
    const tag = tagOf(
      answer.type === 'passed' ? (JSON.parse(answer.text) as StateAnswer) : bodyOf<StateAnswer>(answer),
    )
    // Weak, because the answer also holds the sequence, which goes on without the key.
    const headers = { etag: `W/${tag}`, 'cache-control': 'no-cache' }
    return isKnown(c, tag) ? respond(c, 304, null, headers) : pass(c, answer, headers)
  },

  list: async ({ c, services, parameters: { lock }, query }) => {
    const { prefix, limit, cursor, consistency, at } = query
    const after = cursor === undefined ? null : parseCursor(cursor)
    if (cursor !== undefined && after === null) {
      return malformed(c, [{ in: 'query', path: 'cursor', message: 'is not the cursor of an earlier page' }])
    }
    const answer = await read(c, services, lock, at, { type: 'list', prefix, limit, after, consistency })
    if (answer.type === 'gone') return noSuchParticipant(c, 'query', at!)
    if (answer.type !== 'done') return pass(c, answer)
    // A participant's cursor is the last key of its page.
    const page = bodyOf<ListAnswer>(answer)
    return json(c, 200, { ...page, cursor: page.cursor === null ? null : formatCursor(page.cursor) })
  },
} satisfies Partial<Handlers>

async function read(
  c: RouterContext,
  services: Services,
  lock: string,
  at: number | undefined,
  call: ParticipantCall,
  options: Pick<AskOptions, 'asItIs'> = {},
): Promise<Routed> {
  const plan: Plan = {
    lock,
    onlyReads: true,
    from: () => whereFrom(c.get('incoming')),
    limitMs: services.times.answerMs,
    ask: (place, leftMs) => services.caller.call(lock, place, call, { limitMs: leftMs, ...options }),
  }
  return at === undefined ? services.routing.anyone(plan) : services.routing.only(at, plan)
}

/** With the value, because the next lock of a name counts its revisions from the beginning. */
const tagOf = ({ revision, value }: StateAnswer): string => `"${revision}-${digest(value as Json)}"`

function isKnown(c: RouterContext, known: string): boolean {
  const wanted = c.req.header('if-none-match')
  if (wanted === undefined) return false
  return wanted.split(',').some(tag => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === known)
}
