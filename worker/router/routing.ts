/**
 * Which participant serves a request. No single one is needed by all: the nearest that answers serves what
 * any of them can, and only what lives at one participant (a grant, a ticket) is asked of that one alone.
 *
 * Asking the next one after silence is safe, call by call:
 * - `get`, `list`, `status`, `history`: reads.
 * - `configure`: the participants agree on one configuration, whoever is asked.
 * - `transact`: its `opId` is applied once. But after a try whose fate is not known, nobody can say that it
 *   was *not* applied.
 * - `acquire`: it may be waiting, or granted, where nothing was heard of it: there it is withdrawn in the
 *   background.
 * - `eject`: it may force out a second holder, unless it says which one. It must work when the holder's own
 *   participant is the one that is gone.
 * - `delete`: it says which generation of the lock it means, and ends no other.
 * - `watch`, `session`: nothing has begun before the stream has.
 */
import type { LockConfiguration, ParticipantPlace } from '../../shared/api/configuration.ts'
import { NO_SUCH_LOCK as NO_SUCH_LOCK_DETAIL } from '../../shared/api/problems.ts'
import type { Json } from '../../shared/json.ts'
import type { ParticipantAnswer, ParticipantStatus } from '../participant/calls.ts'
import type { KnownConfigurations, Silences } from './memory.ts'
import { byNearness, type Coordinates } from './nearest.ts'
import type { Asked, ParticipantCaller, PassedAnswer } from './participants.ts'

export type Answer = Exclude<ParticipantAnswer, { readonly type: 'elsewhere' }> | PassedAnswer
export type ProblemAnswer = Extract<ParticipantAnswer, { readonly type: 'problem' }>

export type Routed =
  | Answer
  | { readonly type: 'opened'; readonly response: Response }
  /** The lock has no such participant (any more). */
  | { readonly type: 'gone' }

/**
 * An operation under one grant, one that has a new grant at each try, the holder that an operator wants out,
 * or the lock that one wants to end.
 */
export type Stake = 'operation' | 'transaction' | 'holder' | 'lock'

/** What to ask, whichever participant is asked. */
export interface Plan {
  readonly lock: string
  /** Where the request comes from: looked up only if there is a choice. */
  readonly from: () => Coordinates | null
  /** How long all of it may take, from the first question to the last. */
  readonly limitMs: number
  /** The lock comes into being with this, if there is none: then it has the participants of the defaults. */
  readonly createsLock?: true
  /** Every problem must say what became of it. */
  readonly atStake?: Stake
  /** Nothing is at stake: no problem says what became of it. */
  readonly onlyReads?: true
  /** Of the grant that this is about. */
  readonly fence?: number
  ask(place: ParticipantPlace, leftMs: number): Promise<Asked>
  /** Nothing was heard of this one, but it may have begun. */
  abandon?(place: ParticipantPlace): void
  /** The client has gone: nobody waits for an answer any more. */
  isOver?(): boolean
}

export interface RoutingServices {
  readonly caller: ParticipantCaller
  readonly configurations: KnownConfigurations
  readonly silences: Silences
  readonly now: () => number
  readonly onSilence: (lock: string, place: ParticipantPlace, reason: string) => void
}

interface Heard {
  readonly result: ParticipantAnswer | PassedAnswer | Extract<Asked, { readonly type: 'opened' | 'silent' }>
  /** The request may have been carried out, whatever the result says. */
  readonly leavesDoubt: boolean
}

/** How often a question may be sent on by participants that have no part in the lock. */
const MAX_REROUTES = 2
const STATUS_MS = 2_000

export class Routing {
  private readonly services: RoutingServices

  constructor(services: RoutingServices) {
    this.services = services
  }

  configurationOf(lock: string): LockConfiguration {
    return this.services.configurations.of(lock)
  }

  /** Whether a participant has told of this lock. */
  hasHeardOf(lock: string): boolean {
    return this.services.configurations.knows(lock)
  }

