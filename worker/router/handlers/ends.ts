/** The end of a lock. */
import type { ParticipantCall, ParticipantStatus } from '../../participant/calls.ts'
import { nothing, pass, problemResponse } from '../answers.ts'
import { callerOf } from '../authentication.ts'
import type { Call, Handlers } from '../context.ts'
import { whereFrom } from '../nearest.ts'
import type { Answer } from '../routing.ts'
import { tellMajority } from '../who-holds.ts'
import { askAll, refuseIfAbsent } from './locks.ts'

export const endHandlers = {
  /**
   * It is said first which generation is meant. So a request that is sent to a second participant, because
   * the first one was silent, never ends a lock that was created in between: what has ended is answered the
   * same.
   */
  delete: async call => {
    const { c, services, query } = call
    const { lock } = call.parameters
    const { routing, randomUser, times } = services
    let { generation = null } = query
    if (generation === null) {
      const views = await askAll<ParticipantStatus>(services, lock, () => ({ type: 'status' }))
      const refusal = refuseIfAbsent(c, services, lock, views)
      if (refusal !== null) return refusal
      generation = latestGeneration(views)
      if (generation === null) return problemResponse(c, 'no_quorum', NOBODY, { retryAfterSeconds: 1 })
    }
    const asked = await ask(
      call,
      { type: 'delete', user: randomUser(), force: query.force === 'true', generation },
      times.answerMs,
    )
    const answer = await tellMajority(services, lock, asked)
    if (answer.type === 'problem') {
      const present = answer.code === 'no_quorum' ? await presentGeneration(call) : null
      if (present !== null && present < generation)
        return problemResponse(c, 'conflict', toCome(present, generation), { more: { generation: present } })
      return pass(c, answer)
    }
    routing.forget(lock)
    return nothing(c)
  },
} satisfies Partial<Handlers>

const NOBODY = 'No participant of this lock answered in time, so it is not known which lock is to be deleted.'

/** A participant that was away may still have a lock that was deleted. `null`: nobody answers. */
function latestGeneration(views: ReadonlyMap<number, ParticipantStatus>): number | null {
  const generations = [...views.values()].map(({ generation }) => generation ?? 1)
  return generations.length === 0 ? null : Math.max(...generations)
}

/** `null`: not all participants say the same, so one of them may know of a later lock. */
async function presentGeneration({ services, parameters: { lock } }: Call<'delete'>): Promise<number | null> {
  const views = await askAll<ParticipantStatus>(services, lock, () => ({ type: 'status' }))
  const isOfAll = views.size === services.routing.configurationOf(lock).participants.length
  const generations = new Set([...views.values()].map(({ generation }) => generation ?? 1))
  return isOfAll && generations.size === 1 ? latestGeneration(views) : null
}

const toCome = (present: number, wanted: number): string =>
  `The present lock of this name has generation ${present}; there is none with ${wanted} yet. Nothing was deleted.`

async function ask(call: Call<'delete'>, asked: ParticipantCall, limitMs: number): Promise<Answer> {
  const { c, services, parameters } = call
  const { lock } = parameters
  const answer = await services.routing.anyone({
    lock,
    from: () => whereFrom(c.get('incoming')),
    limitMs,
    atStake: 'lock',
    ask: (place, leftMs) =>
      services.caller.call(lock, place, asked, { limitMs: leftMs, caller: callerOf(c) }),
  })
  if (answer.type === 'opened' || answer.type === 'gone') throw new Error('this opens nothing')
  return answer
}
