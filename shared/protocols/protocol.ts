/**
 * The one interface of all protocols. A protocol is a synchronous step from a participant's state and one
 * input to effects, which are data. It has no clock, no randomness, no I/O and no `await`: the Durable
 * Object, the simulator, the explorer and the browser are short interpreters of the same effects.
 *
 * An interpreter runs the effects of one step in order:
 *   1. `save`, at most one and always first: all its records become durable in one transaction, or none does
 *      (and those of a save that `mayWait` with the next one that may not);
 *   2. only then `send`, `set-timer`, `cancel-timer` and `emit`. The interpreter may crash between any two of
 *      them. It comes back with what was saved and nothing else.
 */
import type { EjectionReason } from '../history/events.ts'
import type { Json } from '../json.ts'
import type { Invocation, Replica } from '../resource/replica.ts'
import type { CellChange, Cells, Resource } from '../resource/resource.ts'

/** Participants of a lock are numbered 1..N at first. A participant that comes later gets a higher number. */
export type ParticipantId = number

/**
 * The members of a lock by number, and where each of them is. What an address means is the interpreter's
 * business; those that the lock was born with have an empty one, because its configuration says it.
 */
export type Members = { readonly [participant: string]: string }

/** The protocols with a token that moves through a replicated log. */
export type WmeName = 'wme-1' | 'wme-2'

/** The protocols that guard no state: a lock and nothing else. */
export type LockOnlyName = 'ricart-agrawala' | 'maekawa'

export type ProtocolName = WmeName | 'wme-consensus' | LockOnlyName

/** Readers share a lock with readers (Ricart and Agrawala, section 6.6). */
export type Mode = 'exclusive' | 'shared'

/**
 * The format of the messages that this code writes. A message in another format is refused, not guessed at.
 */
export const MESSAGE_FORMAT = 1

/**
 * The format of messages that speak of a change of the members, and of all that participants say after one:
 * versions that know nothing of such changes refuse them, and hear nothing until they are replaced.
 */
export const MEMBERS_FORMAT = 2

export const isKnownFormat = (format: number): boolean =>
  format === MESSAGE_FORMAT || format === MEMBERS_FORMAT

export interface Envelope<Message> {
  readonly format: number
  /** The number of the lock's configuration (its set of members) that the sender knows. */
  readonly configuration: number
  readonly body: Message
}

// ---------------------------------------------------------------- inputs

/**
 * `now` is the participant's own clock in milliseconds. It may differ from every other participant's clock.
 */
export type Input<Message> =
  /**
   * The first input after `recover`. `genesis` says that this participant is one of those the lock is born
   * with: only then may a participant with empty storage take part at once (traps D2, D3). `incarnation` is a
   * number from 1 to 2^48, drawn at random for each start so that no two starts share one. It is not a time,
   * and a later incarnation need not be higher.
   */
  | { readonly type: 'start'; readonly now: number; readonly genesis: boolean; readonly incarnation: number }
  | {
      readonly type: 'message'
      readonly now: number
      readonly from: ParticipantId
      readonly message: Envelope<Message>
    }
  | { readonly type: 'timer'; readonly now: number; readonly timer: string }
  | { readonly type: 'user'; readonly now: number; readonly event: UserInput }
  /** The transport could not deliver something to this peer. This is a hint and may be wrong. */
  | { readonly type: 'unreachable'; readonly now: number; readonly peer: ParticipantId }

/**
 * What users say to their stub. A user's name is unique at its participant. An event that is said again (a
 * retry after a lost answer) is answered again and changes nothing.
 */
