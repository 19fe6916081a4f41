/**
 * The second phase: a majority is healed, and the rest stays broken in one way or another. From then on
 * progress is owed to the users of the healed participants, and all must fall silent once nobody wants
 * anything any more.
 */
import type { ParticipantId } from '../../shared/protocols/protocol.ts'
import { majority } from '../../shared/protocols/quorum.ts'
import type { Askers } from './askers.ts'
import type { MemberSets } from './members/member-sets.ts'
import { Random } from './random.ts'
import { STREAM } from './scenario.ts'
import { Violation } from './violation.ts'
import type { World } from './world.ts'

/**
 * The time until everything said in vain before the healing has been said again: repeats and users wait for
 * up to half a second.
 */
const HEARING_MS = 1_000
/** The time until the failure detectors have noticed that the healed participants are well. */
const SETTLING_MS = 3_000
/** How long users go on after that. */
const ACTIVE_MS = 1_500
/** How long users may take to finish what they have begun. */
const PROGRESS_MS = 120_000
/** How long until the last message and the last timer. */
const SILENCE_MS = 60_000
const LOOK_EVERY_MS = 100
const HEALED_DELAY_MS = 5

type Breakage = 'dead' | 'isolated' | 'deaf' | 'mute' | 'lossy'
const BREAKAGES: readonly Breakage[] = ['dead', 'isolated', 'deaf', 'mute', 'lossy']

export class Healing<State, Message> {
  readonly #world: World<State, Message>
  readonly #random: Random
  readonly #askers: Askers<State, Message>
  readonly healed: ParticipantId[]
  readonly #broken: readonly ParticipantId[]
  readonly #calledBack = new Set<ParticipantId>()

  constructor(world: World<State, Message>, askers: Askers<State, Message>) {
    this.#world = world
    this.#askers = askers
    this.#random = new Random(world.scenario.seed, STREAM.healing)
    this.healed = this.#chooseHealed()
    this.#broken = this.#all.filter(id => !this.healed.includes(id))
  }

