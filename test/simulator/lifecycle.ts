/** How participants come and go: starts, crashes, lost storage, pauses. */
import type { Participant } from './participant.ts'
import type { World } from './world.ts'

export class Lifecycle<State, Message> {
  readonly #world: World<State, Message>
  #incarnation = 0

  constructor(world: World<State, Message>) {
    this.#world = world
  }

  /** A process begins with what is in storage, and nothing else. */
  start(participant: Participant<State, Message>): void {
    if (participant.isUp || participant.isOff) return
    const world = this.#world
    // Only the first start of a participant that never lost anything is the birth of the lock.
    const isBornWith = participant.id <= world.scenario.options.participants
    const genesis = isBornWith && participant.incarnation === 0 && !participant.wasWiped
    participant.incarnation = ++this.#incarnation
    participant.process++
    world.size = Math.max(world.size, participant.id)
    participant.state = world.subject.protocol.recover(participant.context, participant.storage)
    participant.isUp = true
    world.transcript.note(world.now, participant.id, 'start')
    // Unlike any other, and neither higher nor lower than those before.
    const incarnation = Math.imul(participant.incarnation, 0x9e3779b1) >>> 0
    world.interpreter.step(participant, {
      type: 'start',
      now: participant.clock(world.now),
      genesis,
      incarnation,
    })
  }

  /** What was not saved is gone. */
  crash(participant: Participant<State, Message>): void {
    if (!participant.isUp) return
    const world = this.#world
    world.calm.disturb()
    world.transcript.note(world.now, participant.id, 'crash')
    participant.isUp = false
    participant.isPaused = false
    participant.process++
    participant.inbox.length = 0
    participant.timers = new Map()
    world.checks.crashed(participant)
    this.#loseWaiting(participant)
  }

  #loseWaiting(participant: Participant<State, Message>): void {
    const world = this.#world
    if (!participant.loseWaiting()) return
    world.counts.waitingSavesLost++
    world.transcript.note(world.now, participant.id, 'loses what was not written yet')
    world.checks.fellBack(participant)
    world.recorder.restarted(world.now, participant.id, world.subject.appliedBy!(participant.storage))
    participant.fallBacks++
  }

  crashAndRestart(participant: Participant<State, Message>): void {
    if (!participant.isUp) return
    this.#world.counts.crashes++
    this.crash(participant)
    const { process } = participant
    this.#world.after(this.#world.random.logUniform(1, 1_500), () => {
      if (participant.process === process) this.start(participant)
    })
  }

  /** The storage is gone, and with it the process. */
  wipe(participant: Participant<State, Message>): void {
    const world = this.#world
    this.crashAndRestart(participant)
    world.counts.wipes++
    world.transcript.note(world.now, participant.id, 'wipe')
    participant.storage.clear()
    participant.wasWiped = true
    world.recorder.wiped(world.now, participant.id)
    world.silence(participant)
    world.checks.wiped(participant)
  }

  /** The machine is gone for good, with everything on it. */
  switchOff(participant: Participant<State, Message>): void {
    this.crash(participant)
    participant.process++
    participant.isOff = true
    this.#world.transcript.note(this.#world.now, participant.id, 'switched off')
  }

  /** Like SIGSTOP: nothing is lost, but nothing happens. */
  pause(participant: Participant<State, Message>): void {
    participant.isPaused = participant.isUp
  }

  /** Everything that came meanwhile comes now, in order, including the timers. */
  resume(participant: Participant<State, Message>): void {
    if (!participant.isPaused) return
    participant.isPaused = false
    const inbox = participant.inbox.splice(0)
    const { process } = participant
    for (const event of inbox) {
      if (participant.process === process) this.#world.interpreter.arrive(participant, event)
    }
  }
}
