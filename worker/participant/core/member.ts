/**
 * This participant's part in its lock: the engine, and what is kept beside it. It records each step and tells
 * its listeners; what they do about it they do after the step (turns.ts). Before the lock is born there is
 * nobody in it, and there is nothing of it.
 */
import type { LockConfiguration } from '../../../shared/api/configuration.ts'
import { isByItself } from '../../../shared/api/members-change.ts'
import { isEnd } from '../../../shared/birth/lock-core.ts'
import type { LockContext } from '../../../shared/birth/lock-types.ts'
import type { EjectionReason, MembersEvent } from '../../../shared/history/events.ts'
import type { Json } from '../../../shared/json.ts'
import type { Emitted, GuardedState, UserInput, View } from '../../../shared/protocols/protocol.ts'
import { importOf, isFinish } from '../../../shared/resource/import.ts'
import { resultOf } from '../../../shared/resource/replica.ts'
import { Measurements, type Progress } from '../observe/measurements.ts'
import { Engine, type EngineHost } from './engine.ts'
import type { WatchEvent } from './event-log.ts'
import type { Stay } from './owners.ts'
import { type LocalUsers, nameOf, recordStep } from './recorder.ts'
import { ReplicaSize } from './replica-size.ts'

export interface StepReport {
  readonly emitted: readonly Emitted[]
  readonly changes: readonly WatchEvent[]
  /** The users of this participant before the step. */
  readonly before: LocalUsers
  /** The users that lost the lock. */
  readonly ended: readonly LostLock[]
  /** `null`: it is the same as before. */
  readonly epoch: { readonly from: number; readonly to: number; readonly owner: number | null } | null
  /** The lock has other members since this step, as far as this participant knows. */
  readonly hasOtherMembers: boolean
  /** The step has ended the lock, with this as its last sequence; `null`: that is not known here. */
  readonly endedAt?: number | null
}

export interface LostLock {
  readonly user: string
  readonly fence: number
  readonly cause: EjectionReason
  /** `null` if the user came in before this instance began. */
  readonly heldMs: number | null
}

export interface MemberHost extends Omit<EngineHost, 'onStep'> {
  /** Called after each step. It must not begin another step: that waits for `turns.react`. */
  onStep(report: StepReport): void
  /** What is known of a user of this participant. */
  stayOf(user: string): Stay | undefined
}

export interface Operation {
  readonly user: string
  readonly fence: number
  readonly opId: string
  readonly ops: Json
  /** The user leaves as soon as it is applied. */
  readonly thenExit?: true
}

const NOBODY: LocalUsers = { holders: [], waiters: [] }

interface Known extends Progress {
  /** The number of the set of members that is known. */
  readonly members: number
}

export class Member {
  readonly id: number
  readonly engine: Engine
  readonly measurements = new Measurements()
  private readonly host: MemberHost
  private size: ReplicaSize | null = null
  /** The core that `size` measures. */
  private measured: object | null = null
  private users: LocalUsers
  private progress: Known
  /** Users whose clients are gone while an operation is pending: they leave once it is settled. */
  private readonly leaving = new Set<string>()
  /** Users whose clients are gone while the core is parked: they leave once it goes on. */
  private readonly leavingLater = new Set<string>()

  constructor(host: MemberHost, context: LockContext) {
    this.id = context.self
    this.host = host
    const onStep: EngineHost['onStep'] = (emitted, cause, ofEnded) => this.onStep(emitted, cause, ofEnded)
    this.engine = new Engine({ ...host, onStep, onClear: isEnded => this.onClear(isEnded) }, context)
    this.users = this.usersNow()
    this.progress = this.progressNow()
    this.measureCore()
  }

  /** What the lock is made of at present, as far as this participant knows. */
  get configuration(): LockConfiguration {
    return this.engine.configuration
  }

  /** A core that begins, or begins anew, is measured from the start. */
  private measureCore(): void {
    const { core, resource } = this.engine
    if (core === this.measured) return
    this.measured = core
    this.size =
      resource === null || this.guarded === null
        ? null
        : new ReplicaSize(resource, () => this.guarded!.replica)
  }

  get view(): View {
    return this.engine.view
  }

  get guarded(): GuardedState | null {
    return this.engine.guarded
  }

  get stateWeight(): number {
    return this.size?.weight ?? 0
  }

  // ---- users

  isWaiting(user: string): boolean {
    return this.view.waiters.some(waiter => waiter.user === user)
  }

  holderNamed(user: string) {
    return this.view.holders.find(holder => holder.user === user)
  }

  /** The client of this user is gone: the user no longer waits or holds. */
  leave(user: string): void {
    const holder = this.holderNamed(user)
    if (this.isWaiting(user)) this.engine.user({ type: 'withdraw', user })
    else if (holder?.isIssuing) this.leaving.add(user)
    else if (holder !== undefined) this.engine.user({ type: 'exit', user, fence: holder.fence })
    const isStillThere = this.isWaiting(user) || this.holderNamed(user) !== undefined
    if (isStillThere && !this.engine.isTakingPart) this.leavingLater.add(user)
  }

  /** Whether this would now be issued as something new, and is more than the lock may hold. */
  isTooMuch({ user, fence, opId, ops }: Operation): boolean {
    const { guarded } = this
    if (guarded === null || this.size === null || !this.size.isNearLimit) return false
    const holder = this.view.holders.find(inside => inside.user === user && inside.fence === fence)
    const isNow = holder !== undefined && !holder.isIssuing
    if (!isNow || resultOf(guarded.replica, opId) !== undefined) return false
    const onTheWay = guarded.onTheWay()
    // It was issued before and is on its way: it will be answered like the first time.
    if (onTheWay.some(entry => entry.opId === opId)) return false
    return this.size.isTooMuch({ sequence: guarded.nextSequence, opId, operation: ops }, onTheWay)
  }