  get #all(): ParticipantId[] {
    return this.#world.participants
      .slice(1)
      .filter(({ isOff, incarnation }) => !isOff && (incarnation > 0 || this.#world.sets === null))
      .map(({ id }) => id)
  }

  /**
   * A majority of members, and perhaps more. Without a majority of members nothing can be promised; some
   * protocols promise nothing unless all are healed.
   */
  #chooseHealed(): ParticipantId[] {
    const world = this.#world
    if (world.sets !== null) return world.sets.chooseSurvivors(this.#random)
    const isMember = (id: ParticipantId) => world.subject.isMember(world.participant(id))
    const shuffled = this.#random.shuffled(this.#all)
    const needed = majority(shuffled.length)
    const core = shuffled.filter(isMember).slice(0, needed)
    const others = shuffled.filter(id => !core.includes(id))
    const { options, variant } = world.scenario
    const isAll = this.#random.chance(0.3) || options.faults.length === 0 || variant.claims.needsEverybody
    const extra = isAll ? others.length : this.#random.between(0, others.length)
    return [...core, ...others.slice(0, extra)].sort((one, other) => one - other)
  }

  /** All phases after the faults. */
  run(): void {
    this.#heal()
    const world = this.#world
    this.#callBack()
    // By then all have repeated once more what they want.
    world.runUntil(world.now + HEARING_MS)
    if (world.sets !== null) this.#awaitMembers(world.sets)
    if (world.scenario.variant.claims.needsEverybody) this.#awaitTurns()
    const of = world.sets === null ? {} : { of: world.sets.members.length }
    world.record({ at: world.now, type: 'healed', participants: this.healed, ...of })
    this.#ask()
    world.runUntil(world.now + SETTLING_MS)
    world.record({ at: world.now, type: 'settled' })
    world.runUntil(world.now + ACTIVE_MS)
    for (const client of world.clients) client.isLeaving = true
    this.#requireProgress()
    world.record({ at: world.now, type: 'end' })
    this.#requireSilence()
  }

  /** Those that have left by their own wish, and are members, are asked to come back. */
  #callBack(): void {
    const { scenario, sets } = this.#world
    if (scenario.meanMs.leavers === Number.POSITIVE_INFINITY) return
    for (const id of this.healed) {
      if (this.#calledBack.has(id) || !(sets?.has(id) ?? true)) continue
      this.#calledBack.add(id)
      this.#askers.insist('join', id)
    }
  }

  /**
   * Operators' changes come to an end, one of which replaces a broken member for good. From then on the
   * members stay, and progress is owed to the users of those that are well.
   */
  #awaitMembers(sets: MemberSets): void {
    const world = this.#world
    const broken = sets.members.filter(id => !this.healed.includes(id))
    const gone = broken.length > 0 ? this.#random.pick(broken) : null
    const newcomer = world.changes?.insist(gone, this.healed) ?? null
    if (newcomer !== null) {
      this.healed.push(newcomer)
      for (const peer of this.#all) {
        world.network.heal(newcomer, peer, HEALED_DELAY_MS)
        world.network.heal(peer, newcomer, HEALED_DELAY_MS)
      }
    }
    const deadline = world.now + PROGRESS_MS
    const isChanging = (id: ParticipantId) => world.subject.isChanging?.(world.participant(id)) === true
    const owing = () => {
      for (const question of world.unanswered) return `the change ${question} has no answer`
      for (const id of this.healed)
        if (isChanging(id) && (sets.has(id) || !this.#isCutOff(id, sets)))
          return `p${id} wants to change the members`
      return sets.isHandedOver ? null : `a majority of ${sets.members} has not entered epoch ${sets.config}`
    }
    let isUsed = false
    for (let why = owing(); why !== null; why = owing()) {
      if (world.now >= deadline) throw new Violation('liveness', 'members', why)
      // A member that missed a change, and whose former companions are gone, is found by the others as soon
      // as one of them needs it. They may need nothing until somebody comes.
      if (!isUsed && world.now >= deadline - PROGRESS_MS / 2) {
        isUsed = true
        for (const id of this.healed) if (sets.has(id) && this.#isMember(id)) this.#use(id)
      }
      // A change that came to nothing makes members again of some that should have gone.
      this.#callBack()
      world.runUntil(world.now + LOOK_EVERY_MS)
    }
    const isWell = (id: ParticipantId) =>
      sets.has(id) && (sets.keeps(id) || this.#isMember(id) || !this.#isCutOff(id, sets))
    for (const id of this.healed) if (!isWell(id)) world.life.switchOff(world.participant(id))
    const well = this.healed.filter(isWell)
    this.healed.splice(0, this.healed.length, ...well)
    for (const client of world.clients) client.isLeaving ||= !well.includes(client.participant)
  }

  /** Somebody reads there, once. */
  #use(id: ParticipantId): void {
    this.#world.tell(id, { type: 'read', request: `use-${id}` })
  }

  #isMember(id: ParticipantId): boolean {
    return this.#world.subject.isMember(this.#world.participant(id))
  }

  /**
   * All that it knows of are gone or broken, or have lost their storage, too. One that is no member any more
   * cannot hear of it then. Nor can one that lost its storage hear who the members are by now, as long as
   * none of them needs it: in the service the default participants, which stay, tell it.
   */
  #isCutOff(id: ParticipantId, sets: MemberSets): boolean {
    const { context, state } = this.#world.participant(id)
    const known = this.#world.subject.protocol.view(context, state).members?.members ?? {}
    const others = Object.keys(known).map(Number)
    return others.every(peer => peer === id || !this.healed.includes(peer) || !sets.keeps(peer))
  }

  /**
   * Waits until it can be counted how often others go first. A participant on its way back does not yet wait
   * in turn with the others, and a reader that is gone, and inside until its grant expires, holds up only its
   * own participant.
   */
  #awaitTurns(): void {
    const world = this.#world
    const { protocol, isMember } = world.subject
    const deadline = world.now + PROGRESS_MS
    const isInTurn = (id: ParticipantId) => {
      const participant = world.participant(id)
      const { holders } = protocol.view(participant.context, participant.state)
      return isMember(participant) && holders.every(({ user }) => world.users.has(user))
    }
    while (world.now < deadline && !this.healed.every(isInTurn)) world.runUntil(world.now + LOOK_EVERY_MS)
  }

