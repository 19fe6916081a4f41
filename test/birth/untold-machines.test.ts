/**
 * In the next lock of a name another machine may have the number of one that was away when the lock was
 * deleted. What the one says does not mean that the other has heard of the end (G12).
 */
import { expect, it } from 'vitest'
import { lock } from '../../shared/birth/lock.ts'
import type { LockEffect, LockInput } from '../../shared/birth/lock-types.ts'
import type { LockMessage } from '../../shared/birth/messages.ts'
import { MEMBERS_FORMAT } from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { contextOf } from '../../worker/participant/lock/lock.ts'
import { configurationOf } from './scenario.ts'
import { nameFor } from './table.ts'

/** The first owner of a lock with three participants. */
class First {
  readonly context = contextOf(
    { lock: nameFor(1, 3), id: 1 },
    configurationOf('wme-2', 3, 30_000, false),
    () => keyValue,
  )
  readonly state = lock.recover(this.context, [])
  generation = 1
  effects: LockEffect[] = []

  constructor() {
    this.give({ type: 'start', now: 0, incarnation: 1, random: 'r' })
  }

  give(input: LockInput): this {
    this.effects = lock.step(this.context, this.state, input)
    return this
  }

  hear(from: number, body: LockMessage, address?: string): this {
    const { generation, startEpoch } = this.state.birth
    const message = { format: MEMBERS_FORMAT, generation, startEpoch, body }
    return this.give({ type: 'message', now: 0, from, ...(address && { address }), message } as LockInput)
  }

  /** The lock is used, gets a fourth participant there, and is deleted. */
  live(fourth: string): this {
    this.give({ type: 'use', now: 0 })
    const members = { 1: '', 2: '', 3: '', 4: fourth }
    return this.hear(2, { type: 'moved', configuration: 4, members })
  }

  end(): this {
    return this.give({ type: 'end', now: 0, epoch: this.state.birth.startEpoch, length: 3 })
  }

  /** Where those are that are told of an end. */
  get told(): unknown[] {
    this.give({ type: 'timer', now: 0, timer: 'birth/tell' })
    return this.effects.flatMap(effect =>
      effect.type === 'send' && effect.message.body.type === 'ended' ? [[effect.to, effect.address]] : [],
    )
  }
}

const heardByDefaults = (first: First) => first.hear(2, { type: 'heard' }).hear(3, { type: 'heard' })

it('G12 one that was away is told, although another machine has its number in the next lock', () => {
  const first = heardByDefaults(new First().live('weur@').end())
  expect(first.told).toHaveLength(1)
  first.live('enam@')
  // The new participant 4 speaks: it has nothing to hear of an end.
  first.hear(4, { type: 'heard' }, 'enam@')
  expect(first.told).toEqual([[4, 'weur@']])
  first.hear(4, { type: 'heard' }, 'weur@')
  expect(first.told).toEqual([])
})

it('G12 both are told, if both were away when their locks were deleted', () => {
  const first = heardByDefaults(new First().live('weur@').end())
  heardByDefaults(first.live('enam@').end())
  expect(first.told).toEqual([
    [4, 'enam@'],
    [4, 'weur@'],
  ])
})

it('G12 so is one that its lock was born with', () => {
  const first = new First()
  const configuration = configurationOf('wme-2', 4, 30_000, false)
  first.give({ type: 'configure', now: 0, request: 'put', configuration })
  const value = { configuration: { ...configuration, firstOwner: 1 }, startEpoch: 1 }
  first.hear(2, { type: 'chosen', value })
  heardByDefaults(first.end())
  expect(first.told).toHaveLength(1)
  first.live('enam@').hear(4, { type: 'heard' }, 'enam@')
  expect(first.told).toEqual([[4, '']])
  first.hear(4, { type: 'heard' })
  expect(first.told).toEqual([])
})
