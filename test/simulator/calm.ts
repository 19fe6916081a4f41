/**
 * The times when nothing goes wrong in the phase with faults: between two faults, and in runs that have none.
 * Marks in the history say so, and the judge counts in every calm stretch how often others go first
 * (shared/history/fairness.ts).
 *
 * It is calm again when all participants have been members, up and connected for a while, and every user that
 * waits or is inside is there: by then, what was said in vain has been said again. In a run that loses
 * messages it is never calm.
 */
import type { World } from './world.ts'

/**
 * Repeats and users wait for up to half a second before they say something again, and an epoch may have to
 * end first.
 */
const CALM_AFTER_MS = 1_000
const LOOK_EVERY_MS = 100

export class Calm<State, Message> {
  readonly #world: World<State, Message>
  readonly #isPossible: boolean
  #isCalm = false
  #isOver = false
  #since = 0
  #isLooking = false

  constructor(world: World<State, Message>) {
    this.#world = world
    const { network, clients } = world.scenario
    // While members come and go, who goes first is not counted.
    this.#isPossible = network.loss === 0 && clients.loss === 0 && world.sets === null
  }

  /** The participants of the lock are born. If nothing has gone wrong by then, it is calm. */
  begin(): void {
    if (this.#isPossible && !this.#isLooking) this.#mark(true)
  }

  /** Something goes wrong now. */
  disturb(): void {
    if (!this.#isPossible || this.#isOver) return
    this.#since = this.#world.now
    if (this.#isCalm) this.#mark(false)
    if (!this.#isLooking) this.#lookAgain()
  }

  /** The phase with faults is over. */
  end(): void {
    if (this.#isCalm) this.#mark(false)
    this.#isOver = true
  }

  #mark(isCalm: boolean): void {
    const world = this.#world
    this.#isCalm = isCalm
    if (isCalm) world.counts.calmStretches++
    world.record({ at: world.now, type: isCalm ? 'calm' : 'fault' })
  }

  #lookAgain(): void {
    this.#isLooking = true
    this.#world.after(LOOK_EVERY_MS, () => this.#look())
  }

  #look(): void {
    const { now } = this.#world
    if (this.#isOver) return
    if (!this.#isAllWell()) this.#since = now
    if (now - this.#since < CALM_AFTER_MS) return this.#lookAgain()
    this.#isLooking = false
    this.#mark(true)
  }

  #isAllWell(): boolean {
    const { participants, network, subject, users } = this.#world
    const isThere = ({ user }: { readonly user: string }) => users.has(user)
    for (const participant of participants.slice(1)) {
      if (!participant.isUp || participant.isPaused || !subject.isMember(participant)) return false
      const { holders, waiters } = subject.protocol.view(participant.context, participant.state)
      if (!holders.every(isThere) || !waiters.every(isThere)) return false
    }
    return network.isWhole
  }
}