  /** Where every lock of this name begins. */
  defaultsOf(lock: string): readonly ParticipantPlace[] {
    return this.services.configurations.defaultsOf(lock)
  }

  /** Those that may have been participants before, as far as this router can know. */
  formerOf(lock: string): readonly ParticipantPlace[] {
    return this.services.configurations.formerOf(lock)
  }

  /** For how long a participant has been silent, if it has. */
  silentMs(lock: string, participant: number): number | undefined {
    return this.services.silences.silentMs(lock, participant, this.services.now())
  }

  /** A participant was asked beside the usual way: it answered, or was silent. */
  noteAnswer(lock: string, participant: number, isSilent: boolean): void {
    const { silences, now } = this.services
    if (isSilent) silences.note(lock, participant, now())
    else silences.end(lock, participant)
  }

  learn(lock: string, configuration: LockConfiguration): void {
    this.services.configurations.learn(lock, configuration)
  }

  /** The lock was deleted: a new one of its name may be made of something else. */
  forget(lock: string): void {
    this.services.configurations.forget(lock)
  }

  /** In the order in which they are asked: the nearest first, those that were silent lately last. */
  placesFor(lock: string, from: Coordinates | null): ParticipantPlace[] {
    const { configurations, silences, now } = this.services
    const time = now()
    const places = byNearness(configurations.of(lock).participants, from, configurations.firstOf(lock))
    const isSilent = (place: ParticipantPlace) => silences.isSilent(lock, place.id, time)
    return [...places.filter(place => !isSilent(place)), ...places.filter(isSilent)]
  }

  /** Asks the nearest participant, and the next one as long as nobody has answered. */
  async anyone(plan: Plan): Promise<Routed> {
    const { lock, limitMs } = plan
    const from = plan.from()
    const { now } = this.services
    const end = now() + limitMs
    const asked = new Set<string>()
    let reroutes = 0
    let failure: ProblemAnswer | null = null
    let isInDoubt = false
    const isNew = (candidate: ParticipantPlace) => !asked.has(addressOf(candidate))
    for (let leftMs = limitMs; ; leftMs = end - now()) {
      // If nobody of those that are known can help, the lock may be another one by now: the default
      // participants hear of that.
      const place = this.placesFor(lock, from).find(isNew) ?? this.defaultsOf(lock).find(isNew)
      if (place === undefined || leftMs <= 0 || reroutes > MAX_REROUTES || plan.isOver?.()) break
      asked.add(addressOf(place))
      const { result, leavesDoubt } = await this.ask(plan, place, leftMs)
      isInDoubt ||= leavesDoubt
      if (result.type === 'opened') return result
      if (result.type === 'silent') continue
      if (result.type === 'elsewhere') {
        this.learn(lock, result.configuration)
        reroutes++
      } else if (isFailure(result)) {
        failure ??= result
        if (result.outcome === 'unknown') isInDoubt = true
      } else return isInDoubt ? withDoubt(plan, result) : result
    }
    const problem = failure ?? unanswered(plan)
    return isInDoubt ? withDoubt(plan, problem) : problem
  }

  /** Asks this participant and nobody else. */
  async only(participant: number, plan: Plan): Promise<Routed> {
    const { lock, limitMs } = plan
    let place =
      this.services.configurations.placeOf(lock, participant) ?? (await this.locate(participant, plan))
    let isInDoubt = false
    const gone = (): Routed => (isInDoubt && isOperation(plan) ? unanswered(plan) : { type: 'gone' })
    for (let reroutes = 0; reroutes <= MAX_REROUTES; reroutes++) {
      if (place === 'no-lock') return plan.createsLock ? gone() : NO_SUCH_LOCK
      if (place === 'unknown') return unanswered(plan)
      if (place === null) return gone()
      const { result, leavesDoubt } = await this.ask(plan, place, limitMs)
      isInDoubt ||= leavesDoubt
      const isSilent = result.type === 'silent'
      // A number may be that of another machine, in a later lock of this name.
      if (isSilent && (place.address === undefined || plan.isOver?.())) return unanswered(plan, place)
      if (result.type === 'opened') return result
      if (result.type !== 'elsewhere' && !isSilent) return isInDoubt ? withDoubt(plan, result) : result
      if (result.type === 'elsewhere') this.learn(lock, result.configuration)
      const told = isSilent ? null : placeIn(this.configurationOf(lock), participant)
      const next: Located = told ?? (await this.locate(participant, plan))
      const isSame = isPlace(next) && addressOf(next) === addressOf(place)
      if (isSame) return isSilent ? unanswered(plan, place) : gone()
      place = next
    }
    return unanswered(plan)
  }

