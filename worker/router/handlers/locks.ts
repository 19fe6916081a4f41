/** A lock as a whole: its configuration, the views of its participants, and what operators do to it. */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import type { Json } from '../../../shared/json.ts'
import { checkOptions } from '../../../shared/protocols/all.ts'
import { CHANGING_PROTOCOLS } from '../../../shared/protocols/members/which.ts'
import type { ParticipantCall, ParticipantStatus } from '../../participant/calls.ts'
import { json, malformed, pass, problemResponse } from '../answers.ts'
import { callerOf } from '../authentication.ts'
import { configurationFrom, describeConfiguration, differences } from '../configuration.ts'
import type { Handlers, RouterContext, Services } from '../context.ts'
import { statusOf } from '../lock-status.ts'
import { whereFrom } from '../nearest.ts'
import { addressOf, bodyOf, isNoSuchLock, type ProblemAnswer } from '../routing.ts'
import { mapLimited } from '../time-limit.ts'

export const lockHandlers = {
  configure: async ({ c, services, parameters: { lock }, body }) => {
    const { routing, caller, times, defaults } = services
    const from = whereFrom(c.get('incoming'))
    const wanted = configurationFrom(lock, defaults(lock), body, from)
    const refusal = checkConfiguration(c, defaults(lock), wanted) ?? checkFollow(c, wanted)
    if (refusal !== null) return refusal
    let told: LockConfiguration | null = null
    const answer = await routing.anyone({
      lock,
      from: () => from,
      limitMs: times.answerMs,
      ask: async (place, leftMs) => {
        const call: ParticipantCall = { type: 'configure', configuration: bornAt(wanted, place) }
        const asked = await caller.call(lock, place, call, { limitMs: leftMs })
        // A participant that says where the lock is has its configuration, which is all that was asked.
        if (asked.type !== 'answered' || asked.answer.type !== 'elsewhere') return asked
        told = asked.answer.configuration
        routing.learn(lock, told)
        return { type: 'answered', answer: { type: 'done', status: 200, body: null } }
      },
    })
    if (answer.type !== 'done') return pass(c, answer as Exclude<typeof answer, { type: 'gone' }>)
    const { created, configuration, born } =
      told === null
        ? bodyOf<Configured>(answer)
        : { created: false, configuration: told as LockConfiguration }
    routing.learn(lock, configuration)
    const different = differences(wanted, configuration)
    // Whoever says again what the lock was created with is right, whatever has become of it since.
    const wasBorn = born !== undefined && differences(wanted, born).length === 0
    if (different.length > 0 && !wasBorn) {
      const more = { configuration: describeConfiguration(lock, configuration) as unknown as Json }
      return problemResponse(c, 'conflict', `The lock is configured otherwise: ${different.join('; ')}.`, {
        more,
      })
    }
    return json(c, created ? 201 : 200, describeConfiguration(lock, configuration))
  },

  status: async ({ c, services, parameters: { lock } }) => {
    const views = await askAll<ParticipantStatus>(services, lock, () => ({ type: 'status' }))
    const refusal = refuseIfAbsent(c, services, lock, views)
    if (refusal !== null) return refusal
    return json(c, 200, statusOf(services, lock, views))
  },

  eject: async ({ c, services, parameters: { lock }, body }) => {
    const { routing, caller, times } = services
    const call: ParticipantCall = { type: 'eject', fence: body.fence ?? null }
    const answer = await routing.anyone({
      lock,
      from: () => whereFrom(c.get('incoming')),
      limitMs: times.answerMs,
      atStake: 'holder',
      ask: (place, leftMs) => caller.call(lock, place, call, { limitMs: leftMs, caller: callerOf(c) }),
    })
    return pass(c, answer as Exclude<typeof answer, { type: 'gone' }>)
  },
} satisfies Partial<Handlers>

interface Configured {
  readonly created: boolean
  readonly configuration: LockConfiguration
  /** What the lock was created with. Absent from a participant of an earlier version. */
  readonly born?: LockConfiguration
}

/** `400` if no lock of this service can be made of this; `null` if one can. */
export function checkConfiguration(
  c: RouterContext,
  defaults: LockConfiguration,
  wanted: LockConfiguration,
): Response | null {
  if (wanted.detector.timeoutMs <= wanted.detector.heartbeatMs) {
    return malformed(c, [
      { in: 'body', path: 'detector.timeoutMs', message: 'must be more than heartbeatMs' },
    ])
  }
  const processes = countProcesses(defaults)
  if (processes !== null && wanted.participants.length > processes) {
    const message = `must be at most ${processes}: this service has as many processes, and each holds one participant of a lock`
    return malformed(c, [{ in: 'body', path: 'participants', message }])
  }
  const problem = checkOptions(wanted.protocol, wanted.options ?? {}, wanted.participants.length)
  if (problem === null) return null
  const message = `do not fit: ${problem.replace(/\.$/, '')}`
  return malformed(c, [{ in: 'body', path: 'options', message }])
}

