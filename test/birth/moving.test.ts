/** What the birth of a lock knows of its members once they have changed (shared/birth/moving.ts). */
import { describe, expect, it } from 'vitest'
import { lock } from '../../shared/birth/lock.ts'
import type { LockEffect, LockInput } from '../../shared/birth/lock-types.ts'
import type { LockEnvelope } from '../../shared/birth/messages.ts'
import { MEMBERS_FORMAT, MESSAGE_FORMAT } from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { contextOf } from '../../worker/participant/lock/lock.ts'
import { configurationOf } from './scenario.ts'

const DEFAULTS = configurationOf('wme-2', 3, 30_000, false)
const VALUE = { configuration: { ...DEFAULTS, firstOwner: 1 }, startEpoch: 1 }
const MOVED = { 5: 'oc@', 6: 'me@' }

/** A participant as it is after these inputs, and what it did at the last one. */
class Machine {
  readonly context
  state
  effects: LockEffect[] = []

  constructor(id: number, address?: string) {
    const at = { lock: 'orders', id, ...(address !== undefined && { address }) }
    this.context = contextOf(at, DEFAULTS, () => keyValue)
    this.state = lock.recover(this.context, [])
    this.give({ type: 'start', now: 0, incarnation: 1, random: 'r' })
  }

  give(input: LockInput): this {
    this.effects = lock.step(this.context, this.state, input)
    return this
  }

  hear(from: number, body: LockEnvelope['body'], generation = 1): this {
    const message = { format: MEMBERS_FORMAT, generation, ...(generation > 1 && { startEpoch: 9 }), body }
    return this.give({ type: 'message', now: 0, from, message })
  }

  moved(configuration: number, members = MOVED): this {
    return this.hear(5, { type: 'moved', configuration, members })
  }

  get sent() {
    return this.effects.flatMap(effect => (effect.type === 'send' ? [effect] : []))
  }

  /** Where it sends whoever wants to use the lock. */
  whereTo() {
    this.give({ type: 'use', now: 0 })
    return this.effects.flatMap(effect =>
      effect.type === 'emit' && effect.event.type === 'elsewhere' ? [effect.event.configuration] : [],
    )[0]
  }
}

describe('a registrar that is no member', () => {
  /** Of a lock that was configured with two participants. */
  const third = () =>
    new Machine(3).hear(1, {
      type: 'chosen',
      value: {
        ...VALUE,
        configuration: { ...VALUE.configuration, participants: DEFAULTS.participants.slice(0, 2) },
      },
    })

  it('is told who the members are, says so, and sends on whoever asks', () => {
    const registrar = third()
    expect(registrar.whereTo()?.participants.map(({ id }) => id)).toEqual([1, 2])
    registrar.moved(4)
    expect(registrar.sent.map(({ to, message }) => [to, message.body])).toEqual([
      [5, { type: 'moved-heard', configuration: 4 }],
    ])
    const present = registrar.whereTo()
    expect(present?.participants).toEqual([
      { id: 5, location: 'oc', url: null, address: 'oc@' },
      { id: 6, location: 'me', url: null, address: 'me@' },
    ])
    expect(present?.number).toBe(5)
  })

  it('believes what is newer, and nothing that comes late', () => {
    const registrar = third()
      .moved(4)
      .moved(2, { 9: 'oc@' } as never)
    expect(registrar.state.birth.members).toEqual({ configuration: 4, members: MOVED })
  })

  it('tells a registrar that asks, in a format that earlier versions refuse', () => {
    const registrar = third().moved(4).hear(2, { type: 'wake' })
    expect(registrar.sent.map(({ message }) => message.body.type)).toEqual(['chosen', 'moved'])
    expect(registrar.sent.map(({ message }) => message.format)).toEqual([MEMBERS_FORMAT, MEMBERS_FORMAT])
    const other = third().hear(2, { type: 'wake' })
    expect(other.sent.map(({ message }) => message.format)).toEqual([MESSAGE_FORMAT])
  })

  it('forgets it with the lock', () => {
    const registrar = third().moved(4).hear(1, { type: 'ended' }, 2)
    expect(registrar.state.birth.members).toBeUndefined()
    expect(registrar.state.birth.generation).toBe(2)
  })
})

describe('a participant that came later', () => {
  it('takes part because a member speaks to it, and not because it was asked for the lock', () => {
    const newcomer = new Machine(5, 'oc@').hear(1, { type: 'chosen', value: VALUE })
    expect(newcomer.state.core).toBeNull()
    expect(newcomer.whereTo()?.participants.map(({ id }) => id)).toEqual([1, 2, 3])
    const invite = { type: 'invite', epoch: 1 } as never
    const digest = 'unknown'
    newcomer.hear(1, { type: 'core', digest, chosen: true, message: invite })
    expect(newcomer.state.core).toBeNull()
    newcomer.hear(1, { type: 'chosen', value: VALUE, isForMember: true })
    expect(lock.view(newcomer.context, newcomer.state).membership).toBe('joining')
  })

  it('has no vote in a birth', () => {
    const newcomer = new Machine(5, 'oc@').hear(1, { type: 'prepare', ballot: 257 })
    expect(newcomer.sent).toEqual([])
  })
})
