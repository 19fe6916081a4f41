/**
 * The interface of the machine "lock": the birth of a lock in front of its core. It has the shape of a
 * protocol (`recover`, `step`, `view`, `guarded`; see ../protocols/protocol.ts for the order of effects), and
 * an interpreter runs it in place of one.
 */
import type { LockConfiguration, ParticipantPlace } from '../api/configuration.ts'
import type {
  DurableRecord,
  Emitted,
  Limits,
  Members,
  ParticipantId,
  PresentMembers,
  Timing,
  UserInput,
} from '../protocols/protocol.ts'
import type { Resource } from '../resource/resource.ts'
import type { LedgerAnswer, LedgerQuestion } from './ledger-types.ts'
import type { AcceptedBallot, Incarnations, LockEnvelope } from './messages.ts'
import type { LockValue } from './value.ts'

/** What a step needs besides the state, and does not change. */
export interface LockContext {
  readonly lock: string
  readonly self: ParticipantId
  /** Of a participant that comes after the birth: where it is. It never takes part in a birth. */
  readonly address?: string
  /** The default participants of the deployment, numbered 1..n, for the life of the namespace. */
  readonly registrars: readonly ParticipantPlace[]
  /**
   * The configuration of a lock that nobody configured, as far as this version of the deployment is
   * concerned.
   */
  readonly defaults: LockConfiguration
  /** Processes can lose their storage one by one, so each has a ledger. Without one, blank means new. */
  readonly hasLedger: boolean
  /** `undefined` if the Worker has not registered a resource of this name. */
  resourceNamed(name: string): Resource | undefined
  readonly timing: Timing
  readonly limits: Limits
  readonly birth: BirthTiming
}

export interface BirthTiming {
  /** How long the first owner, or a majority of the registrars, may be silent before the next ballot. */
  readonly silentMs: number
  /** The longest interval between two ballots. */
  readonly silentMaxMs: number
  /** After this many ballots without a choice, callers that wait are told so. */
  readonly attempts: number
}

export const DEFAULT_BIRTH_TIMING: BirthTiming = { silentMs: 400, silentMaxMs: 5_000, attempts: 4 }

// ---------------------------------------------------------------- durable

/** The one record of the birth, under the key `birth`; all other records are the core's. */
export interface BirthRecord {
  readonly generation: number
  /** E_g: the tombstone of all earlier generations (G9). */
  readonly startEpoch: number
  readonly standing: Standing
  /** The incarnation of this participant's process when it became entitled. */
  readonly incarnation: number
  readonly known: Incarnations
  /** The cluster was founded so that no first owner begins with a weak lock alone (G13). */
  readonly isStrict?: true
  readonly promised: number
  readonly accepted: AcceptedBallot | null
  readonly chosen: LockValue | null
  /** The highest ballot that this participant has used as a proposer. */
  readonly ballot: number
  /** The value that the core's records belong to. */
  readonly core: LockValue | null
  /** Participants that have not answered yet that they know of this generation, at whoever began it. */
  readonly untold?: readonly Untold[]
  /** How many of them must, before the end of a lock without a log is known to a majority (G12). */
  readonly mustHear?: number
  /** Where participants are, or were, that came later and are no members any more. */
  readonly former?: Members
  /** The members since the last change of them that is known here. */
  readonly members?: PresentMembers
  /** Registrars that are no members and have not answered yet that they know of this, at a member. */
  readonly unmoved?: readonly ParticipantId[]
}

/**
 * One that is no registrar is told apart by its place, too: in the next lock of this name another one may
 * have its number. A number alone is where `former` says.
 */
export type Untold = ParticipantId | PastMember

export interface PastMember {
  readonly id: ParticipantId
  /** `''`: its lock was born with it. */
  readonly address: string
}

/** Whether this participant may vote in its generation (G1). */
export type Standing =
  | { readonly status: 'unknown' }
  /** Written before the ledger is asked: if the ledger has the same token, nothing was lost. */
  | { readonly status: 'fresh'; readonly token: string }
  | { readonly status: 'entitled' }
  /** The storage was lost, so a vote may be forgotten. */
  | { readonly status: 'lost' }

// ---------------------------------------------------------------- inputs and effects

