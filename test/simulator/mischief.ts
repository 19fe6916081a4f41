/**
 * Clients that say what no sound client says. They leave in the name of a user that is gone; they use fences
 * that belong to others, are long over or were never given; they keep alive what is not theirs, and ask for
 * what this lock does not have. This must change nothing for the others. They also try and never come back;
 * their grants end by themselves.
 */
import type { ParticipantId, UserInput } from '../../shared/protocols/protocol.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

const TTL_MS = 60
/** If one happens to keep a grant of its own alive, it does not do so forever. */
const KEPT_MS = 1_000

export class Mischief<State, Message> {
  readonly #world: World<State, Message>
  #names = 0

  constructor(world: World<State, Message>) {
    this.#world = world
  }

  play(random: Random): void {
    const world = this.#world
    const at = random.between(1, world.scenario.options.participants)
    world.counts.mischief++
    world.tell(at, this.#draw(random, at))
  }

  #draw(random: Random, at: ParticipantId): UserInput {
    const { holders, waiters, endings } = this.#viewOf(at)
    const nobody = `evil${++this.#names}`
    // Not in the name of a client that is there: the refusal would reach it, though it has not asked.
    const names = [...holders, ...waiters, ...endings].map(({ user }) => user)
    const somebody = random.pick([...names.filter(name => !this.#world.users.has(name)), nobody])
    const fences = [...holders, ...endings].map(({ fence }) => fence)
    const fence = random.pick([...fences, 0, random.below(1_000), Number.MAX_SAFE_INTEGER])
    const user = `evil${random.between(1, this.#names)}`
    switch (random.below(8)) {
      case 0:
        // The right fence, but from another user.
        return { type: 'exit', user, fence }
      case 1:
        return { type: 'exit', user: somebody, fence: this.#notOf(at, somebody, fence) }
      case 2:
        return { type: 'keep-alive', user, fence, ttlMs: KEPT_MS }
      case 3:
        return { type: 'withdraw', user: nobody }
      case 4:
        // With its own fence it would be an operation like any other, of a user that is not in the history.
        return {
          type: 'issue',
          user,
          fence: this.#notOf(at, user, fence),
          opId: nobody,
          operation: [{ increment: 'evil' }],
        }
      case 5:
        return { type: 'cancel-read', request: nobody }
      case 6:
        return { type: 'try', user: nobody, ttlMs: TTL_MS }
      default:
        return { type: 'try', user: nobody, ttlMs: TTL_MS, waitMs: random.between(0, 100) }
    }
  }

  /** A fence that this user does not have: with its own, it would only be leaving. */
  #notOf(at: ParticipantId, user: string, fence: number): number {
    const isOwn = this.#viewOf(at).holders.some(holder => holder.user === user && holder.fence === fence)
    return isOwn ? fence + 1 : fence
  }

  #viewOf(at: ParticipantId) {
    const { context, state } = this.#world.participant(at)
    return this.#world.subject.protocol.view(context, state)
  }
}
