/**
 * Random histories that are valid by construction: users, one token, one log. The generator is not a protocol
 * but an oracle that knows everything, so it can take every turn that the properties allow: users that are
 * ejected, give up, crash, and send operations again; second tokens whose operations never make it into the
 * log; replicas that lag, jump and are wiped.
 */
import type { History, HistoryEvent } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import { HEADER } from './builder.ts'
import { type LogEntry, ModelReplicas } from './model-replicas.ts'
import { Random } from './random.ts'

export interface GeneratorOptions {
  readonly seed: number
  /** The history is ended soon after it has this many events. */
  readonly events: number
  readonly participants: number
  readonly users: number
  readonly resultsKept: number
  readonly hashProbability: number
  /** How often replicas are wiped and get snapshots, compared with the default of 1. */
  readonly replicaFaults: number
}

export const GENERATOR_DEFAULTS: GeneratorOptions = {
  seed: 1,
  events: 300,
  participants: 3,
  users: 5,
  resultsKept: 10,
  hashProbability: 0.2,
  replicaFaults: 1,
}

interface User {
  readonly name: string
  readonly participant: number
  phase: 'outside' | 'trying' | 'inside' | 'issuing' | 'leaving'
  fence: number
  /** Its token is a second one: nothing that it issues ever gets into the log. */
  ghost: boolean
  pending: { readonly opId: string; readonly operation: Json; entry: LogEntry | null } | null
}

class Model {
  readonly events: HistoryEvent[] = []
  readonly #random: Random
  readonly #replicas: ModelReplicas
  readonly #participants: number
  readonly #replicaFaults: number
  #users: User[]
  #holder: User | null = null
  #now = 0
  #epoch = 0
  #fence = 0
  #names = 0
  #operations = 0
  #settled = false

  constructor(options: GeneratorOptions) {
    this.#random = new Random(options.seed)
    this.#participants = options.participants
    this.#replicaFaults = options.replicaFaults
    this.#replicas = new ModelReplicas(this.#random, event => this.#record(event), options)
    this.#users = Array.from({ length: options.users }, () => this.#newUser())
  }

