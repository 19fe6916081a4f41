/**
 * Users of the locks: they use, try, change the state, leave. What happens to them is the history that the
 * judge gets.
 */
import { END_OPERATION } from '../../shared/birth/lock-core.ts'
import type { BirthEvent } from '../../shared/birth/lock-types.ts'
import type { HistoryEvent } from '../../shared/history/events.ts'
import type { Json } from '../../shared/json.ts'
import type { Emitted } from '../../shared/protocols/protocol.ts'
import type { LockHost, World } from './world.ts'

type Phase = 'away' | 'using' | 'trying' | 'inside' | 'issuing' | 'leaving' | 'done' | 'gone'

export interface User {
  readonly name: string
  readonly host: LockHost
  readonly rounds: number
  phase: Phase
  /** Of the lock that it tries to get, or has. */
  generation: number
  fence: number
  opId: string
  done: number
}

const RETRY_MS = 400
const PATIENCE_MS = 6_000
/** The probability that a user that is inside ends the lock instead of using it. */
const ENDING = 0.08

export class Users {
  private readonly world: World
  readonly all: User[] = []
  /** By lock and generation. */
  readonly history = new Map<string, HistoryEvent[]>()
  private readonly byHost = new Map<LockHost, Map<string, User>>()
  private operations = 0
  /** The sequence that the replica has after a snapshot, while the step that restored it is under way. */
  private restored: number | null = null

  constructor(world: World) {
    this.world = world
  }

  add(host: LockHost, rounds: number): User {
    const name = `u${this.all.length + 1}`
    const user: User = { name, host, rounds, phase: 'away', generation: 1, fence: -1, opId: '', done: 0 }
    this.all.push(user)
    if (!this.byHost.has(host)) this.byHost.set(host, new Map())
    this.byHost.get(host)!.set(name, user)
    this.use(user)
    return user
  }

  // ---------------------------------------------------------------- what users do

  private use(user: User): void {
    const { world } = this
    const isFree = user.phase === 'away' || user.phase === 'using'
    if (!isFree) return
    user.phase = 'using'
    const { host } = user
    if (host.state === null) return this.later(user, RETRY_MS)
    const toTry = world.random.chance(0.7)
    const toLook = !toTry && world.random.chance(0.3)
    this.later(user, PATIENCE_MS)
    world.step(host, { type: 'use', now: world.now, toTry, toLook })
  }

  private later(user: User, afterMs: number): void {
    const { phase, done } = user
    this.world.schedule(afterMs, () => {
      if (user.phase === phase && user.done === done) this.use(user)
    })
  }

  private attempt(user: User): void {
    const { world } = this
    user.phase = 'trying'
    user.generation = user.host.state!.birth.generation
    this.record(user, { type: 'try' })
    const event = { type: 'try', user: user.name, ttlMs: 3_000, confirm: world.random.chance(0.2) } as const
    world.step(user.host, { type: 'user', now: world.now, event })
  }

  private goOn(user: User): void {
    const { world } = this
    if (user.phase !== 'inside' || user.host.state === null) return
    const { host, name, fence } = user
    const now = world.now
    if (world.scenario.endings && world.random.chance(ENDING)) return this.end(user)
    if (!this.guardsState(host) || world.random.chance(0.3)) {
      user.phase = 'leaving'
      this.record(user, { type: 'exit', fence })
      return world.step(host, { type: 'user', now, event: { type: 'exit', user: name, fence } })
    }
    this.operations++
    user.phase = 'issuing'
    user.opId = `op${this.operations}`
    const operation: Json = [{ increment: 'n', by: 1 }]
    const { opId } = user
    this.record(user, { type: 'issue', fence, opId, operation })
    world.step(host, { type: 'user', now, event: { type: 'issue', user: name, fence, opId, operation } })
  }

