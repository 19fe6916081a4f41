/**
 * Random histories of a lock that guards no state, valid by construction: one writer or several readers are
 * inside, and news takes its time to reach them. So a user may hear of its ejection, or even of its grant,
 * when another one is inside.
 */
import type { EjectionReason, History, HistoryEvent } from '../../shared/history/events.ts'
import type { Mode } from '../../shared/protocols/protocol.ts'
import { HEADER } from './builder.ts'
import { Random } from './random.ts'

interface User {
  readonly name: string
  readonly participant: number
  mode: Mode
  phase: 'outside' | 'trying' | 'inside' | 'leaving' | 'gone'
  /** The fence of the user that has been let in, which it may not know yet; 0 if it has not. */
  fence: number
  /** The grant is over, and the user does not know. */
  ending: 'released' | EjectionReason | null
}

class Model {
  readonly events: HistoryEvent[] = []
  readonly #random: Random
  readonly #participants: number
  readonly #hasReaders: boolean
  #users: User[] = []
  #names = 0
  #fence = 0
  #now = 0

  constructor(options: LockOnlyOptions) {
    this.#random = new Random(options.seed)
    this.#participants = options.participants
    this.#hasReaders = options.readers
    for (let user = 0; user < options.users; user++) this.#users.push(this.#newUser())
  }

  step(): void {
    const user = this.#random.pick(this.#users)!
    if (this.#random.chance(0.01)) return this.#crash(user)
    if (user.fence > 0 && user.ending === null && this.#random.chance(0.05)) {
      user.ending = this.#random.pick(['expired', 'operator'] as const)!
      return
    }
    switch (user.phase) {
      case 'outside':
        return this.#try(user)
      case 'trying':
        if (user.fence > 0) return this.#hearCrit(user)
        if (this.#random.chance(0.05)) return this.#withdraw(user)
        return this.#letIn(user)
      case 'inside':
        return user.ending === null || this.#random.chance(0.5) ? this.#exit(user) : this.#hearEnd(user)
      case 'leaving':
        user.ending ??= 'released'
        return this.#hearEnd(user)
    }
  }

  /** All participants are healed, and every user that has begun something finishes it. */
  finish(): void {
    const participants = Array.from({ length: this.#participants }, (_, index) => index + 1)
    this.#record({ type: 'healed', participants })
    this.#record({ type: 'settled' })
    for (const user of [...this.#users, ...this.#users, ...this.#users]) {
      if (user.phase === 'inside') this.#exit(user)
      if (user.phase !== 'leaving') continue
      user.ending ??= 'released'
      this.#hearEnd(user)
    }
    for (const user of this.#users) if (user.phase === 'trying' && user.fence > 0) this.#serve(user)
    for (const user of this.#users) if (user.phase === 'trying') this.#serve(user)
    this.#record({ type: 'end' })
  }

  #serve(user: User): void {
    this.#letIn(user)
    this.#hearCrit(user)
    this.#exit(user)
    user.ending ??= 'released'
    this.#hearEnd(user)
  }

  #try(user: User): void {
    user.phase = 'trying'
    const isReader = this.#hasReaders && this.#random.chance(0.6)
    user.mode = isReader ? 'shared' : 'exclusive'
    this.#record({ type: 'try', ...this.#who(user), ...(isReader ? { mode: 'shared' } : {}) })
  }

  #letIn(user: User): void {
    const inside = this.#users.filter(other => other.fence > 0 && other.ending === null)
    const mayEnter = inside.every(other => other.mode === 'shared' && user.mode === 'shared')
    if (user.fence > 0 || !mayEnter) return
    user.fence = this.#fence += 1 + this.#random.below(3)
  }

  #hearCrit(user: User): void {
    user.phase = 'inside'
    this.#record({ type: 'crit', ...this.#who(user), fence: user.fence, epoch: 0 })
  }

  #exit(user: User): void {
    user.phase = 'leaving'
    this.#record({ type: 'exit', ...this.#who(user), fence: user.fence })
  }

  #hearEnd(user: User): void {
    const { fence, ending } = user
    if (ending === 'released') this.#record({ type: 'rem', ...this.#who(user), fence })
    else this.#record({ type: 'ejected', ...this.#who(user), fence, reason: ending })
    this.#leave(user)
  }

  #withdraw(user: User): void {
    this.#record({ type: 'withdrawn', ...this.#who(user) })
    this.#leave(user)
  }

  #leave(user: User): void {
    Object.assign(user, { phase: 'outside', fence: 0, ending: null })
  }

  /** Its grant goes on until it expires; another user takes its place. */
  #crash(user: User): void {
    this.#record({ type: 'crash', ...this.#who(user) })
    this.#users[this.#users.indexOf(user)] = this.#newUser()
  }

  #newUser(): User {
    this.#names++
    const participant = 1 + (this.#names % this.#participants)
    return {
      name: `u${this.#names}`,
      participant,
      mode: 'exclusive',
      phase: 'outside',
      fence: 0,
      ending: null,
    }
  }

  #who(user: User): { user: string; participant: number } {
    return { user: user.name, participant: user.participant }
  }

  #record(event: object): void {
    this.#now += this.#random.below(3)
    this.events.push({ at: this.#now, ...event } as HistoryEvent)
  }
}

export interface LockOnlyOptions {
  readonly seed: number
  readonly events: number
  readonly participants: number
  readonly users: number
  readonly readers: boolean
}

export function randomLockOnlyHistory(options: LockOnlyOptions): History {
  const model = new Model(options)
  while (model.events.length < options.events) model.step()
  model.finish()
  const protocol = options.readers ? 'ricart-agrawala' : 'maekawa'
  return { header: { ...HEADER, protocol, participants: options.participants }, events: model.events }
}
