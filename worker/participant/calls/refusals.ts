/** What a participant refuses, in the words of the public contract. */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { API_LIMITS } from '../../../shared/api/limits.ts'
import { NO_SUCH_LOCK } from '../../../shared/api/problems.ts'
import { GUARDING_PROTOCOLS, SHARING_PROTOCOLS } from '../../../shared/protocols/all.ts'
import type { Ending, PendingOutcome, Refusal } from '../../../shared/protocols/protocol.ts'
import { MAX_DEPTH } from '../../../shared/resource/canonical.ts'
import type { ParticipantAnswer } from '../calls.ts'

export type ProblemAnswer = Extract<ParticipantAnswer, { readonly type: 'problem' }>

/** What the protocol refused. `opId` is that of the operation at stake, if one is. */
export function refusalProblem(refusal: Refusal, opId?: string): ProblemAnswer {
  switch (refusal.code) {
    case 'grant-over':
      return overProblem(refusal.ending, opId, refusal.outcome)
    case 'conflict':
      return opIdConflict
    case 'too-large':
      return {
        type: 'problem',
        code: 'too_large',
        detail: `The operation is too large: it may weigh ${API_LIMITS.batchWeight} units, and be nested ${MAX_DEPTH} levels deep.`,
        outcome: 'not-applied',
      }
    case 'too-many-waiters':
      return {
        ...tooMany('Too many users, linearizable reads or operators wait at this participant of the lock.'),
        ...(opId !== undefined && { outcome: 'not-applied' }),
      }
    case 'not-a-member':
      return noMember
    case 'elsewhere':
      return hasLeft
    case 'ended':
      return { ...lockDeleted, ...(opId !== undefined && { outcome: 'not-applied' }) }
    case 'other-members':
    case 'not-reached':
    case 'no-such-members':
      return membersNotChanged
    case 'not-supported':
      return {
        type: 'problem',
        code: 'not_supported',
        detail: 'The protocol of this lock cannot do this.',
        ...(opId !== undefined && { outcome: 'not-applied' }),
      }
    case 'busy':
      return unsettled
    case 'not-waiting':
      return noSuchTicket
  }
}

/** It may be behind; or there is no such generation, which it cannot know. */
export const unknownGeneration = (known: number, wanted: number): ProblemAnswer => ({
  type: 'problem',
  code: 'no_quorum',
  detail:
    `The participants that answer know generation ${known} of this lock, and none with the number ${wanted}. ` +
    'Ask again if you have heard of it; without `generation`, the present one is deleted.',
  retryAfterSeconds: 1,
})

/**
 * Also said by a participant that has just lost its place while a caller waited for it. Nothing was begun.
 */
export const noMember: ProblemAnswer = {
  type: 'problem',
  code: 'no_quorum',
  detail: 'The others are taking this participant back into the lock. Ask again, or ask another participant.',
  outcome: 'not-applied',
  retryAfterSeconds: 1,
}

/** Said to whoever is connected to a participant that is no member any more. */
export const hasLeft: ProblemAnswer = {
  type: 'problem',
  code: 'no_quorum',
  detail: 'This participant has left the lock, which goes on elsewhere. Connect again.',
  retryAfterSeconds: 1,
}

/** Of whoever waited for something else than the lock. */
export const deletedMeanwhile: ProblemAnswer = {
  type: 'problem',
  code: 'no_such_lock',
  detail: 'The lock was deleted while this request waited.',
}

/** Of whoever waited for the lock. Nothing was begun. */
export const lockDeleted: ProblemAnswer = {
  ...deletedMeanwhile,
  detail: `${deletedMeanwhile.detail} Asking again creates a new lock of this name.`,
}

/** Of a session, whether or not it waited for anything. */
export const sessionOfDeleted: ProblemAnswer = {
  type: 'problem',
  code: 'no_such_lock',
  detail: 'The lock was deleted. A new session creates a new lock of this name.',
}

/**
 * Why a lock cannot be deleted, or `null`. The holder ends a lock without a log by never letting go: that is
 * no use where silence, or death, counts as permission.
 */
export function cannotEnd({ protocol, options }: LockConfiguration): ProblemAnswer | null {
  const unsafe = (['implicitReply', 'declareDeadAfterMs'] as const).find(
    name => options?.[name] !== undefined,
  )
  if (unsafe === undefined) return null
  const detail =
    `A lock with the protocol ${protocol} and the option ${unsafe} cannot be deleted: its participants may go on ` +
    'without hearing of it. Locks with other protocols, or without this option, can.'
  return { type: 'problem', code: 'not_supported', detail }
}

const membersNotChanged: ProblemAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'The members of the lock were not changed.',
}

/** A protocol without a log: there is no state, and nobody can tell the order of events elsewhere. */
export const guardsNothing: ProblemAnswer = {
  type: 'problem',
  code: 'not_supported',
  detail:
    'The protocol of this lock guards no state, so there is nothing to change, to read or to watch. ' +
    `Configure a lock with one of ${GUARDING_PROTOCOLS.join(', ')} for that.`,
}

/** Of an `acquire` with `mode: "shared"`. */
export function cannotShare({ protocol, options }: LockConfiguration): ProblemAnswer {
  const able = SHARING_PROTOCOLS.join(', ')
  const why = SHARING_PROTOCOLS.includes(protocol)
    ? `The protocol ${protocol} has no shared mode with these options: ${Object.keys(options ?? {}).join(', ')}.`
    : `The protocol of this lock, ${protocol}, has no shared mode; the protocols that have one are: ${able}.`
  const detail = `${why} Acquire the lock with \`"mode": "exclusive"\`, or configure another lock.`
  return { type: 'problem', code: 'not_supported', detail }
}