export type UserInput =
  | {
      readonly type: 'try'
      readonly user: string
      /** How long the grant lasts without a keep-alive. */
      readonly ttlMs: number
      /** How long to wait before giving up. Default: until the request is withdrawn. */
      readonly waitMs?: number
      /**
       * Send `crit` only once a majority holds the grant, so that local reads and effects outside the lock
       * are safe at once.
       */
      readonly confirm?: boolean
      /** Default: exclusive. */
      readonly mode?: Mode
    }
  | { readonly type: 'withdraw'; readonly user: string }
  | {
      readonly type: 'issue'
      readonly user: string
      readonly fence: number
      readonly opId: string
      readonly operation: Json
      /**
       * Leave as soon as the operation is applied, in the step that says so: `rem` follows the outcome. A
       * protocol that cannot do this leaves the user inside, until it says `exit`.
       */
      readonly thenExit?: true
    }
  | { readonly type: 'exit'; readonly user: string; readonly fence: number }
  | { readonly type: 'keep-alive'; readonly user: string; readonly fence: number; readonly ttlMs: number }
  /** A linearizable read: `readable` follows once this replica has everything that was committed before. */
  | { readonly type: 'read'; readonly request: string }
  | { readonly type: 'cancel-read'; readonly request: string }
  /**
   * An operator forces the present holder out, wherever it is. `request` names the answer. With a `fence`,
   * only the holder that has this fence is forced out. (A protocol that guards state may leave it to its
   * interpreter to check `latestFence` first.)
   */
  | { readonly type: 'eject'; readonly request: string; readonly fence?: number }
  /** An operator makes this participant leave the group or come back. `request` names the answer. */
  | { readonly type: 'membership'; readonly request: string; readonly wish: 'leave' | 'join' }
  /**
   * An operator changes the members of the lock: `members` are to be those, instead of the set that is called
   * `base`. Numbers of new ones are higher than all that were ever used. Said again with the same `id`, it is
   * the same change. `request` names the answer.
   */
  | {
      readonly type: 'change-members'
      readonly request: string
      readonly id: string
      readonly base: number
      readonly members: Members
    }

// ---------------------------------------------------------------- effects

export type Effect<Message> =
  /**
   * `mayWait`: these records follow from a log that a majority holds, or are of a user that has come and of
   * which nobody was told (W9). So the interpreter may make them durable later: together with the next save
   * that may not wait, or earlier. A crash before that takes them, and the participant then comes back as if
   * the step had never been, and does it again; the user asks again. What the step says and sends stays true
   * all the same.
   */
  | { readonly type: 'save'; readonly records: readonly DurableRecord[]; readonly mayWait?: true }
  | { readonly type: 'send'; readonly to: ParticipantId; readonly message: Envelope<Message> }
  /** Setting a timer that is already set moves it. */
  | { readonly type: 'set-timer'; readonly timer: string; readonly afterMs: number }
  | { readonly type: 'cancel-timer'; readonly timer: string }
  | { readonly type: 'emit'; readonly event: Emitted }

/**
 * One change of the durable state. A value of `null` deletes the record. Values are immutable, so they may be
 * kept by reference.
 */
export interface DurableRecord {
  readonly key: string
  readonly value: Json | null
}

export type Emitted = UserOutput | ReplicaOutput | MembersOutput

/** What a stub says to its users. */
export type UserOutput =
  | {
      readonly type: 'crit'
      readonly user: string
      readonly fence: number
      readonly epoch: number
      readonly sequence: number
      readonly expiresAt: number
      /** Whether a majority holds the grant already. If not, `confirmed` follows. */
      readonly confirmed: boolean
    }
  | { readonly type: 'confirmed'; readonly user: string; readonly fence: number }
  | {
      readonly type: 'outcome'
      readonly user: string
      readonly fence: number
      readonly opId: string
      readonly sequence: number
      readonly result: Json
    }
  | { readonly type: 'rem'; readonly user: string; readonly fence: number }
  | {
      readonly type: 'ejected'
      readonly user: string
      readonly fence: number
      readonly reason: EjectionReason
      readonly pending?: PendingOutcome
    }
  | { readonly type: 'withdrawn'; readonly user: string; readonly reason: 'asked' | 'timeout' }
  | { readonly type: 'kept'; readonly user: string; readonly fence: number; readonly expiresAt: number }
  | {
      readonly type: 'refused'
      readonly user: string
      readonly event: UserInput['type']
      readonly refusal: Refusal
      /** The operation that was refused, if the event was one. */
      readonly opId?: string
    }
  | { readonly type: 'eject-done'; readonly request: string; readonly epoch: number }
  | { readonly type: 'membership-done'; readonly request: string; readonly wish: 'leave' | 'join' }
  | { readonly type: 'readable'; readonly request: string; readonly sequence: number }
  /** These are the members now, and a majority of them has everything: nobody else is needed any more. */
  | ({ readonly type: 'members-changed'; readonly request: string } & PresentMembers)

/** A set of members, and the name of it. */
export interface PresentMembers {
  readonly configuration: number
  readonly members: Members
}