  private async ask(plan: Plan, place: ParticipantPlace, leftMs: number): Promise<Heard> {
    const { silences, now, onSilence } = this.services
    const result = await plan.ask(place, leftMs)
    if (result.type === 'overloaded') {
      if (result.isInDoubt) plan.abandon?.(place)
      return { result: overloaded(plan, place), leavesDoubt: true }
    }
    if (result.type === 'silent') {
      plan.abandon?.(place)
      if (plan.isOver?.()) return { result, leavesDoubt: true }
      silences.note(plan.lock, place.id, now())
      onSilence(plan.lock, place, result.reason)
      return { result, leavesDoubt: true }
    }
    silences.end(plan.lock, place.id)
    if (result.type === 'opened') return { result, leavesDoubt: false }
    const { answer, isInDoubt = false } = result
    // It has not looked at the second try, so the first may still be there.
    if (isInDoubt && answer.type === 'problem' && answer.code === 'too_many') plan.abandon?.(place)
    return { result: plan.onlyReads ? withoutOutcome(answer) : answer, leavesDoubt: isInDoubt }
  }

  /**
   * Where a participant is that this router has not heard of. One participant is asked first, then everybody:
   * one that has missed a change of the members knows nothing of those that have come.
   */
  private async locate(participant: number, { lock, from, fence }: Plan): Promise<Located> {
    const { caller, configurations } = this.services
    const status = (place: ParticipantPlace) =>
      caller.call(lock, place, { type: 'status' }, { limitMs: STATUS_MS })
    const told = await this.anyone({ lock, from, limitMs: 2 * STATUS_MS, ask: status })
    if (isNoSuchLock(told)) return 'no-lock'
    if (told.type !== 'done') return 'unknown'
    this.learn(lock, bodyOf<ParticipantStatus>(told).configuration)
    for (let round = 0; round <= MAX_REROUTES; round++) {
      const place = configurations.placeOf(lock, participant)
      if (place !== undefined) return place
      const set = configurations.of(lock)
      if (fence !== undefined && set.number > fence) return null
      const sets = (await Promise.all(set.participants.map(status))).map(setOf)
      for (const one of sets) if (typeof one === 'object') this.learn(lock, one)
      const isTheSame = (one: LockConfiguration) => addressesOf(one) === addressesOf(set)
      // Whoever decided on other members knows of them.
      if (sets.every(one => one === 'none' || (one !== 'unknown' && isTheSame(one)))) return null
      if (isTheSame(configurations.of(lock))) return 'unknown'
    }
    return 'unknown'
  }
}

/**
 * `null` if the lock has no participant of this number, `unknown` if nobody could say, and `no-lock` if there
 * is no such lock.
 */
type Located = ParticipantPlace | null | 'unknown' | 'no-lock'

const isPlace = (located: Located): located is ParticipantPlace =>
  located !== null && typeof located === 'object'

/** The members that a participant knows of; `none`: it knows of no such lock. */
function setOf(asked: Asked): LockConfiguration | 'none' | 'unknown' {
  if (asked.type !== 'answered') return 'unknown'
  const { answer } = asked
  if (answer.type === 'elsewhere') return answer.configuration
  if (answer.type === 'done') return bodyOf<ParticipantStatus>(answer).configuration
  return isNoSuchLock(answer) ? 'none' : 'unknown'
}

