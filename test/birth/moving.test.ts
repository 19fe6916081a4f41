/** What the birth of a lock knows of its members once they have changed (shared/birth/moving.ts). */
import { describe, expect, it } from 'vitest'
import { lock } from '../../shared/birth/lock.ts'
import type { LockEffect, LockInput } from '../../shared/birth/lock-types.ts'
import type { LockEnvelope } from '../../shared/birth/messages.ts'
import { presentConfiguration } from '../../shared/birth/moving.ts'
import { MEMBERS_FORMAT, MESSAGE_FORMAT, type ProtocolName } from '../../shared/protocols/protocol.ts'
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

  constructor(id: number, address?: string, defaults = DEFAULTS) {
    const at = { lock: 'orders', id, ...(address !== undefined && { address }) }
    this.context = contextOf(at, defaults, () => keyValue)
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

describe('the number of a configuration', () => {
  const { registrars } = new Machine(1).context
  // How each protocol names the first set after a birth in epoch 1 and in epoch 4, when little has happened.
  it.each<[ProtocolName, number, number]>([
    ['wme-1', 2, 5],
    ['wme-2', 2, 5],
    ['wme-consensus', 2, 2],
    ['ricart-agrawala', 1_600, 4_700],
  ])('of %s rises from set to set, and from lock to lock (G9)', (protocol, first, second) => {
    const configuration = { ...VALUE.configuration, protocol }
    const numberOf = (generation: number, startEpoch: number, set: number | null) => {
      const present = set === null ? null : { configuration: set, members: MOVED }
      return presentConfiguration({ configuration, startEpoch }, generation, present, registrars).number
    }
    const numbers = [
      numberOf(1, 1, null),
      numberOf(1, 1, first),
      numberOf(2, 4, null),
      numberOf(2, 4, second),
    ]
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right))
  })
})

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
    expect(present?.number).toBe(1 + 4 * 1024)
  })

  it('believes what is newer, and nothing that comes late', () => {
    const registrar = third()
      .moved(4)
      .moved(2, { 9: 'oc@' } as never)
    expect(registrar.state.birth.members).toEqual({ configuration: 4, members: MOVED })
  })

  it('tells a registrar that asks, in a format that earlier versions refuse', () => {
    const registrar = third().moved(4).hear(2, { type: 'wake' })
    expect(registrar.sent.map(({ message }) => message.body.type)).toEqual(['moved', 'chosen'])
    expect(registrar.sent.map(({ message }) => message.format)).toEqual([MEMBERS_FORMAT, MEMBERS_FORMAT])
    const other = third().hear(2, { type: 'wake' })
    expect(other.sent.map(({ message }) => message.format)).toEqual([MESSAGE_FORMAT])
  })

  it('forgets it with the lock', () => {
    const registrar = third().moved(4).hear(1, { type: 'ended' }, 2)
    expect(registrar.state.birth.members).toBeUndefined()
    expect(registrar.state.birth.generation).toBe(2)
  })

  it('says of a later lock which one it is, whatever the numbers of the one before', () => {
    const registrar = third().moved(900)
    expect([registrar.whereTo()?.generation, registrar.whereTo()?.number]).toEqual([
      undefined,
      1 + 900 * 1024,
    ])
    registrar.hear(1, { type: 'chosen', value: { ...VALUE, startEpoch: 9 } }, 2)
    registrar.moved(900)
    registrar.hear(1, { type: 'chosen', value: { ...VALUE, startEpoch: 9 } }, 2)
    const present = lock.birthView(registrar.state)
    expect([present.generation, present.members]).toEqual([2, null])
    const { registrars } = registrar.context
    const later = presentConfiguration(present.value!, present.generation, present.members, registrars)
    expect([later.generation, later.number]).toEqual([2, 1 + 9 * 1024])
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

describe('a registrar whose process has lost its storage', () => {
  const APART = configurationOf('wme-2', 3, 30_000, true)
  const value = { configuration: { ...APART, firstOwner: 1 }, startEpoch: 1 }

  /** It is to say when nothing of what was lost is missing any more. */
  function replaced(): Machine {
    const machine = new Machine(3, undefined, APART)
    machine.give({ type: 'finish', now: 0, incarnation: 2, generation: 1 })
    const asked = machine.effects.find(effect => effect.type === 'ask-ledger')!
    const { generation, token } = asked.question
    const verdict = { verdict: 'lost', incarnation: 2, known: { 3: 2 } } as const
    return machine.give({ type: 'ledger', now: 0, answer: { generation, token, ...verdict } })
  }

  const isFinished = ({ effects }: Machine) => effects.some(({ type }) => type === 'tell-ledger')
  const hear = (machine: Machine, members: { [id: string]: string } | null) => {
    if (members !== null) machine.hear(1, { type: 'moved', configuration: 4, members })
    const early = isFinished(machine)
    machine.hear(1, { type: 'chosen', value })
    return [early, isFinished(machine)]
  }

  it('waits to be taken back, if it is a member', () => {
    expect(hear(replaced(), null)).toEqual([false, false])
    expect(hear(replaced(), { 1: '', 3: '', 5: '@2' })).toEqual([false, false])
  })

  it('waits for nothing, if it was removed before', () => {
    expect(hear(replaced(), { 1: '', 2: '' })).toEqual([false, true])
  })

  it('waits for the member that came later and is here, which it wakes until that says so', () => {
    const machine = replaced()
    expect(hear(machine, { 1: '', 2: '', 5: '@3' })).toEqual([false, false])
    machine.give({ type: 'finish', now: 0, incarnation: 2, generation: 1 })
    expect(machine.sent.map(({ to, message }) => [to, message.body])).toEqual([
      [5, { type: 'chosen', value, isForMember: true }],
    ])
    machine.hear(4, { type: 'back' })
    expect(isFinished(machine)).toBe(false)
    machine.hear(5, { type: 'back' })
    expect(isFinished(machine)).toBe(true)
  })

  it('is told by that one only when it has its place again', () => {
    const newcomer = new Machine(5, '@3', APART).hear(3, { type: 'chosen', value, isForMember: true })
    expect(lock.view(newcomer.context, newcomer.state).membership).toBe('joining')
    expect(newcomer.sent.filter(({ message }) => message.body.type === 'back')).toEqual([])
  })
})