export interface PendingOutcome {
  readonly opId: string
  /**
   * `not-applied`: no participant will ever apply it. `unknown`: the table of results no longer reaches back
   * that far.
   */
  readonly outcome: 'not-applied' | 'unknown'
}

/** Expected refusals are values; only defects throw. */
export type Refusal =
  /**
   * The grant is over. `ending` says how it ended, as long as that is remembered. For an `issue`, `outcome`
   * says what became of this `opId` under this grant. The `opId` is not in the table of results, so it was
   * not applied, unless its result may have been dropped from the table. "Once" lasts as long as the table
   * remembers, which is `resultsKept` operations of the lock: after that an `opId` under a grant that is over
   * is `unknown`, and one under a new grant is a new operation.
   */
  | {
      readonly code: 'grant-over'
      readonly ending: Ending | null
      readonly outcome?: PendingOutcome['outcome']
    }
  /** Another operation under this grant is pending. */
  | { readonly code: 'busy' }
  /** The `opId` was already used for a different operation. */
  | { readonly code: 'conflict' }
  /** The operation is larger, or nested deeper, than a log entry may be. */
  | { readonly code: 'too-large' }
  | { readonly code: 'too-many-waiters' }
  | { readonly code: 'not-waiting' }
  /** The lock was deleted while its user waited. */
  | { readonly code: 'ended' }
  /** This participant is not a member (yet, or again). */
  | { readonly code: 'not-a-member' }
  /** This participant is not a member any more. These are, as far as it knows: a hint whom to ask. */
  | ({ readonly code: 'elsewhere'; readonly epoch: number } & PresentMembers)
  /** Another change of the members came first: these are the members now. */
  | ({ readonly code: 'other-members' } & PresentMembers)
  /** These participants could not be brought up to date, so they did not become members. */
  | { readonly code: 'not-reached'; readonly participants: readonly ParticipantId[] }
  /** No set of members: it is empty or too large, or a number in it was used before. */
  | { readonly code: 'no-such-members' }
  /**
   * The protocol cannot do this: operations on a lock that guards no state, readers where every user is a
   * writer, or other members where they stay. `protocols`: these can.
   */
  | { readonly code: 'not-supported'; readonly protocols?: readonly ProtocolName[] }

export interface Ending {
  readonly user: string
  readonly fence: number
  readonly reason: 'released' | EjectionReason
  readonly pending?: PendingOutcome
}

/** What a stub did with its replica; the interpreter records it in the history and tells watchers. */
export type ReplicaOutput =
  | {
      readonly type: 'applied'
      readonly sequence: number
      readonly fence: number
      readonly opId: string
      readonly operation: Json
      readonly result: Json
      /** The cells that it changed; empty if the operation was applied before. */
      readonly changes: readonly CellChange[]
      /** The epoch of its entry in the log, in protocols whose fences count epochs. */
      readonly epoch?: number
    }
  /** A grant is committed: from this place in the log on, the token belongs to `to`. */
  | {
      readonly type: 'granted'
      readonly sequence: number
      readonly fence: number
      readonly to: ParticipantId
    }
  | { readonly type: 'restored'; readonly sequence: number }

/**
 * These are the members from now on, as far as this participant knows; it may be one of them or not. A hint
 * is what another one has said, and is for finding them.
 */
export type MembersOutput = {
  readonly type: 'members'
  readonly isHint?: true
} & PresentMembers

// ---------------------------------------------------------------- the protocol

export interface Timing {
  /** How often, at least, a participant that waits asks the owner whether it is there. */
  readonly heartbeatMs: number
  /**
   * How long an owner may be silent before it is suspected, if it has to be loaded first, and at most. For
   * one that was heard it is a part of this, or follows the round trips, down to the least (detector.ts).
   */
  readonly timeoutMs: number
  readonly timeoutMaxMs: number
  readonly timeoutMinMs: number
  /** The first and the longest interval between repeats of a message whose effect is not known. */
  readonly repeatMs: number
  readonly repeatMaxMs: number
  /** How long to wait at first for the coordinator of the consensus before proposing oneself. */
  readonly proposeMs: number
  /**
   * How long a DOINVOKE may wait for another message to ride on, and how long a participant that is not among
   * the quickest may wait for an operation (wme-2).
   */
  readonly flushMs: number
  /**
   * How long a user may stay inside after a re-entry before its grant is sent to be confirmed; 0 sends it at
   * once (wme).
   */
  readonly confirmMs: number
}