/** `400` if the lock could never follow its work: an import may bring one from earlier that was to. */
function checkFollow(c: RouterContext, wanted: LockConfiguration): Response | null {
  if (!wanted.follow) return null
  const why = !CHANGING_PROTOCOLS.includes(wanted.protocol)
    ? `the protocol ${wanted.protocol} cannot change the participants of a lock`
    : wanted.participants.some(({ location }) => location === null)
      ? 'each of the participants needs a location for that'
      : null
  if (why === null) return null
  return malformed(c, [{ in: 'body', path: 'follow', message: `cannot be true here: ${why}` }])
}

/** Each participant behind a URL is a process of its own; `null` if all are objects of this one. */
function countProcesses({ participants }: LockConfiguration): number | null {
  return participants.some(({ url }) => url !== null) ? participants.length : null
}

/**
 * The token begins where the lock is born, if that is one of its places: nobody has to be asked for it then.
 */
function bornAt(configuration: LockConfiguration, place: ParticipantPlace): LockConfiguration {
  const isOne = configuration.participants.some(({ id }) => id === place.id)
  return isOne ? { ...configuration, firstOwner: place.id } : configuration
}

// ---------------------------------------------------------------- asking everybody

/** As many requests as may wait at once; the time of each begins when it does. */
const MAX_AT_ONCE = 6

/** By participant; and the problems of those that answered with one. */
export class Answers<Body> extends Map<number, Body> {
  readonly problems = new Map<number, ProblemAnswer>()

  /**
   * That there is no such lock, if somebody says so who has asked those that would know, and nobody else has
   * it. A participant that was away may still have one of an earlier generation.
   */
  get absence(): ProblemAnswer | null {
    const bodies = [...this.values()] as readonly { readonly generation?: number }[]
    const latest = Math.max(0, ...bodies.map(({ generation = 1 }) => generation))
    const isLater = ({ more }: ProblemAnswer) => ((more?.generation ?? 1) as number) > latest
    return [...this.problems.values()].find(problem => isNoSuchLock(problem) && isLater(problem)) ?? null
  }
}

/**
 * If nobody knows anything of a lock, it may be that there is no such lock, or that nobody can tell. If
 * nobody answers at all, all are reported as unreachable: that never fails the call.
 */
export function refuseIfAbsent(
  c: RouterContext,
  { routing }: Services,
  lock: string,
  answers: Answers<unknown>,
): Response | null {
  const problems = [...answers.problems.values()]
  const isKnown = answers.size > 0 || routing.hasHeardOf(lock)
  const problem = answers.absence ?? (isKnown ? undefined : problems[0])
  return problem === undefined ? null : pass(c, problem)
}

/**
 * The answers of the participants that gave one. It asks those of the known configuration and, if their
 * answers name another one, those of that, and `others` as well; the default ones if nobody of them answers.
 * A participant for which there is nothing to ask (`null`) is left out.
 */
export async function askAll<Body>(
  services: Services,
  lock: string,
  callFor: (place: ParticipantPlace) => ParticipantCall | null,
  limitMs: number = services.times.statusMs,
  others: readonly ParticipantPlace[] = [],
): Promise<Answers<Body>> {
  const { routing, caller } = services
  const bodies = new Answers<Body>()
  const asked = new Set<string>()
  let isAnswered = false
  const isNew = (place: ParticipantPlace) => !asked.has(addressOf(place))
  for (;;) {
    const known = [...routing.configurationOf(lock).participants, ...others].filter(isNew)
    // If all of them are gone, the lock may be another one by now: the default participants hear of that.
    const places = known.length > 0 || isAnswered ? known : routing.defaultsOf(lock).filter(isNew)
    if (places.length === 0) return bodies
    await mapLimited(places, MAX_AT_ONCE, async place => {
      asked.add(addressOf(place))
      const call = callFor(place)
      isAnswered ||= call === null
      if (call === null) return
      const result = await caller.call(lock, place, call, { limitMs })
      routing.noteAnswer(lock, place.id, result.type === 'silent')
      if (result.type !== 'answered') return
      isAnswered = true
      if (result.answer.type === 'elsewhere') return routing.learn(lock, result.answer.configuration)
      if (result.answer.type === 'problem') bodies.problems.set(place.id, result.answer)
      if (result.answer.type !== 'done') return
      bodies.set(place.id, bodyOf<Body>(result.answer))
      const { configuration } = result.answer.body as { readonly configuration?: unknown }
      if (configuration !== undefined) routing.learn(lock, configuration as LockConfiguration)
    })
  }
}