  /** The lock is deleted: an operation that no other user sees, or nothing more at all. */
  private end(user: User): void {
    const { world } = this
    const { host, name, fence } = user
    const now = world.now
    world.checks.counts.ends++
    if (this.guardsState(host)) {
      user.phase = 'issuing'
      user.opId = `end${++this.operations}`
      const { opId } = user
      const operation = END_OPERATION
      return world.step(host, {
        type: 'user',
        now,
        event: { type: 'issue', user: name, fence, opId, operation },
      })
    }
    const { startEpoch } = host.state!.birth.core!
    world.step(host, { type: 'end', now, epoch: startEpoch, length: fence - startEpoch * 1_024 })
  }

  private guardsState({ state }: LockHost): boolean {
    return state?.core != null && state.core.protocol.guarded(state.core.state) !== null
  }

  // ---------------------------------------------------------------- what they hear

  /** What happened to a replica happened with the save, whatever the process could still say. */
  emitted(host: LockHost, event: Emitted | BirthEvent, isLost: boolean, generation: number): void {
    switch (event.type) {
      case 'applied':
      case 'restored':
        return this.replica(host, event, generation)
      case 'granted':
        return
      case 'ended':
        // What was restored before is of the lock that is over.
        this.restored = null
        return
    }
    if (event.type === 'crit') this.world.checks.granted(host, event.fence, event.user)
    if (isLost) return
    switch (event.type) {
      case 'ready':
      case 'elsewhere':
      case 'unavailable':
        return this.onBirth(host, event)
      case 'configured':
      case 'configuration-refused':
        return this.world.checks.configured(host, event, generation)
      case 'told':
        return
    }
    const user = 'user' in event ? this.byHost.get(host)?.get(event.user) : undefined
    if (user !== undefined && user.phase !== 'gone') this.hear(user, event)
  }

  private onBirth(
    host: LockHost,
    event: Extract<BirthEvent, { type: 'ready' | 'elsewhere' | 'unavailable' }>,
  ): void {
    const { world } = this
    if (event.type === 'unavailable') world.checks.unavailable(event.reason)
    for (const user of this.byHost.get(host)?.values() ?? []) {
      if (user.phase !== 'using') continue
      if (event.type === 'ready') {
        // Like everything that follows from a step, after it.
        user.phase = 'away'
        world.schedule(0, () => {
          if (user.phase === 'away' && host.state !== null) this.attempt(user)
          else if (user.phase === 'away') this.later(user, RETRY_MS)
        })
      } else if (event.type === 'elsewhere') user.phase = 'done'
      else {
        user.phase = 'away'
        this.later(user, RETRY_MS)
      }
    }
  }

  private hear(user: User, event: Emitted): void {
    const { world } = this
    const soon = () => world.schedule(world.random.between(0, 30), () => this.goOn(user))
    switch (event.type) {
      case 'crit':
        user.phase = 'inside'
        user.fence = event.fence
        this.record(user, { type: 'crit', fence: event.fence, epoch: event.epoch })
        return soon()
      case 'outcome': {
        if (user.phase !== 'issuing' || event.opId !== user.opId) return
        const { fence, opId, sequence, result } = event
        user.phase = 'inside'
        if (opId.startsWith('end')) return
        world.checks.acknowledged++
        this.record(user, { type: 'outcome', fence, opId, sequence, result })
        return soon()
      }
      case 'rem':
        // It has ended the lock.
        if (user.phase === 'inside' || user.phase === 'issuing') {
          this.record(user, { type: 'exit', fence: event.fence })
          user.phase = 'leaving'
        }
        if (user.phase !== 'leaving') return
        this.record(user, { type: 'rem', fence: event.fence })
        return this.roundOver(user)
      case 'ejected':
        this.record(user, {
          type: 'ejected',
          fence: event.fence,
          reason: event.reason,
          ...(event.pending && !event.pending.opId.startsWith('end') && { pending: event.pending }),
        })
        return this.again(user)
      case 'withdrawn':
        this.record(user, { type: 'withdrawn' })
        return this.again(user)
      case 'refused':
        return this.onRefused(user, event)
    }
  }