/** Everything that grows has a limit. */
export interface Limits {
  /** Log entries above what is known to be committed; at most `FENCE_GAP`. */
  readonly uncommitted: number
  /** Applied entries that are kept for catch-up. A participant that is further behind gets a snapshot. */
  readonly logKept: number
  /** What these entries may weigh together. If they exceed this by a quarter, the oldest are dropped. */
  readonly logWeight: number
  /** Operations whose results are remembered. */
  readonly resultsKept: number
  /** Local users that wait, requests of operators, and linearizable reads: this many of each. */
  readonly waiters: number
  readonly entriesPerMessage: number
  /**
   * What the entries of a message, or a page of a snapshot, may weigh. A single item that is heavier goes
   * alone.
   */
  readonly messageWeight: number
  /**
   * The weight of an operation, in units of at most six bytes of JSON: a log entry must fit one row of
   * storage.
   */
  readonly operationWeight: number
  /** Grants that are over and whose end is remembered. */
  readonly endingsKept: number
  /** How often to repeat something that nobody waits for before leaving it to the next activity. */
  readonly idleRepeats: number
}

/**
 * The highest number of a participant: lists are indexed by it. A lock that has used it up keeps its members.
 */
export const MAX_PARTICIPANT_NUMBER = 4_095

/** How many members a lock may have, and how long an address, or the name of a change, may be. */
export const MAX_MEMBERS = 100
export const MAX_ADDRESS_LENGTH = 256

/** A lock's choice among the variants of its protocol. An option that is absent is off. */
export interface ProtocolOptions {
  /**
   * wme-2: an operation goes at once to just as many participants as make a majority, the quickest ones, and
   * to the rest a little later, several in one message. Unlike the others, this option is on by default.
   */
  readonly majorityFirst?: boolean
  /**
   * wme-consensus: decide in two steps with N² messages, or in three steps with a multiple of N. Default:
   * latency-optimal.
   */
  readonly consensus?: 'latency-optimal' | 'message-optimal'
  /**
   * ricart-agrawala 6.1: silence for `roundTripMs` counts as a REPLY, and a participant that does not agree
   * says DEFERRED. This is unsafe if a message is lost or late, or if a participant stands still; choosing
   * this option asserts that none of that happens.
   */
  readonly implicitReply?: { readonly roundTripMs: number; readonly assumeNothingIsLostOrLate: true }
  /**
   * ricart-agrawala 6.3: requests travel around a ring. A request waits where it is deferred, or is marked
   * and copied there.
   */
  readonly ring?: 'waiting' | 'marking'
  /** ricart-agrawala 6.4: sequence numbers are kept modulo this number, which is at least 2N-1. */
  readonly modulus?: number
  /** ricart-agrawala 6.5: how far a new sequence number goes beyond the highest one seen. */
  readonly increment?:
    | { readonly type: 'random'; readonly most: number }
    | { readonly type: 'priority'; readonly by: readonly number[] }
  /**
   * ricart-agrawala 7.1: the numbers to compare instead of the participants' own, starting with the first
   * participant.
   */
  readonly names?: readonly number[]
  /**
   * ricart-agrawala 7.4: a participant that is silent for this long is declared dead. This is unsafe when the
   * network splits, or when a participant comes back while all participants that it knew are down; therefore
   * it is off by default. A participant that restarts ejects its users, since it may have been declared dead.
   */
  readonly declareDeadAfterMs?: number
}

export interface ParticipantConfig {
  readonly self: ParticipantId
  /** Where this participant is, as a change of members says it (`Members`). Default: an empty address. */
  readonly address?: string
  /** Number of participants that the lock was born with. */
  readonly participants: number
  readonly configuration: number
  /** Who has the token at first. Default: participant 1. The same at all participants. */
  readonly firstOwner?: ParticipantId
  /** The epoch in which the lock begins. Default: 0. The same at all participants. */
  readonly startEpoch?: number
  /** The place in the log that it begins after. Default: 0. The same at all participants. */
  readonly startSequence?: number
  /** How many local users may follow one another while a remote participant waits. */
  readonly localHandoffs: number
  /** Options that only some protocols have. The same at all participants. */
  readonly options?: ProtocolOptions
  readonly timing: Timing
  readonly limits: Limits
}

