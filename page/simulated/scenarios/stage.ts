/**
 * Where a prepared scenario is played: it does things, lets time pass until something has happened, and says
 * what there is to see. The result is an ordinary run with the same actions, and its words.
 */
import type { Action, LinkAction, PlaceAction, TimedAction } from '../engine/actions.ts'
import { Run } from '../engine/run.ts'
import { DEFAULT_SETUP, type Setup } from '../engine/setup.ts'
import type { Seat } from '../engine/tape.ts'
import type { UserState } from '../engine/user.ts'

export interface Scenario {
  /** As links name it. */
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly setup: Partial<Setup>
  play(stage: Stage): void
}

/** Words that hold from this many moments on, until the next. */
export interface Caption {
  readonly from: number
  readonly text: string
}

export interface Prepared {
  readonly scenario: Scenario
  readonly setup: Setup
  readonly actions: readonly TimedAction[]
  readonly captions: readonly Caption[]
  /** How many moments it is about. */
  readonly length: number
}

/** More than any scene takes: beyond it, what it waits for never comes. */
const PATIENCE = 2_000

export class Stage {
  readonly captions: Caption[] = []
  #run: Run

  constructor(setup: Setup) {
    this.#run = new Run(setup)
  }

  get run(): Run {
    return this.#run
  }

  say(text: string): void {
    this.captions.push({ from: this.#run.length, text })
  }

  at(participant: number, type: PlaceAction): void {
    this.#do({ type, participant })
  }

  between(type: LinkAction, from: number, to: number): void {
    this.#do({ type, from, to })
  }

  changeMembers(...members: number[]): void {
    this.#do({ type: 'members', members })
  }

  #do(action: Action): void {
    this.#run = this.#run.withAction(this.#run.length, action)
  }

  /** Lets this much time pass. */
  pass(ms: number): void {
    const end = this.#run.host.now + ms
    for (;;) {
      const next = this.#run.host.nextAt
      if (next === null || next > end || !this.#run.advance()) return
    }
  }

  /** Lets things happen until this is so. */
  until(what: string, isSo: () => boolean): void {
    for (let moments = 0; !isSo(); moments++)
      if (moments > PATIENCE || !this.#run.advance()) throw new Error(`it never comes to pass that ${what}`)
  }

  untilUser(name: string, ...states: UserState[]): void {
    this.until(`${name} is ${states.join(' or ')}`, () => states.includes(this.user(name)))
  }

  untilEpoch(epoch: number, ...participants: number[]): void {
    const isThere = (id: number) => this.seat(id).epoch >= epoch
    this.until(`epoch ${epoch} begins`, () => participants.every(isThere))
  }

  untilReceived(type: string): void {
    const isReceived = () => this.#run.tape.messages.some(one => one.type === type && one.receivedIn !== null)
    this.until(`${type} is received`, isReceived)
  }

  user(name: string): UserState {
    return this.#run.host.users.find(one => one.name === name)?.state ?? 'gone'
  }

  seat(participant: number): Seat {
    return this.#run.host.machine(participant).seat
  }
}

const prepared = new Map<string, Prepared>()

/** A scenario is the same at each playing, so it is played once. */
export function prepare(scenario: Scenario): Prepared {
  const known = prepared.get(scenario.name)
  if (known !== undefined) return known
  const setup = { ...DEFAULT_SETUP, ...scenario.setup }
  const stage = new Stage(setup)
  scenario.play(stage)
  const { run, captions } = stage
  const result = { scenario, setup, actions: run.actions, captions, length: run.length }
  prepared.set(scenario.name, result)
  return result
}
