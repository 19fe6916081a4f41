/**
 * What is agreed when a lock is born, and what follows from the lock's name and the registrars alone.
 *
 * The registrars are the default participants of the deployment: one list for the life of the namespace,
 * numbered 1..n.
 */
import type { LockConfiguration, ParticipantPlace } from '../api/configuration.ts'
import type { Json } from '../json.ts'
import { protocolNamed } from '../protocols/all.ts'
import type { ParticipantId } from '../protocols/protocol.ts'
import { digest, hashText } from '../resource/canonical.ts'

/**
 * The value that the registrars choose once in each generation of a lock; `configuration.firstOwner` is a
 * part of it.
 */
export interface LockValue {
  readonly configuration: LockConfiguration
  /**
   * The epoch in which the core begins: E_g for ballot 0, one more for all others, so that no fence is used
   * twice.
   */
  readonly startEpoch: number
  /**
   * The lock was born before ledgers were kept, and before it was agreed who takes part from the start: a
   * participant that finds nothing of it may have lost it.
   */
  readonly isOlder?: true
}

/**
 * The fences of a lock are counted per epoch, so each generation begins in an epoch above all that came
 * before.
 */
export const EPOCHS_OF_A_BALLOT = 1

const digests = new WeakMap<LockValue, string>()

/** Together with the generation it is the identity of the lock, and in every message. */
export function digestOf(value: LockValue): string {
  let known = digests.get(value)
  if (known === undefined) {
    known = digest(value as unknown as Json)
    digests.set(value, known)
  }
  return known
}

export const isSame = (one: LockValue, other: LockValue): boolean =>
  one === other || digestOf(one) === digestOf(other)

/** The one registrar that may use ballot 0. */
export function firstOwnerOf(lock: string, registrars: number): ParticipantId {
  return (Number.parseInt(hashText(lock).slice(0, 8), 16) % registrars) + 1
}

/**
 * Whether a lock with this configuration may be born with ballot 0, where acting in the core is the
 * acceptance of the value. It must have the registrars as its participants, and a participant that lets a
 * user in for good must have heard from a majority of them:
 *   - wme-1, wme-2: an operation needs a majority; a grant that nobody else has heard of yet is told apart by
 *     its epoch;
 *   - wme-consensus: a grant is a decision, which needs a majority;
 *   - ricart-agrawala: a grant needs a reply of every other participant, unless an option makes silence or
 *     death a reply;
 *   - maekawa: the sets are smaller than majorities, so such a lock is born with a ballot of two round trips.
 */
export function allowsBallotZero(configuration: LockConfiguration, registrars: number): boolean {
  if (configuration.participants.length !== registrars) return false
  if (configuration.protocol === 'maekawa') return false
  return configuration.protocol !== 'ricart-agrawala' || configuration.options === undefined
}

/**
 * Whether a grant of this protocol may be one that others do not know of. Such a grant ends once its holder
 * hears of the others. The other protocols promise that there is none, so whoever could give one in ballot 0
 * must no longer be able to (G13).
 */
export const isWeak = ({ protocol }: LockConfiguration): boolean =>
  protocol === 'wme-1' || protocol === 'wme-2'

export const isMember = (value: LockValue, participant: ParticipantId): boolean =>
  participant >= 1 && participant <= value.configuration.participants.length

/**
 * Whether the lock is born with this very participant. One that came later to a lock that was deleted may
 * have the number of another one that the next lock of the name is born with.
 */
export const isBornWith = (
  value: LockValue,
  { self, address }: { readonly self: ParticipantId; readonly address?: string },
): boolean => address === undefined && isMember(value, self)

/** Whether a lock with this configuration can get other members. */
export const changesMembers = ({ protocol, options }: LockConfiguration): boolean =>
  protocolNamed(protocol).changesMembers(options ?? {})

/**
 * Whether a participant with this number can be a member: one that the lock was born with, or one that came
 * later. Which of those are members is for the core to say.
 */
export const mayTakePart = (value: LockValue, participant: ParticipantId): boolean =>
  isMember(value, participant) || (participant > 0 && changesMembers(value.configuration))

/** Whether a participant is one that came after the birth of a lock whose members can change. */
export const isNewcomer = (
  { self, address }: { readonly self: ParticipantId; readonly address?: string },
  value: LockValue,
): boolean => address !== undefined && !isMember(value, self) && mayTakePart(value, self)

/**
 * Returns why a lock cannot have this configuration, or `null`. Where processes are apart (a place has a
 * `url`), the number of a participant says in which process it is. A participant with another number would be
 * "here" for every process: a brain for each of them.
 */
export function refusalOf(
  configuration: LockConfiguration,
  registrars: readonly ParticipantPlace[],
): string | null {
  const { participants } = configuration
  if (participants.length === 0 || participants.some(({ id }, index) => id !== index + 1))
    return 'The participants of a lock are numbered from 1 on.'
  if (registrars.every(({ url }) => url === null)) {
    return participants.every(({ url }) => url === null)
      ? null
      : 'No participant of this deployment is behind a URL.'
  }
  if (participants.length > registrars.length)
    return `This deployment has ${registrars.length} processes, so a lock has at most as many participants.`
  return participants.every(({ url }, index) => url === registrars[index]!.url)
    ? null
    : 'Each participant is in the process that has its number.'
}