export const tooMany = (detail: string): ProblemAnswer => ({
  type: 'problem',
  code: 'too_many',
  detail,
  retryAfterSeconds: 1,
})

export const shareTaken = tooMany(
  'This key has its share of the places for waiting at this participant. Let fewer of its clients wait at once.',
)

/** Said of an operation that was not issued. */
export const stateTooLarge: ProblemAnswer = {
  type: 'problem',
  code: 'too_large',
  detail:
    `The operation was not issued, because the lock would hold more than it may: ${API_LIMITS.stateWeight} units in all ` +
    `its keys and values, ${API_LIMITS.resultsWeight} in the results that it remembers. Delete something first.`,
  outcome: 'not-applied',
}

export const unsettled: ProblemAnswer = {
  type: 'problem',
  code: 'no_quorum',
  detail:
    'A majority of the participants did not answer in time. Ask again with the same opId to learn the outcome.',
  outcome: 'unknown',
  retryAfterSeconds: 1,
}

/** The same of what has no `opId`. */
export const unconfirmed: ProblemAnswer = {
  ...unsettled,
  detail: 'A majority of the participants did not answer in time. It may still happen. Ask again.',
}

/** Of a lock that guards no state: its holder has ended it, and a majority does not know. */
export const deletedUnheard: ProblemAnswer = {
  ...unsettled,
  detail:
    'The lock has ended at its holder, but a majority of the participants has not heard of that yet. Ask again.',
}

/** Of a lock that guards no state: nobody is ejected until all have said who is inside. */
export const notAllAnswered: ProblemAnswer = {
  ...unsettled,
  detail:
    'Not all participants answered in time, and this protocol needs all of them for that. ' +
    'It may still happen. Ask again.',
}

/** The grant is the call's own: whoever has made it knows nothing of that. */
export const ejectedWhileDeleting: ProblemAnswer = {
  ...unsettled,
  detail:
    'The lock was taken from this call before all knew that it is deleted. It may still happen. Ask again.',
}

export const noSuchTicket: ProblemAnswer = {
  type: 'problem',
  code: 'no_such_ticket',
  detail:
    'There is no such ticket. It was never given out, it was withdrawn, or nobody asked for it in time.',
}

/** Of an `acquire` that comes after its withdrawal. */
export const withdrawnProblem: ProblemAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'This waiter was withdrawn: it neither waits nor is given the lock.',
}

export const opIdConflict: ProblemAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'This opId was used for another operation. Give each operation an opId of its own.',
  outcome: 'not-applied',
}

/** Its receiver knows it by its identity: it is the same object each time. */
export const noSuchLock: ProblemAnswer = {
  type: 'problem',
  code: 'no_such_lock',
  detail: NO_SUCH_LOCK,
}

/** Another participant may know. */
export const existenceUnknown: ProblemAnswer = {
  type: 'problem',
  code: 'no_quorum',
  detail: 'Those that must know whether this lock exists do not answer, or have lost their storage.',
  retryAfterSeconds: 1,
}

/** For an `eject` with a fence. */
export const anotherHolder: ProblemAnswer = {
  type: 'problem',
  code: 'conflict',
  detail: 'The present holder, if there is one, does not have this fence. It stays.',
}

/** Another participant may know. */
export const holderUnknown: ProblemAnswer = {
  type: 'problem',
  code: 'no_quorum',
  detail: 'No participant that answers knows whether the holder has this fence. Nobody was ejected.',
  retryAfterSeconds: 1,
}

/** Of an import that has failed: it ejects nobody, so another participant may know more. */
export const heldElsewhere: ProblemAnswer = {
  type: 'problem',
  code: 'no_quorum',
  detail: 'Somebody holds the lock at another participant, which knows whether that is the import.',
  retryAfterSeconds: 1,
}

/**
 * The grant is over. The answer says what became of `opId` under it: `known` if the protocol knows, which
 * looks into the table of results. All operations of a grant that has ended are settled, so `not-applied`
 * holds whichever request under this grant has brought the operation.
 */
export function overProblem(
  ending: Omit<Ending, 'user'> | null,
  opId: string | undefined,
  known?: PendingOutcome['outcome'],
): ProblemAnswer {
  const code = ending === null ? 'ejected' : CODE_OF_ENDING[ending.reason]
  const pending = ending?.pending?.opId === opId ? ending?.pending?.outcome : undefined
  const outcome = known ?? pending ?? (ending === null ? 'unknown' : 'not-applied')
  const detail =
    ending === null ? 'The grant is over; how it ended is no longer known.' : DETAIL_OF_ENDING[ending.reason]
  if (opId === undefined) return { type: 'problem', code, detail }
  return { type: 'problem', code, detail, outcome, ...(outcome === 'not-applied' && SETTLED) }
}

const SETTLED = { more: { settled: true } } as const

const CODE_OF_ENDING = {
  released: 'released',
  suspected: 'ejected',
  operator: 'ejected',
  expired: 'expired',
} as const

const DETAIL_OF_ENDING = {
  released: 'The grant was released.',
  suspected:
    'The holder was ejected: its participant was suspected to be gone, and the others went on without it.',
  operator: 'The holder was ejected by an operator.',
  expired: 'The grant was not kept alive in time.',
} as const
