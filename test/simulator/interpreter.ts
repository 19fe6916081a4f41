/**
 * The interpreter of the protocol's effects, like the Durable Object, except that here everything that can go
 * wrong between two effects does.
 */
import type { Json } from '../../shared/json.ts'
import type { Effect, Envelope, Input, ParticipantId } from '../../shared/protocols/protocol.ts'
import { frozenCopy } from './frozen-copy.ts'
import type { Participant, TimerSlot } from './participant.ts'
import type { SimEvent } from './sim-event.ts'
import { Violation, violate } from './violation.ts'
import type { World } from './world.ts'

/** More steps than any sound run takes: beyond it the participants talk to each other forever. */
const MAX_STEPS = 2_000_000

/** How often the transport notices that it cannot deliver, and says so. */
const NOTICED_WHEN_DOWN = 0.3
const NOTICED_WHEN_CUT = 0.05

/** How often something that may wait is written at once. */
const WRITTEN_AT_ONCE = 0.1

/** A crash is this much likelier while something waits to be written. */
const CRASHES_WHILE_IT_WAITS = 5

type SaveEffect = Extract<Effect<never>, { readonly type: 'save' }>

export class Interpreter<State, Message> {
  readonly #world: World<State, Message>
  readonly #isStrict: boolean
  /** Calls of the protocol's `step`. */
  steps = 0

  constructor(world: World<State, Message>) {
    this.#world = world
    this.#isStrict = world.scenario.strict
  }

  /** Something reaches a participant that is not paused. It may be down. */
  arrive(participant: Participant<State, Message>, event: SimEvent<Message>): void {
    const world = this.#world
    const now = participant.clock(world.now)
    switch (event.kind) {
      case 'message':
        world.network.arrived(event.source, event.target, event.order)
        if (!participant.isUp) return this.#notDelivered(event.source, event.target, NOTICED_WHEN_DOWN)
        return this.step(participant, { type: 'message', now, from: event.source, message: event.payload })
      case 'timer':
        return this.#ring(participant, event.payload)
      case 'to-stub':
        if (!participant.isUp) return
        world.checks.said(participant, event.payload)
        return this.step(participant, { type: 'user', now, event: event.payload })
      case 'unreachable':
        world.counts.unreachableHints++
        return this.tellUnreachable(participant, event.source)
    }
  }

