/**
 * A machine that came later to a lock that was deleted, and the next lock of the name, which is born with
 * another machine of the same number.
 */
import { expect, it } from 'vitest'
import { lock } from '../../shared/birth/lock.ts'
import type { LockEffect, LockInput } from '../../shared/birth/lock-types.ts'
import { MESSAGE_FORMAT } from '../../shared/protocols/protocol.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { contextOf } from '../../worker/participant/lock/lock.ts'
import { configurationOf } from './scenario.ts'
import { nameFor } from './table.ts'

const defaults = configurationOf('wme-2', 3, 30_000, false)

/** Somebody uses the lock at participant 4, and participant 1 says that it is born with five. */
function hearsOfFive(address?: string) {
  const at = { lock: nameFor(1, 3), id: 4, ...(address !== undefined && { address }) }
  const context = contextOf(at, defaults, () => keyValue)
  const state = lock.recover(context, [])
  const give = (input: LockInput): LockEffect[] => lock.step(context, state, input)
  give({ type: 'start', now: 0, incarnation: 1, random: 'r' })
  give({ type: 'use', now: 0, toTry: true })
  const value = { configuration: configurationOf('wme-2', 5, 30_000, false), startEpoch: 3 }
  const body = { type: 'chosen', value } as const
  const message = { format: MESSAGE_FORMAT, generation: 2, startEpoch: 2, body }
  const effects = give({ type: 'message', now: 0, from: 1, message })
  const said = effects.flatMap(effect => (effect.type === 'emit' ? [effect.event.type] : []))
  return { membership: lock.view(context, state).membership, said }
}

it('regression: it is no participant of that lock, and sends on whoever asks it', () => {
  expect(hearsOfFive('weur@')).toEqual({ membership: 'blank', said: ['ended', 'elsewhere'] })
})

it('the one that the lock is born with takes part', () => {
  expect(hearsOfFive()).toEqual({ membership: 'member', said: ['ended', 'ready'] })
})
