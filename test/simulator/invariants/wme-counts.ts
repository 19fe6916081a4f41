/** Counts what happened inside the protocol, so that a batch can prove that it did. */
import type { Detector } from '../../../shared/detector.ts'
import { configIn } from '../../../shared/protocols/members/sets.ts'
import type { Emitted } from '../../../shared/protocols/protocol.ts'
import { majority } from '../../../shared/protocols/quorum.ts'
import { inCriticalSection } from '../../../shared/protocols/wme/figure-3-states.ts'
import type { WmeMessage } from '../../../shared/protocols/wme/messages.ts'
import type { EpochRecord, StubRecord, WmeState } from '../../../shared/protocols/wme/state.ts'
import type { Counts } from '../counts.ts'
import type { Network } from '../network.ts'
import type { WmeParticipant } from './wme-participant.ts'

interface Before {
  epoch: number
  handoffs: number
  base: number
  dropped: number
  isPreVoting: boolean
  isMember: boolean
  /** The peers whose time was over. */
  late: readonly number[]
  isLagging: boolean
  known: number
  config: number
  fence: number | null
  isDraining: boolean
  isSealed: boolean
  status: string
}

const nothing = (): Before => ({
  epoch: 0,
  handoffs: 0,
  base: 0,
  dropped: 0,
  isPreVoting: false,
  isMember: true,
  late: [],
  isLagging: false,
  known: 0,
  config: 0,
  fence: null,
  isDraining: false,
  isSealed: false,
  status: 'blank',
})

const lateOf = (detector: Detector): number[] =>
  detector.flatMap(({ suspected }, peer) => (suspected === 'late' ? [peer] : []))

export class WmeCounts {
  readonly #counts: Counts
  readonly #participants: readonly WmeParticipant[]
  readonly #network: Pick<Network, 'isCut'>
  readonly #before: Before[]

  constructor(counts: Counts, participants: readonly WmeParticipant[], network: Pick<Network, 'isCut'>) {
    this.#counts = counts
    this.#network = network
    this.#participants = participants
    this.#before = participants.map(nothing)
  }

  /** An owner that hears nobody, though it is heard, is of no use: it is suspected rightly. */
  sealed({ id }: WmeParticipant, { owner }: { readonly owner: number }): void {
    if (owner === id || !this.#participants[owner]!.isUp) return
    if (this.#isDeaf(owner)) this.#counts.deafOwners++
    else this.#counts.falseSuspicions++
  }

  /** A majority hears it, and it hears none. */
  #isDeaf(owner: number): boolean {
    const others = this.#participants.slice(1).filter(({ id }) => id !== owner)
    const needed = majority(others.length + 1) - 1
    const heard = others.filter(({ id }) => !this.#network.isCut(id, owner))
    const hearing = others.filter(({ id }) => !this.#network.isCut(owner, id))
    return heard.length < needed && hearing.length >= needed
  }

  entered({ epoch }: EpochRecord, isFirst: boolean): void {
    if (isFirst && epoch > 0) this.#counts.epochs++
  }

  stubSaved({ id }: WmeParticipant, stub: StubRecord): void {
    const before = this.#before[id]!
    if (stub.handoffs > before.handoffs) this.#counts.localHandoffs++
    before.handoffs = stub.handoffs
  }

  sent(message: WmeMessage): void {
    if (message.type === 'catch-up') this.#counts.catchUps++
    else if (message.type === 'reject') this.#counts.rejectedBallots++
  }

  emitted(participant: WmeParticipant, event: Emitted): void {
    const counts = this.#counts
    switch (event.type) {
      case 'restored':
        counts.snapshots++
        return
      case 'outcome':
        // The epoch is compared with the one before this step.
        if (participant.state.durable.epoch.epoch > this.#before[participant.id]!.epoch)
          counts.decidedOutcomes++
        return
      case 'ejected':
        counts.ejections++
        if (event.reason === 'suspected') counts.suspectedEjections++
        else if (event.reason === 'expired') counts.expiries++
        else counts.operatorEjections++
        if (event.pending !== undefined) counts.pendingAtEjection++
        return
    }
  }

  stepped({ id, state }: WmeParticipant): void {
    const { durable, soft } = state
    const before = this.#before[id]!
    const counts = this.#counts
    before.epoch = durable.epoch.epoch
    if (before.isPreVoting && soft.preVote === null && !durable.epoch.sealed) counts.preVotesRefused++
    before.isPreVoting = soft.preVote !== null
    if (durable.base.sequence > before.base) counts.truncations++
    before.base = durable.base.sequence
    if (durable.replica.droppedThrough > before.dropped) counts.resultsDropped++
    before.dropped = durable.replica.droppedThrough
    const isMember = durable.membership.status === 'member'
    if (isMember && !before.isMember) counts.readmissions++
    before.isMember = isMember
    const isLagging = soft.timers.spread === true
    if (isLagging && !before.isLagging) counts.majoritiesFirst++
    before.isLagging = isLagging
    const known = soft.roundTrips.filter(roundTrip => roundTrip !== null).length
    if (known < before.known) counts.lateAnswers++
    before.known = known
    this.#countChanges(state, before)
    if (inCriticalSection(durable.stub.phase)) this.#countCoexisting(id, durable.epoch.epoch)
    const late = lateOf(soft.detector)
    for (const peer of late) if (!before.late.includes(peer) && this.#isWell(peer, id)) counts.wrongTimeouts++
    before.late = late
  }

  /** What a change of the members did to whoever was inside, and how a member learned that it is none. */
  #countChanges({ durable, derived, soft }: WmeState, before: Before): void {
    const counts = this.#counts
    const config = configIn(durable.epoch)
    const { status } = durable.membership
    const fence = inCriticalSection(durable.stub.phase) ? durable.stub.grant!.fence : null
    if (config !== before.config && before.fence !== null) {
      if (fence === before.fence) counts.holdersKept++
      else if (status === 'removed') counts.holdersRemoved++
    }
    // It neither voted for its removal nor was told of the decision: it was behind.
    if (status === 'removed' && before.status === 'member' && !before.isSealed) counts.lateRemovals++
    const self = soft.proposed?.change.members
    const isDraining = fence !== null && self !== undefined && self[derived.owner] === undefined
    if (isDraining && !before.isDraining) counts.ownersDrained++
    Object.assign(before, { config, fence, isDraining, isSealed: durable.epoch.sealed, status })
  }

  /** It is there and can be reached: its answer is only slow, or was lost. */
  #isWell(peer: number, from: number): boolean {
    const { isUp, isPaused } = this.#participants[peer]!
    return isUp && !isPaused && !this.#network.isCut(from, peer) && !this.#network.isCut(peer, from)
  }

  /** Several users are inside at once, in different epochs: that is what makes the exclusion weak. */
  #countCoexisting(id: number, epoch: number): void {
    for (let other = 1; other < this.#participants.length; other++) {
      const { isUp, state } = this.#participants[other]!
      if (other === id || !isUp || !inCriticalSection(state.durable.stub.phase)) continue
      if (state.durable.epoch.epoch !== epoch) {
        this.#counts.tokensCoexisting++
        return
      }
    }
  }

  crashed({ id }: WmeParticipant): void {
    Object.assign(this.#before[id]!, {
      isPreVoting: false,
      isLagging: false,
      known: 0,
      late: [],
      isDraining: false,
    })
  }

  wiped({ id }: WmeParticipant): void {
    this.#before[id] = { ...nothing(), isMember: false }
  }
}