  #heal(): void {
    const world = this.#world
    world.calm.end()
    world.hasFaults = false
    for (const from of this.#all) for (const to of this.#all) world.network.heal(from, to, HEALED_DELAY_MS)
    for (const id of this.#broken) this.#break(id)
    // Their users finish what they have begun. Otherwise a participant that hears of nobody else would let
    // them in again and again, which is no starvation of the others.
    for (const client of world.clients) client.isLeaving = !this.healed.includes(client.participant)
    world.counts.brokenAfterHealing += this.#broken.length
    for (const id of this.healed) {
      const participant = world.participant(id)
      world.life.resume(participant)
      world.life.start(participant)
    }
  }

  #break(id: ParticipantId): void {
    const world = this.#world
    const breakage = this.#random.pick(BREAKAGES)
    const participant = world.participant(id)
    world.transcript.note(world.now, id, `stays broken: ${breakage}`)
    if (breakage === 'dead') world.life.crash(participant)
    else world.life.resume(participant)
    for (const peer of this.#all) {
      if (breakage === 'isolated' || breakage === 'deaf') world.network.cut(peer, id)
      if (breakage === 'isolated' || breakage === 'mute') world.network.cut(id, peer)
      if (breakage !== 'lossy') continue
      const loss = 0.2 + 0.5 * this.#random.fraction()
      world.network.makeLossy(id, peer, loss)
      world.network.makeLossy(peer, id, loss)
    }
    // A participant that is dead stays dead; a crash that came before the healing has its restart planned.
    if (breakage === 'dead') participant.process++
  }

  /** An operator wants the holder out, and a reader wants to read: both ask until they have an answer. */
  #ask(): void {
    const world = this.#world
    const { operator } = world.scenario.meanMs
    if (operator !== Number.POSITIVE_INFINITY) this.#askers.insist('eject', this.#random.pick(this.healed))
    if (world.scenario.readMs !== Number.POSITIVE_INFINITY)
      this.#askers.insist('read', this.#random.pick(this.healed))
  }

  // ---------------------------------------------------------------- progress

  #requireProgress(): void {
    const world = this.#world
    const deadline = world.now + PROGRESS_MS
    while (this.#unfinished() !== null) {
      if (world.now >= deadline) throw new Violation('liveness', 'progress', this.#unfinished()!)
      world.runUntil(world.now + LOOK_EVERY_MS)
    }
  }

  /** The users that still wait for something that is owed to them. */
  #unfinished(): string | null {
    const world = this.#world
    for (const client of world.clients) {
      if (client.state === 'stopped' || !this.healed.includes(client.participant)) continue
      const sinceMs = Math.round(world.now - client.since)
      return `${client.name} at p${client.participant} has been ${client.state} for ${sinceMs} ms`
    }
    for (const question of world.unanswered) return `the question ${question} has no answer`
    for (const id of this.healed) {
      if (!world.subject.isMember(world.participant(id))) return `p${id} has not been readmitted`
    }
    return null
  }

  // ---------------------------------------------------------------- silence

  #requireSilence(): void {
    const world = this.#world
    for (const client of world.clients) if (!this.healed.includes(client.participant)) client.giveUp()
    const deadline = world.now + SILENCE_MS
    // Gives users that can leave the time to do so.
    world.runUntil(world.now + 3 * LOOK_EVERY_MS)
    this.#stopTheBusy()
    for (;;) {
      const noise = this.#noise()
      if (noise === null) break
      if (world.now >= deadline) throw new Violation('liveness', 'quiescence', noise)
      world.runUntil(world.now + LOOK_EVERY_MS)
    }
    world.counts.quiescences++
  }

  /**
   * A broken participant that wants something goes on asking for it, and those that hear it answer: that does
   * not count as noise of theirs.
   */
  #stopTheBusy(): void {
    const world = this.#world
    for (const id of this.#broken) {
      const participant = world.participant(id)
      if (participant.isUp && !world.subject.isIdle(participant)) world.life.crash(participant)
    }
  }

  /** A timer or a message of the healed participants. */
  #noise(): string | null {
    const world = this.#world
    for (const id of this.healed) {
      for (const slot of world.participant(id).timers.values()) {
        if (slot.isSet) return `p${id} has the timer ${slot.name} set though nobody wants anything`
      }
    }
    for (const event of world.queue.pending) {
      if (event.kind !== 'message' || !this.healed.includes(event.source)) continue
      return `p${event.source} sends a message to p${event.target} though nobody wants anything`
    }
    return null
  }
}