  // ---- steps

  private onStep(emitted: readonly Emitted[], cause: UserInput | null, ofEnded: number | null): void {
    const before = this.users
    const progressBefore = this.progress
    this.users = this.usersNow()
    this.progress = this.progressNow()
    this.measurements.onProgress(progressBefore, this.progress)
    this.measureCore()
    const ended = this.endedBy(emitted)
    const present = ofEnded === null ? emitted : emitted.slice(ofEnded)
    const end = ofEnded === null ? {} : { endedAt: lastSequence(emitted) }
    const hasOtherMembers = present.some(event =>
      isLater(event, ofEnded === null ? progressBefore.members : 0),
    )
    const changes =
      ofEnded === null
        ? this.record(before, emitted, cause, hasOtherMembers)
        : this.record(NOBODY, present, null, hasOtherMembers)
    this.measure(present)
    const epoch = this.epochSince(progressBefore)
    this.host.onStep({ emitted, changes, before, ended, epoch, hasOtherMembers, ...end })
    for (const event of emitted) {
      if (event.type === 'ejected') this.leaving.delete(event.user)
      if (event.type === 'outcome' && this.leaving.delete(event.user))
        this.host.turns.react(() => this.leave(event.user))
    }
    if (cause?.type === 'try') this.leavingLater.delete(cause.user)
    if (this.leavingLater.size > 0 && this.engine.isTakingPart)
      this.host.turns.react(() => this.leaveNow([...this.leavingLater]))
  }

  private leaveNow(users: readonly string[]): void {
    this.leavingLater.clear()
    for (const user of users) this.leave(user)
  }

  /** What comes later is recorded as of a replica that was empty; watchers have seen some of it. */
  private onClear(isEnded: boolean): void {
    const { events } = this.host.storage
    if (isEnded) return this.host.onClear(true)
    if (this.measured === null) return
    events.record([{ at: this.host.now(), participant: this.id, type: 'wipe' }], [])
    events.missEverything()
    this.host.onClear(false)
  }

  private usersNow(): LocalUsers {
    const { holders, waiters, phase } = this.view
    // A user that is leaving has left as far as it is concerned, though that may not be decided yet.
    return { holders: phase === 'leaving' ? [] : [...holders], waiters: [...waiters] }
  }

  private endedBy(emitted: readonly Emitted[]): LostLock[] {
    return emitted.flatMap(event => {
      if (event.type !== 'ejected') return []
      const { user, fence, reason: cause } = event
      const heldMs = this.measurements.heldMs(nameOf(this.id, user), this.host.now())
      return [{ user, fence, cause, heldMs }]
    })
  }

  private epochSince({ epoch: from, core }: Progress): StepReport['epoch'] {
    const { epoch: to } = this.progress
    return core === null || core !== this.progress.core || to <= from
      ? null
      : { from, to, owner: this.view.owner }
  }

  private progressNow(): Known {
    const { epoch, suspects } = this.view
    const members = this.engine.birthRecord.members?.configuration ?? 0
    return { epoch, suspects, core: this.engine.core, members }
  }

  /**
   * The history of a lock that the step has ended is gone, and what was done to it is no part of the next
   * one's. What the step did to the next one is: it may be the first that this participant hears of the end.
   */
  private record(
    before: LocalUsers,
    emitted: readonly Emitted[],
    cause: UserInput | null,
    hasOtherMembers: boolean,
  ): WatchEvent[] {
    if (emitted.length === 0 && cause === null) return []
    const { events } = this.host.storage
    const hash = () => this.engine.resource!.hash(this.guarded!.replica.cells)
    const { history, changes } = recordStep(this.id, this.host.now(), before, cause, emitted, hash, user =>
      this.host.stayOf(user),
    )
    if (hasOtherMembers) history.push(this.membersEvent())
    if (history.length > 0 || changes.length > 0) events.record(history, changes)
    this.measurements.onStep(history, emitted)
    for (const event of emitted) if (isWholeState(event)) events.missThrough(event.sequence)
    return changes
  }

  private membersEvent(): MembersEvent {
    const { configuration, id: participant, view } = this
    const { number = 0, participants } = configuration
    const members = participants.map(({ id, location }) => ({ id, location }))
    const by = isByItself(view.members?.change ?? null) ? 'follow' : 'operator'
    return { at: this.host.now(), participant, type: 'members', configuration: number, members, by }
  }

  /**
   * Done before anybody is told: a user that this step lets in may issue at once, and is measured by what the
   * step applied.
   */
  private measure(emitted: readonly Emitted[]): void {
    for (const event of emitted) {
      const special = event.type === 'applied' ? importOf(event.operation) : null
      if (special?.restore === 'finish') this.size?.measureAll()
      else if (event.type === 'applied' && special === null) this.size?.applied(event.opId, event.changes)
      if (event.type === 'restored') this.size?.measureAll()
    }
  }
}

/** Whether these members were not known before: an instance that begins hears of those that are. */
const isLater = (event: Emitted, known: number): boolean =>
  event.type === 'members' && !event.isHint && event.configuration > known

/** The state is another one since then, as a whole. */
export const isWholeState = (event: Emitted): event is Emitted & { readonly sequence: number } =>
  event.type === 'restored' || (event.type === 'applied' && isFinish(event.operation))

/** Whoever applies the end of a lock knows its last sequence; whoever is told of it does not. */
const lastSequence = (emitted: readonly Emitted[]): number | null => {
  const end = emitted.findLast(event => event.type === 'applied' && isEnd(event.operation))
  return end?.type === 'applied' ? end.sequence : null
}