  /** One random thing happens. */
  step(): void {
    if (this.#random.chance(0.2)) this.#replicaStep()
    else this.#userStep(this.#random.pick(this.#users)!)
  }

  /** A majority is healed, everything owed to its users is done, and the history comes to its end. */
  finish(): void {
    const size = this.#random.below(2) === 0 ? this.#participants : Math.floor(this.#participants / 2) + 1
    const all = Array.from({ length: this.#participants }, (_, index) => index + 1)
    const healed = this.#random.shuffled(all).slice(0, size)
    this.#record({ type: 'healed', participants: healed })
    this.#users = this.#users.filter(user => healed.includes(user.participant))
    if (this.#holder !== null && !this.#users.includes(this.#holder)) this.#holder = null
    for (const user of this.#users) if (user.ghost && user.phase !== 'leaving') this.#eject(user)
    this.#record({ type: 'settled' })
    this.#settled = true
    for (let round = 0; round < 3; round++) this.#serveEverybody()
    this.#record({ type: 'end' })
  }

  #serveEverybody(): void {
    for (const user of this.#users) if (user.phase === 'outside') this.#try(user)
    if (this.#holder !== null) this.#driveOut(this.#holder)
    for (const user of this.#users) if (user.phase === 'leaving') this.#rem(user)
    for (const user of this.#random.shuffled(this.#users)) {
      if (user.phase !== 'trying') continue
      this.#grant(user)
      if (this.#random.chance(0.7)) this.#issue(user)
      this.#driveOut(user)
    }
  }

  /** The holder finishes what it has begun, and leaves. */
  #driveOut(user: User): void {
    if (user.phase === 'issuing') this.#answer(user)
    if (user.phase === 'inside') this.#exit(user)
    if (user.phase === 'leaving') this.#rem(user)
  }

  #replicaStep(): void {
    const participant = 1 + this.#random.below(this.#participants)
    if (this.#random.chance(0.03 * this.#replicaFaults)) this.#replicas.wipe(participant)
    else if (this.#random.chance(0.1 * this.#replicaFaults)) this.#replicas.restore(participant)
    else for (let many = this.#random.below(4); many >= 0; many--) this.#replicas.applyNext(participant)
  }

  #userStep(user: User): void {
    if (this.#random.chance(0.01)) return this.#crash(user)
    switch (user.phase) {
      case 'outside':
        return this.#try(user)
      case 'trying':
        if (this.#holder === null) return this.#grant(user)
        if (this.#random.chance(0.05)) return this.#grantGhost(user)
        if (this.#random.chance(0.05)) return this.#withdraw(user)
        return
      case 'inside':
        if (this.#random.chance(0.05)) return this.#eject(user)
        return this.#random.chance(0.7) ? this.#issue(user) : this.#exit(user)
      case 'issuing':
        return user.ghost || this.#random.chance(0.1) ? this.#eject(user) : this.#answer(user)
      case 'leaving':
        return this.#rem(user)
    }
  }

  #try(user: User): void {
    user.phase = 'trying'
    this.#record({ type: 'try', ...this.#who(user) })
  }

  #withdraw(user: User): void {
    user.phase = 'outside'
    this.#record({ type: 'withdrawn', ...this.#who(user) })
  }

  #grant(user: User): void {
    this.#replicas.sequence++
    this.#holder = user
    this.#enter(user, false)
  }

  #grantGhost(user: User): void {
    this.#enter(user, true)
    this.#epoch++
  }

  #enter(user: User, ghost: boolean): void {
    this.#replicas.catchUp(user.participant)
    this.#fence += 1 + this.#random.below(3)
    Object.assign(user, { phase: 'inside', fence: this.#fence, ghost })
    this.#record({ type: 'crit', ...this.#who(user), fence: user.fence, epoch: this.#epoch })
  }

  #issue(user: User): void {
    const { opId, operation } = this.#chooseOperation(user)
    user.phase = 'issuing'
    user.pending = { opId, operation, entry: null }
    this.#record({ type: 'issue', ...this.#who(user), fence: user.fence, opId, operation })
    if (!user.ghost && this.#random.chance(0.8)) this.#log(user)
  }

  /**
   * Mostly a new operation; sometimes one of the last operations of another instance again, or only its name.
   */
  #chooseOperation(user: User): { opId: string; operation: Json } {
    const earlier = this.#replicas.log.at(-1 - this.#random.below(20))
    if (earlier !== undefined && earlier.fence < user.fence && this.#random.chance(0.15)) {
      const { opId, operation } = earlier
      return { opId, operation: this.#random.chance(0.2) ? { add: 1000 } : operation }
    }
    this.#operations++
    const fails = this.#random.chance(0.02)
    return {
      opId: `op${this.#operations}`,
      operation: fails ? { add: null } : { add: 1 + this.#random.below(9) },
    }
  }

  #log(user: User): void {
    const { opId, operation } = user.pending!
    user.pending!.entry = this.#replicas.append(user.fence, opId, operation)
  }

  #answer(user: User): void {
    const pending = user.pending!
    let told: { sequence: number; result: Json } | null = null
    if (pending.entry === null) {
      this.#replicas.catchUp(user.participant)
      const stored = this.#replicas.remembered(user.participant, pending.opId)
      const same = JSON.stringify(this.#operationAt(stored?.sequence)) === JSON.stringify(pending.operation)
      // An operation that is known already need not go into the log again.
      if (stored !== undefined && same) told = { sequence: stored.sequence, result: stored.result }
      else this.#log(user)
    }
    told ??= this.#replicas.catchUp(user.participant) ?? this.#settleFromResults(user)
    if (told === null) return this.#eject(user)
    user.phase = 'inside'
    user.pending = null
    const { participant, name, fence } = user
    const event = { participant, user: name, fence, opId: pending.opId, ...told }
    this.#record({ type: 'outcome', ...event })
  }

  #operationAt(sequence: number | undefined): Json {
    if (sequence === undefined) return null
    return this.#replicas.log.findLast(entry => entry.sequence === sequence)?.operation ?? null
  }

  /**
   * The user's own replica had the entry already, or jumped over it: the result is known only if it is
   * remembered.
   */
  #settleFromResults(user: User): { sequence: number; result: Json } | null {
    const { opId, operation } = user.pending!
    const stored = this.#replicas.remembered(user.participant, opId)
    if (stored === undefined) return null
    const same = JSON.stringify(this.#operationAt(stored.sequence)) === JSON.stringify(operation)
    return same ? { sequence: stored.sequence, result: stored.result } : null
  }

  #exit(user: User): void {
    user.phase = 'leaving'
    this.#record({ type: 'exit', ...this.#who(user), fence: user.fence })
    if (this.#random.chance(0.7)) this.#rem(user)
  }

  #rem(user: User): void {
    this.#record({ type: 'rem', ...this.#who(user), fence: user.fence })
    this.#leave(user)
  }

  #eject(user: User): void {
    const { pending, fence } = user
    const reason = this.#settled
      ? 'expired'
      : (this.#random.pick(['suspected', 'expired', 'operator'] as const) ?? 'expired')
    const event = { type: 'ejected', ...this.#who(user), fence, reason } as const
    if (pending === null) this.#record(event)
    else {
      // It may be in the log from before, when the same user issued it in the same instance.
      const known = this.#replicas.log.findLast(entry => entry.fence < fence || entry.opId === pending.opId)
      const logged = pending.entry !== null || known?.fence === fence
      const outcome = !logged && this.#random.chance(0.8) ? 'not-applied' : 'unknown'
      this.#record({ ...event, pending: { opId: pending.opId, outcome } })
    }
    this.#epoch++
    this.#leave(user)
  }

  /** Another user takes the place of the one that is gone. */
  #crash(user: User): void {
    this.#record({ type: 'crash', ...this.#who(user) })
    this.#leave(user)
    this.#users[this.#users.indexOf(user)] = this.#newUser()
  }

  #leave(user: User): void {
    if (this.#holder === user) this.#holder = null
    Object.assign(user, { phase: 'outside', ghost: false, pending: null })
  }

  #newUser(): User {
    this.#names++
    const participant = 1 + (this.#names % this.#participants)
    return { name: `u${this.#names}`, participant, phase: 'outside', fence: 0, ghost: false, pending: null }
  }

  #who(user: User): { user: string; participant: number } {
    return { user: user.name, participant: user.participant }
  }

  #record(event: object): void {
    this.#now += this.#random.below(3)
    this.events.push({ at: this.#now, ...event } as HistoryEvent)
  }
}

export function randomHistory(options: Partial<GeneratorOptions> = {}): History {
  const all = { ...GENERATOR_DEFAULTS, ...options }
  const model = new Model(all)
  while (model.events.length < all.events) model.step()
  model.finish()
  const { participants, resultsKept } = all
  return { header: { ...HEADER, participants, resultsKept }, events: model.events }
}