export type LockInput =
  /** The first input after `recover`. `random` and `incarnation` differ from those of all other starts. */
  | { readonly type: 'start'; readonly now: number; readonly incarnation: number; readonly random: string }
  | {
      readonly type: 'message'
      readonly now: number
      readonly from: ParticipantId
      /** Where the sender is, if it came after the birth of its lock. */
      readonly address?: string
      readonly message: LockEnvelope
    }
  | { readonly type: 'timer'; readonly now: number; readonly timer: string }
  | { readonly type: 'unreachable'; readonly now: number; readonly peer: ParticipantId }
  /** Goes to the core. Refused (`not-a-member`) as long as there is no core that acts. */
  | { readonly type: 'user'; readonly now: number; readonly event: UserInput }
  /**
   * Somebody uses the lock here, and wants it born if it is not: `ready`, `elsewhere` or `unavailable`
   * follows. `toTry` says that it is for a `try`, which may leave for the first owner before this participant
   * knows what the lock is; `toLook` that the others say that it is born, and that nothing may begin here.
   */
  | { readonly type: 'use'; readonly now: number; readonly toTry?: boolean; readonly toLook?: boolean }
  | {
      readonly type: 'configure'
      readonly now: number
      readonly request: string
      readonly configuration: LockConfiguration
    }
  | { readonly type: 'ledger'; readonly now: number; readonly answer: LedgerAnswer }
  /**
   * The ledger has healed, and this lock is one of those whose participant here was lost: it must be taken
   * back. What was lost is of `generation`, or of an earlier one; without it, of whichever there is.
   */
  | {
      readonly type: 'finish'
      readonly now: number
      readonly incarnation: number
      readonly generation?: number
    }
  /**
   * The holder of a lock that guards no state ends this generation (G12). It counts no epochs, so `epoch`
   * is the one that it began in, and `length` the fences that were given since.
   */
  | { readonly type: 'end'; readonly now: number; readonly epoch: number; readonly length: number }

export type LockEffect =
  /**
   * With `clear`, all records of this machine are deleted first, in the same transaction. With `ended`, so is
   * everything that the interpreter keeps beside them: the history, what clients are still told.
   */
  | {
      readonly type: 'save'
      readonly clear?: true
      readonly ended?: true
      readonly records: readonly DurableRecord[]
      /** As for a protocol. */
      readonly mayWait?: true
    }
  /** With `address`, to the one that is there, whoever has its number in the present lock. */
  | {
      readonly type: 'send'
      readonly to: ParticipantId
      readonly address?: string
      readonly message: LockEnvelope
    }
  | { readonly type: 'set-timer'; readonly timer: string; readonly afterMs: number }
  | { readonly type: 'cancel-timer'; readonly timer: string }
  | { readonly type: 'emit'; readonly event: Emitted | BirthEvent }
  /** The answer comes as an input `ledger`; none comes if the ledger does not answer. */
  | { readonly type: 'ask-ledger'; readonly question: LedgerQuestion }
  /** The participant that was lost here has been taken back, or was no member. */
  | {
      readonly type: 'tell-ledger'
      readonly lock: string
      readonly generation: number
      readonly incarnation: number
    }
  /**
   * The last effect of its step: what the core has in memory must not be used any more. The interpreter
   * forgets the state and all timers, recovers from storage, and gives `start`.
   */
  | { readonly type: 'restart' }

/** What the machine says to its participant, besides what the core says. */
export type BirthEvent =
  /** The core takes events of users. `isTentative`: of those that try. Those that look wait on. */
  | { readonly type: 'ready'; readonly isTentative?: true }
  /** The lock has a configuration that does not include this participant. */
  | { readonly type: 'elsewhere'; readonly configuration: LockConfiguration }
  | {
      readonly type: 'configured'
      readonly request: string
      /** What the lock was born with, and what it is made of now. */
      readonly born: LockConfiguration
      readonly configuration: LockConfiguration
      /** The lock was born by this request. */
      readonly created: boolean
    }
  | {
      readonly type: 'configuration-refused'
      readonly request: string
      readonly detail: string
      /** Such a lock cannot be, or only so many may ask for one at once. */
      readonly why: 'impossible' | 'too-many'
    }
  /** The lock that was here is deleted, and this generation comes after it. */
  | { readonly type: 'ended'; readonly generation: number }
  /** All others have answered that they know of the end that this participant has told them of. */
  | { readonly type: 'told' }
  /** Whoever waits for the birth (all uses, all requests to configure) should not wait any longer. */
  | { readonly type: 'unavailable'; readonly reason: Unavailable; readonly detail: string }

export type Unavailable =
  /** A majority of the registrars does not answer, or has no vote. */
  | 'no-majority'
  /** One that does not answer might let a user into a weak lock where a strict one is wanted (G13). */
  | 'no-first-owner'
  /** This process has not been founded, or has lost its storage and is not healed. */
  | 'not-ready'
  /** The lock guards a resource that this Worker does not have. */
  | 'no-resource'

/** What the birth says about itself, for status pages. */
export interface BirthView {
  readonly generation: number
  readonly standing: Standing['status']
  /** `parked`: there is a core, but it must be silent until the choice is known (G3). */
  readonly core: CoreMode
  /** What the lock is, as far as it is known here, and whether it is known to be chosen. */
  readonly value: LockValue | null
  readonly isChosen: boolean
  /** The members, if they are not those that the lock was born with. */
  readonly members: PresentMembers | null
}

export type CoreMode = 'none' | 'tentative' | 'active' | 'parked'
