/**
 * Injects faults at random times while the phase with faults lasts. The scenario says which ones, and how
 * often.
 */
import type { ParticipantId } from '../../shared/protocols/protocol.ts'
import { majority } from '../../shared/protocols/quorum.ts'
import { Mischief } from './mischief.ts'
import type { Participant } from './participant.ts'
import { Random } from './random.ts'
import { STREAM, type TimedFault } from './scenario.ts'
import type { World } from './world.ts'

export class FaultInjector<State, Message> {
  readonly #world: World<State, Message>
  readonly #mischief: Mischief<State, Message>
  #operators = 0

  constructor(world: World<State, Message>) {
    this.#world = world
    this.#mischief = new Mischief(world)
    this.#repeat('crashes', 1, random => {
      const victim = this.#victim(random, this.#anyone(random))
      if (world.mayCrash(victim)) world.life.crashAndRestart(world.participant(victim))
    })
    this.#repeat('wipes', 2, random => this.#wipe(random))
    this.#repeat('pauses', 3, random => this.#pause(random))
    this.#repeat('partitions', 4, random => this.#partition(random))
    this.#repeat('one-way', 5, random => this.#oneWay(random))
    this.#repeat('suspicions', 6, random => this.#suspect(random))
    this.#repeat('delays', 7, random => this.#slowDown(random))
    this.#repeat('operator', 8, random => this.#eject(random))
    this.#repeat('mischief', 9, random => this.#mischief.play(random))
    this.#repeat('leavers', 10, random => this.#changeGroup(random))
  }

  /** Each kind of fault has its own stream of randomness: if one is left out, the others come as they did. */
  #repeat(fault: TimedFault, stream: number, inject: (random: Random) => void): void {
    const world = this.#world
    const meanMs = world.scenario.meanMs[fault]
    if (meanMs === Number.POSITIVE_INFINITY) return
    const random = new Random(world.scenario.seed, STREAM.faults * 100 + stream)
    const next = () => {
      if (!world.hasFaults) return
      world.calm.disturb()
      inject(random)
      world.after(random.exponential(meanMs), next)
    }
    world.after(random.exponential(meanMs), next)
  }

  /** Ends a fault after a while, unless healing has ended all of them before. */
  #endAfter(delayMs: number, end: () => void): void {
    const world = this.#world
    world.after(delayMs, () => {
      if (world.hasFaults) end()
    })
  }

  #anyone(random: Random): Participant<State, Message> {
    return this.#world.participant(random.between(1, this.#size))
  }

  get #size(): number {
    return this.#world.size
  }

  /**
   * Half of the time this is the participant that the witness believes to have the token: that hurts most.
   */
  #victim(random: Random, witness: Participant<State, Message>): ParticipantId {
    const { subject, participants } = this.#world
    return random.chance(0.5) ? subject.ownerBy(witness, participants) : random.between(1, this.#size)
  }

  /** Only while a majority of members keeps what it has: nobody could survive more than that. */
  #wipe(random: Random): void {
    const world = this.#world
    const victim = world.participant(this.#victim(random, this.#anyone(random)))
    if (world.sets !== null) {
      const { isOff, incarnation } = victim
      if (!isOff && incarnation > 0 && world.sets.mayLose(victim.id)) world.life.wipe(victim)
      return
    }
    const keeps = (id: ParticipantId) => id !== victim.id && world.subject.isMember(world.participant(id))
    let members = 0
    for (let id = 1; id <= this.#size; id++) if (keeps(id)) members++
    if (members >= majority(this.#size)) world.life.wipe(victim)
  }

  #pause(random: Random): void {
    const world = this.#world
    const participant = world.participant(this.#victim(random, this.#anyone(random)))
    if (!participant.isUp || participant.isPaused) return
    world.counts.pauses++
    world.transcript.note(world.now, participant.id, 'pause')
    world.life.pause(participant)
    const { process } = participant
    this.#endAfter(random.logUniform(20, 1_500), () => {
      if (participant.process === process) world.life.resume(participant)
    })
  }

  /** Splits the participants in two groups that do not hear each other. */
  #partition(random: Random): void {
    const world = this.#world
    const inFirst = [false]
    for (let id = 1; id <= this.#size; id++) inFirst.push(random.chance(0.5))
    const links: [ParticipantId, ParticipantId][] = []
    for (let from = 1; from <= this.#size; from++) {
      for (let to = 1; to <= this.#size; to++) if (inFirst[from] !== inFirst[to]) links.push([from, to])
    }
    if (links.length === 0) return
    world.counts.partitions++
    this.#cutFor(random.logUniform(50, 3_000), links, 'partition')
  }

  /** A participant cannot hear, or cannot be heard, by all or by one. */
  #oneWay(random: Random): void {
    const world = this.#world
    const victim = this.#victim(random, this.#anyone(random))
    const isDeaf = random.chance(0.5)
    const peers: ParticipantId[] = []
    for (let id = 1; id <= this.#size; id++) if (id !== victim) peers.push(id)
    if (peers.length === 0) return
    const affected = random.chance(0.6) ? peers : [random.pick(peers)]
    world.counts.oneWayPartitions++
    const links = affected.map((peer): [ParticipantId, ParticipantId] =>
      isDeaf ? [peer, victim] : [victim, peer],
    )
    this.#cutFor(random.logUniform(50, 3_000), links, 'one-way partition')
  }

  #cutFor(
    durationMs: number,
    links: readonly (readonly [ParticipantId, ParticipantId])[],
    name: string,
  ): void {
    const world = this.#world
    world.transcript.note(world.now, 0, `${name} ${links.map(([from, to]) => `${from}>${to}`).join(' ')}`)
    for (const [from, to] of links) world.network.cut(from, to)
    this.#endAfter(durationMs, () => {
      world.transcript.note(world.now, 0, `${name} over`)
      for (const [from, to] of links) world.network.mend(from, to)
    })
  }

  /** A participant is told that a live peer cannot be reached; sometimes all are told so. */
  #suspect(random: Random): void {
    const world = this.#world
    const witness = this.#anyone(random)
    const peer = this.#victim(random, witness)
    if (!world.participant(peer).isUp) return
    const witnesses = random.chance(0.5) ? world.participants.slice(1) : [witness]
    for (const participant of witnesses)
      if (participant.id !== peer) world.interpreter.tellUnreachable(participant, peer)
  }

  /** Messages to and from a participant take longer for a while. */
  #slowDown(random: Random): void {
    const world = this.#world
    const victim = this.#victim(random, this.#anyone(random))
    const extraMs = random.logUniform(20, 800)
    world.counts.delaySpikes++
    world.network.slowDown(victim, extraMs)
    this.#endAfter(random.logUniform(30, 800), () => world.network.slowDown(victim, -extraMs))
  }

  /** A participant leaves the group, or comes back to it. */
  #changeGroup(random: Random): void {
    const participant = this.#anyone(random)
    const wish = random.chance(0.5) ? 'leave' : 'join'
    if (participant.isUp && (wish === 'join' || this.#world.mayLeave(participant.id)))
      this.#world.tell(participant.id, { type: 'membership', request: `g${++this.#operators}`, wish })
  }

  #eject(random: Random): void {
    const participant = this.#anyone(random)
    if (participant.isUp)
      this.#world.tell(participant.id, { type: 'eject', request: `o${++this.#operators}` })
  }
}
