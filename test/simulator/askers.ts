/**
 * Askers that are no users of the lock: readers of the guarded state, and operators that want the holder out.
 */
import type { ParticipantId } from '../../shared/protocols/protocol.ts'
import { Random } from './random.ts'
import { STREAM } from './scenario.ts'
import type { World } from './world.ts'

const ASK_AGAIN_MS = 2_000

export class Askers<State, Message> {
  readonly #world: World<State, Message>
  readonly #random: Random
  #requests = 0

  constructor(world: World<State, Message>) {
    this.#world = world
    this.#random = new Random(world.scenario.seed, STREAM.askers)
  }

  /** Reads now and then, anywhere, until the end when all must fall silent. */
  readUntil(end: number): void {
    const world = this.#world
    const { readMs } = world.scenario
    if (readMs === Number.POSITIVE_INFINITY) return
    const next = () => {
      if (world.now >= end) return
      const at = this.#random.between(1, world.size)
      const request = `r${++this.#requests}`
      world.tell(at, { type: 'read', request })
      if (this.#random.chance(0.2)) {
        world.after(this.#random.between(1, 50), () => world.tell(at, { type: 'cancel-read', request }))
      }
      world.after(this.#random.exponential(readMs), next)
    }
    world.after(this.#random.exponential(readMs), next)
  }

  /** Asks until there is an answer. The world remembers the question until it is answered. */
  insist(type: 'read' | 'eject' | 'join', at: ParticipantId): void {
    const world = this.#world
    const question = `${type}-${++this.#requests}`
    world.unanswered.add(question)
    let attempts = 0
    const ask = () => {
      if (!world.unanswered.has(question)) return
      const request = attempts === 0 ? question : `${question}/${attempts}`
      world.tell(at, type === 'join' ? { type: 'membership', request, wish: type } : { type, request })
      attempts++
      world.after(ASK_AGAIN_MS, ask)
    }
    ask()
  }
}

/** The question that a request is about. */
export const questionOf = (request: string): string => request.split('/')[0]!