/** What a step needs besides the state, and does not change. */
export interface Context {
  readonly config: ParticipantConfig
  readonly resource: Resource
}

/**
 * What an interpreter may know about a participant between two steps, the same for every protocol: its
 * status, the users that wait here and those that are inside. A view is made anew at each call and must not
 * be changed.
 */
export interface View {
  readonly membership: 'blank' | 'joining' | 'member' | 'left' | 'removed'
  /**
   * The members of the lock as far as this participant knows. `isHandedOver`: a majority of them has
   * everything. Absent: the members of this protocol do not change.
   */
  readonly members?: KnownMembers
  /** For status pages: the paper's name for what this participant is doing. */
  readonly phase: string
  /** 0 in protocols without epochs. */
  readonly epoch: number
  /** The length of the log; in protocols without one, the last fence known here. */
  readonly sequence: number
  /** Everything up to here is on a majority and applied here; 0 in protocols without a log. */
  readonly committed: number
  /** Who has the token, as far as this participant knows; `null` if nobody has it, or nobody can know. */
  readonly owner: ParticipantId | null
  readonly suspects: readonly ParticipantId[]
  /** Local users that wait, in order of arrival. */
  readonly waiters: readonly WaitingUser[]
  /** Local users that are inside: one, or several readers. */
  readonly holders: readonly HoldingUser[]
  /** The last grants of this participant that are over, newest last. */
  readonly endings: readonly Ending[]
  /** The replica of the guarded state; `null` for a lock that guards none. */
  readonly cells: Readonly<Cells> | null
}

export interface KnownMembers extends PresentMembers {
  readonly isHandedOver: boolean
  /** The highest number that a member ever had. */
  readonly highest: number
  /** The name of the change that made this set; `null` of the one that the lock was born with. */
  readonly change: string | null
}

export interface WaitingUser {
  readonly user: string
  readonly waitUntil: number | null
}

export interface HoldingUser {
  readonly user: string
  readonly fence: number
  readonly ttlMs: number
  readonly expiresAt: number
  /** Whether an operation under this grant is pending: `opId`. */
  readonly isIssuing: boolean
  readonly opId?: string
}

/**
 * What a participant has of the state that the lock guards. It is made anew at each call and must not be
 * changed.
 */
export interface GuardedState {
  readonly replica: Replica
  /** Everything up to here is on a majority and applied to the replica. */
  readonly committed: number
  /** The place in the log of the next entry to be appended. */
  readonly nextSequence: number
  /** Operations in the log that are not applied here yet, in order. */
  onTheWay(): Invocation[]
  /**
   * The fence of the last grant that this participant knows of; -1 if there was none, `null` if it has been
   * forgotten.
   */
  latestFence(): number | null
  /**
   * As far as this participant knows, fences up to this one are used: a grant that is still to come, and is
   * granted by this log or by a later epoch, has a higher one.
   */
  fencesUsed(): number
}

export interface Protocol<State, Message> {
  readonly name: ProtocolName
  /**
   * Computes the state from storage alone (invariant I20). `records` are those that were saved and not
   * deleted since.
   */
  recover(context: Context, records: Iterable<readonly [key: string, value: Json]>): State
  /** Changes `state` in place and returns what the interpreter must do. */
  step(context: Context, state: State, input: Input<Message>): Effect<Message>[]
  view(context: Context, state: State): View
  /** `null` for a lock that guards no state. */
  guarded(state: State): GuardedState | null
  /** Whether operators can change the members of a lock with these options (`change-members`). */
  changesMembers(options: ProtocolOptions): boolean
}

export const DEFAULT_TIMING: Timing = {
  heartbeatMs: 500,
  timeoutMs: 2_000,
  timeoutMaxMs: 60_000,
  timeoutMinMs: 250,
  repeatMs: 250,
  repeatMaxMs: 5_000,
  proposeMs: 500,
  flushMs: 20,
  confirmMs: 1_000,
}

export const DEFAULT_LIMITS: Limits = {
  uncommitted: 1_024,
  logKept: 1_000,
  logWeight: 4_194_304,
  resultsKept: 10_000,
  waiters: 1_000,
  entriesPerMessage: 256,
  messageWeight: 262_144,
  operationWeight: 262_144,
  endingsKept: 16,
  idleRepeats: 4,
}
