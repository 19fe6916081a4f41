/**
 * Mutual exclusion in the time of the simulated world, which no participant knows: never two writers inside,
 * never a writer with readers. A grant begins with its `crit` and ends with its `rem` or `ejected`. A crash
 * does not end it, since it is stored, and neither does the crash of its user.
 *
 * Fences are unique and increase in the order of entering; those of readers without a writer between them may
 * have any order.
 */
import type { ParticipantId } from '../../../shared/protocols/protocol.ts'
import { violate } from '../violation.ts'
import type { Grant, GrantListener } from './conversations.ts'

export class Exclusion implements GrantListener {
  readonly #inside = new Set<Grant>()
  /**
   * If participants that are down for long are declared dead, what they hold does not count while they are
   * down.
   */
  readonly #counts: (participant: ParticipantId) => boolean
  readonly #fences = new Set<number>()
  #highest = 0
  #highestWriter = 0

  constructor(counts: (participant: ParticipantId) => boolean = () => true) {
    this.#counts = counts
  }

  get inside(): ReadonlySet<Grant> {
    return this.#inside
  }

  entered(grant: Grant): void {
    this.#inside.add(grant)
    this.check()
    const { fence, user, mode } = grant
    if (!Number.isSafeInteger(fence)) violate('fences', `${user} is let in with the fence ${fence}`)
    if (this.#fences.has(fence))
      violate('fences', `${user} is let in with fence ${fence}, which was given before`)
    const least = mode === 'exclusive' ? this.#highest : this.#highestWriter
    if (fence <= least)
      violate('fences', `${user} is let in with fence ${fence}, after another user with fence ${least}`)
    this.#fences.add(fence)
    this.#highest = Math.max(this.#highest, fence)
    if (mode === 'exclusive') this.#highestWriter = Math.max(this.#highestWriter, fence)
  }

  left(grant: Grant): void {
    this.#inside.delete(grant)
  }

  /** Called after every step, and whenever a user has come in. */
  check(): void {
    if (this.#inside.size < 2) return
    const inside = [...this.#inside].filter(({ participant }) => this.#counts(participant))
    if (inside.length < 2 || inside.every(({ mode }) => mode === 'shared')) return
    const names = inside.map(
      ({ user, participant, fence, mode }) => `${user} at p${participant} (fence ${fence}, ${mode})`,
    )
    violate('mutual exclusion', `inside together: ${names.join(' and ')}`)
  }
}