  private onRefused(user: User, event: Extract<Emitted, { type: 'refused' }>): void {
    const { world } = this
    if (event.event === 'try') {
      this.record(user, { type: 'withdrawn' })
      return this.again(user)
    }
    // The core is parked: the same is said again, until the lock is known. What was refused has not happened.
    if (event.refusal.code === 'not-a-member') {
      const events = this.of(user.host, user.generation)
      const index = events.findLastIndex(
        one => 'user' in one && one.user === user.name && one.type === event.event,
      )
      if (index !== -1) events.splice(index, 1)
      const { phase, fence, opId } = user
      return world.schedule(RETRY_MS, () => {
        // It may have been ejected since, and have tried again.
        if (user.phase === phase && user.fence === fence && user.opId === opId) this.sayAgain(user)
      })
    }
  }

  private sayAgain(user: User): void {
    const { world } = this
    const { host, name, fence, opId } = user
    if (host.state === null) return
    const now = world.now
    const operation: Json = [{ increment: 'n', by: 1 }]
    if (user.phase === 'issuing' && opId.startsWith('end')) return this.again(user)
    if (user.phase === 'issuing') {
      this.record(user, { type: 'issue', fence, opId, operation })
      world.step(host, { type: 'user', now, event: { type: 'issue', user: name, fence, opId, operation } })
    }
    if (user.phase === 'leaving') {
      this.record(user, { type: 'exit', fence })
      world.step(host, { type: 'user', now, event: { type: 'exit', user: name, fence } })
    }
  }

  private roundOver(user: User): void {
    user.done++
    user.phase = user.done >= user.rounds ? 'done' : 'away'
    if (user.phase === 'away') this.later(user, this.world.random.between(1, 600))
  }

  private again(user: User): void {
    user.phase = 'away'
    this.later(user, this.world.random.between(50, RETRY_MS))
  }

  /** The users of a participant that crashes are gone; others come in their place. */
  crashed(host: LockHost): void {
    for (const user of [...(this.byHost.get(host)?.values() ?? [])]) {
      if (user.phase === 'done' || user.phase === 'gone') continue
      const isKnown = user.phase !== 'away' && user.phase !== 'using'
      if (!isKnown) {
        if (user.phase === 'using') this.again(user)
        continue
      }
      this.record(user, { type: 'crash' })
      user.phase = 'gone'
      this.add(host, user.rounds - user.done)
    }
  }

  // ---------------------------------------------------------------- the history

  private record(user: User, event: object): void {
    const { host, name } = user
    if (user.generation === 0) return
    const whole = { at: this.world.now, participant: host.process, user: name, ...event } as HistoryEvent
    this.world.say(`${host.lock}/${host.process}  ${JSON.stringify(whole)}`)
    this.of(host, user.generation).push(whole)
  }

  private of({ lock }: LockHost, generation: number): HistoryEvent[] {
    const key = `${lock} ${generation}`
    if (!this.history.has(key)) this.history.set(key, [])
    return this.history.get(key)!
  }

  private replica(
    host: LockHost,
    event: Extract<Emitted, { type: 'applied' | 'restored' }>,
    generation: number,
  ): void {
    const at = this.world.now
    const participant = host.process
    const events = this.of(host, generation)
    if (event.type === 'restored' || this.restored !== null) {
      this.restored = event.sequence
      return
    }
    const { sequence, fence, opId, operation, result } = event
    if (opId.startsWith('end')) return
    events.push({ at, participant, type: 'invoke', sequence, fence, opId, operation })
    events.push({ at, participant, type: 'response', sequence, opId, result })
  }

  /**
   * The step is over: only now can a snapshot's hash be taken, together with what was applied to it at once.
   */
  flush(host: LockHost): void {
    if (this.restored === null || host.state === null) return
    const sequence = this.restored
    this.restored = null
    const { core } = host.state
    // It was given up by the end of the step.
    if (core === null) return
    const { cells } = core.protocol.guarded(core.state)!.replica
    const hash = core.context.resource.hash(cells)
    const at = this.world.now
    const event = { at, participant: host.process, type: 'restore', sequence, hash } as const
    this.of(host, host.state.birth.generation).push(event)
  }

  wiped(host: LockHost): void {
    const at = this.world.now
    const birth = host.storage.get('birth') as { readonly generation: number } | undefined
    const generation = birth?.generation ?? 1
    this.of(host, generation).push({ at, participant: host.process, type: 'wipe' })
  }
}
