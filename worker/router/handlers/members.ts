/** `POST …/participants`: an operator wants other participants. */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import type { Json } from '../../../shared/json.ts'
import type { ParticipantCall } from '../../participant/calls.ts'
import { json, pass, problemResponse } from '../answers.ts'
import { callerOf } from '../authentication.ts'
import type { Handlers, RouterContext } from '../context.ts'
import { whereFrom } from '../nearest.ts'
import { bodyOf, type ProblemAnswer } from '../routing.ts'

export const memberHandlers = {
  participants: async ({ c, services, parameters: { lock }, body }) => {
    const { routing, caller, times } = services
    const call: ParticipantCall = { type: 'members', change: body }
    const answer = await routing.anyone({
      lock,
      from: () => whereFrom(c.get('incoming')),
      limitMs: times.answerMs,
      ask: (place, leftMs) => caller.call(lock, place, call, { limitMs: leftMs, caller: callerOf(c) }),
    })
    if (answer.type === 'problem') return refused(c, answer)
    if (answer.type !== 'done') throw new Error('a change of members opens nothing')
    const { configuration } = bodyOf<{ configuration: LockConfiguration }>(answer)
    routing.learn(lock, configuration)
    const headers = answer.status === 202 ? { location: `/v1/locks/${encodeURIComponent(lock)}` } : {}
    return json(c, answer.status, describeMembers(configuration), headers)
  },
} satisfies Partial<Handlers>

function refused(c: RouterContext, answer: ProblemAnswer): Response {
  const { code, detail, more } = answer
  if (code === 'bad_request')
    return problemResponse(c, code, detail, { errors: [{ in: 'body', path: '', message: detail }] })
  const present = more?.configuration as unknown as LockConfiguration | undefined
  if (present === undefined) return pass(c, answer)
  return problemResponse(c, code, detail, {
    more: describeMembers(present) as unknown as { [name: string]: Json },
  })
}

export const describeMembers = ({ participants, number }: LockConfiguration) => ({
  participants: participants.map(({ id, location }) => ({ id, location })),
  configuration: number,
})