const addressesOf = ({ participants }: LockConfiguration): string => participants.map(addressOf).join()

export function placeIn(configuration: LockConfiguration, participant: number): ParticipantPlace | null {
  return configuration.participants.find(({ id }) => id === participant) ?? null
}

/** The same number behind another URL is another participant, and so is one with another address. */
export function addressOf({ id, url, address }: ParticipantPlace): string {
  return `${id} ${url ?? ''} ${address ?? ''}`
}

/** Another participant may do better: this one was silent, or is on the wrong side of a broken network. */
function isFailure(answer: Answer): answer is ProblemAnswer {
  return answer.type === 'problem' && answer.code === 'no_quorum'
}

/**
 * What an answer says of a call does not hold if an earlier try, here or elsewhere, may have done it; nor
 * does it say of an eject that nobody was, or of a delete that the lock stays. An answer that settles an
 * operation holds for all tries under the same grant: a `transact` has another one each time.
 */
function withDoubt(plan: Plan, answer: Answer): Answer {
  if (answer.type !== 'problem' || answer.outcome === 'applied') return answer
  const { settled, ...more } = answer.more ?? {}
  if (plan.atStake === 'operation' && settled === true) return answer
  if (isOperation(plan)) return { ...answer, more, outcome: 'unknown' }
  if (plan.atStake === 'holder' && answer.code === 'conflict')
    return { ...answer, detail: `${answer.detail} ${AFTER_A_DOUBT}`, outcome: 'unknown' }
  if (plan.atStake === 'lock' && answer.code === 'locked')
    return { ...answer, detail: `${answer.detail} ${HELD_BY_ITSELF}`, outcome: 'unknown' }
  return answer.outcome === undefined ? answer : { ...answer, outcome: 'unknown' }
}

function withoutOutcome<Given extends ParticipantAnswer | PassedAnswer>(answer: Given): Given {
  if (answer.type !== 'problem') return answer
  const { outcome: _, ...rest } = answer
  return rest as Given
}

const AFTER_A_DOUBT = 'But an earlier try of this call got no answer, and may have ejected it.'
const HELD_BY_ITSELF =
  'But an earlier try of this call was not settled: it may be what holds the lock, and may still delete it.'

const NO_SUCH_LOCK: ProblemAnswer = {
  type: 'problem',
  code: 'no_such_lock',
  detail: NO_SUCH_LOCK_DETAIL,
}

export const isNoSuchLock = (answer: Routed): boolean =>
  answer.type === 'problem' && answer.code === 'no_such_lock'

function isOperation({ atStake }: Plan): boolean {
  return atStake === 'operation' || atStake === 'transaction'
}

function unanswered(plan: Plan, place?: ParticipantPlace): ProblemAnswer {
  const who = place === undefined ? 'No participant' : `Participant ${place.id}`
  const hint = isOperation(plan) ? ' Ask again with the same opId to learn what became of the operation.' : ''
  const verb = place === undefined ? 'answered' : 'did not answer'
  return failureOf(plan, 'no_quorum', `${who} of this lock ${verb} in time.${hint}`)
}

function overloaded(plan: Plan, place: ParticipantPlace): ProblemAnswer {
  return failureOf(plan, 'too_many', `Participant ${place.id} of this lock has too much to do.`)
}

function failureOf(plan: Plan, code: 'no_quorum' | 'too_many', detail: string): ProblemAnswer {
  return {
    type: 'problem',
    code,
    detail,
    retryAfterSeconds: 1,
    ...(isOperation(plan) && { outcome: 'unknown' as const }),
  }
}

/** Bodies are made by participants of this very service: their types are a matter of trust. */
export function bodyOf<Body>(answer: { readonly body: Json }): Body {
  return answer.body as unknown as Body
}
