/**
 * What a participant does that has nothing in its storage. Either its lock is being born, or it has lost
 * everything (trap D2), and it cannot tell by itself. It first learns the lock's configuration from the
 * registrars, proposing one if there is none; then it asks the other participants. If one of them is a
 * member, this one must be taken back by them. If none is and a majority is as blank as itself, the lock is
 * born here and now.
 */
import type { LockConfiguration, ParticipantPlace } from '../../../shared/api/configuration.ts'
import { ballotAbove, type RegistrarAnswer, valueToPropose } from '../../../shared/birth.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import type { BirthRequest, PeerAnswer } from '../peers/requests.ts'

export interface BirthHost {
  readonly self: number
  /** The participants that every lock has by default. */
  readonly registrars: readonly ParticipantPlace[]
  /** Asks a participant, possibly this one itself. */
  ask(place: ParticipantPlace, request: BirthRequest): Promise<PeerAnswer>
  /**
   * Waits for a random while that grows with the attempts, so that two proposers do not outbid each other for
   * ever.
   */
  backOff(attempt: number): Promise<void>
  /** The configuration, if somebody has told this participant meanwhile. */
  known(): LockConfiguration | undefined
}

export class NoMajority extends Error {}

const MAX_BALLOTS = 10

/** The configuration that the registrars have chosen or now choose; `wanted` if nobody came before. */
export async function agreeOnConfiguration(
  host: BirthHost,
  wanted: LockConfiguration,
): Promise<LockConfiguration> {
  let highest = 0
  for (let attempt = 0; attempt < MAX_BALLOTS; attempt++) {
    if (attempt > 0) await host.backOff(attempt)
    const known = host.known()
    if (known !== undefined) return known
    const ballot = ballotAbove(highest, host.self)
    const promises = await askRegistrars(host, { type: 'prepare', ballot })
    highest = highestSeen(highest, ballot, promises)
    if (!isMajority(host, promises)) continue
    const configuration = valueToPropose(promises, wanted)
    const acceptances = await askRegistrars(host, { type: 'accept', ballot, configuration })
    if (isMajority(host, acceptances)) return configuration
    highest = highestSeen(highest, ballot, acceptances)
  }
  throw new NoMajority('the participants that know the configuration of this lock did not agree in time')
}

async function askRegistrars(
  host: BirthHost,
  request: BirthRequest,
): Promise<RegistrarAnswer<LockConfiguration>[]> {
  const answers = await askAll(host, host.registrars, request)
  const given = answers.flatMap(answer => (answer?.type === 'registrar' ? [answer.answer] : []))
  if (given.length < majority(host.registrars.length)) {
    throw new NoMajority(
      'a majority of the participants that know the configuration of this lock is not reachable',
    )
  }
  return given
}

const isMajority = (host: BirthHost, answers: readonly RegistrarAnswer<LockConfiguration>[]): boolean =>
  answers.filter(answer => answer.ok).length >= majority(host.registrars.length)

function highestSeen(
  highest: number,
  ballot: number,
  answers: readonly RegistrarAnswer<LockConfiguration>[],
): number {
  return answers.reduce(
    (most, answer) => (answer.ok ? most : Math.max(most, answer.promised)),
    Math.max(highest, ballot),
  )
}

/** `true`: take part from the start. `false`: ask to be taken back. The other founders are told. */
export async function isBirth(
  host: BirthHost,
  configuration: LockConfiguration,
  now: number,
): Promise<boolean> {
  const others = configuration.participants.filter(place => place.id !== host.self)
  const answers = await askAll(host, others, { type: 'introduce', configuration })
  const statuses = answers.map(answer => (answer?.type === 'status' ? answer.status : 'silent'))
  if (statuses.includes('member')) return false
  const blank = 1 + statuses.filter(status => status === 'blank').length
  if (blank < majority(configuration.participants.length)) {
    throw new NoMajority('too few participants are reachable for this lock to be born')
  }
  await askAll(host, others, { type: 'found', configuration, bornAt: now })
  return true
}

function askAll(
  host: BirthHost,
  places: readonly ParticipantPlace[],
  request: BirthRequest,
): Promise<(PeerAnswer | null)[]> {
  return Promise.all(places.map(place => host.ask(place, request).catch(() => null)))
}