  tellUnreachable(participant: Participant<State, Message>, peer: ParticipantId): void {
    if (!participant.isUp || participant.isPaused) return
    this.step(participant, { type: 'unreachable', now: participant.clock(this.#world.now), peer })
  }

  #notDelivered(from: ParticipantId, to: ParticipantId, probability: number): void {
    const { random, now } = this.#world
    if (random.chance(probability)) {
      this.#world.schedule(now + random.between(1, 20), 'unreachable', from, to, null)
    }
  }

  // ---------------------------------------------------------------- one step

  step(participant: Participant<State, Message>, input: Input<Message>): void {
    if (++this.steps > MAX_STEPS) {
      throw new Violation('defect', 'endless', `the run takes over ${MAX_STEPS} steps`)
    }
    const world = this.#world
    const { random, recorder, scenario, subject } = world
    const effects = subject.protocol.step(participant.context, participant.state, input)
    world.transcript.step(world.now, participant.id, input, effects)
    const mayCrash = world.hasFaults && effects.length > 0 && world.mayCrash(participant.id)
    const mayLose = effects[0]?.type === 'save' && effects[0].mayWait
    const isCrashing =
      mayCrash && random.chance(scenario.crashAfterSave * (mayLose ? CRASHES_WHILE_IT_WAITS : 1))
    // How many effects happen before the crash. The save is made in any case: crashing before it is the same
    // as crashing before the input.
    const performed = isCrashing ? random.below(effects.length) : effects.length
    for (let index = 0; index < effects.length; index++) {
      this.#perform(participant, effects[index]!, index, index >= performed)
    }
    if (recorder.hasPending) recorder.flush(participant.id, subject.cellsOf(participant))
    if (isCrashing) {
      if (effects[0]!.type === 'save' && effects.length > 1) world.counts.crashesAfterSave++
      world.life.crashAndRestart(participant)
    } else {
      world.checks.stepped(participant, input)
    }
  }

  #perform(
    participant: Participant<State, Message>,
    effect: Effect<Message>,
    index: number,
    isLost: boolean,
  ): void {
    const world = this.#world
    switch (effect.type) {
      case 'save':
        if (index !== 0) violate('effects', 'a save is not the first effect of its step')
        this.#save(participant, effect)
        return world.checks.saved(participant, effect.records, effect.mayWait === true)
      case 'send':
        if (!isLost) this.#send(participant, effect.to, effect.message)
        return
      case 'set-timer':
        if (!isLost) this.#setTimer(participant, effect.timer, effect.afterMs)
        return
      case 'cancel-timer': {
        const slot = participant.timers.get(effect.timer)
        if (slot !== undefined) slot.isSet = false
        return
      }
      case 'emit': {
        const { event } = effect
        if (event.type === 'members') return
        world.checks.emitted(participant, event, isLost)
        // The replica changes with the save: what happened to it happened, whatever the process could still
        // say.
        if (event.type === 'applied' || event.type === 'granted' || event.type === 'restored')
          world.recorder.replica(world.now, participant.id, event)
        else if (!isLost) world.toUser(participant, event)
      }
    }
  }

  #save(participant: Participant<State, Message>, { records, mayWait }: SaveEffect): void {
    const { random, counts } = this.#world
    const saved = this.#isStrict
      ? records.map(({ key, value }) => ({ key, value: frozenCopy(value) as Json | null }))
      : records
    if (mayWait) counts.savesThatWait++
    // The host may write at any moment, and does so now and then.
    participant.save(saved, mayWait === true && !random.chance(WRITTEN_AT_ONCE))
  }

  #send(participant: Participant<State, Message>, to: ParticipantId, message: Envelope<Message>): void {
    const world = this.#world
    const { network, now } = world
    const from = participant.id
    world.checks.sent(participant, to, message)
    const at = network.arrival(from, to, now)
    if (at === null) {
      if (network.isCut(from, to)) this.#notDelivered(from, to, NOTICED_WHEN_CUT)
      return
    }
    const sent = this.#isStrict ? (frozenCopy(message) as Envelope<Message>) : message
    world.schedule(at, 'message', to, from, sent)
    const again = network.duplicateArrival(from, to, now)
    if (again !== null) world.schedule(again, 'message', to, from, sent)
  }

  // ---------------------------------------------------------------- timers

  #setTimer(participant: Participant<State, Message>, name: string, afterMs: number): void {
    let slot = participant.timers.get(name)
    if (slot === undefined) {
      slot = { name, isSet: false, deadline: 0, queuedFor: Number.POSITIVE_INFINITY }
      participant.timers.set(name, slot)
    }
    slot.isSet = true
    slot.deadline = this.#world.now + afterMs / participant.rate
    // An event that comes earlier is in the queue already: it will be put back.
    if (slot.queuedFor > slot.deadline) this.#enqueue(participant, slot)
  }

  #enqueue(participant: Participant<State, Message>, slot: TimerSlot): void {
    slot.queuedFor = slot.deadline
    this.#world.schedule(slot.deadline, 'timer', participant.id, 0, slot)
  }

  #ring(participant: Participant<State, Message>, slot: TimerSlot): void {
    const { now } = this.#world
    // A timer of a process that is gone, or an event whose timer has since been set to an earlier time.
    if (participant.timers.get(slot.name) !== slot || slot.queuedFor > now) return
    slot.queuedFor = Number.POSITIVE_INFINITY
    if (!slot.isSet) return
    if (slot.deadline > now) return this.#enqueue(participant, slot)
    slot.isSet = false
    this.step(participant, { type: 'timer', now: participant.clock(now), timer: slot.name })
  }
}
