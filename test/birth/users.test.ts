/** What the simulated users do when a core that is parked refuses what they say. */
import { describe, expect, it } from 'vitest'
import type { HistoryEvent } from '../../shared/history/events.ts'
import { drawScenario } from './scenario.ts'
import type { User } from './users.ts'
import { World } from './world.ts'

const FENCE = 2
/** Longer than a user waits before it says the same again. */
const LATER_MS = 500

/** A user that has asked to leave, and is refused. */
function refused(): { readonly world: World; readonly user: User; readonly said: () => HistoryEvent[] } {
  const world = new World({ ...drawScenario(1), hasLedger: false })
  world.isStormy = false
  world.start(1)
  const host = world.participants[1]![0]!
  const user = world.users.add(host, 1)
  Object.assign(user, { phase: 'leaving', fence: FENCE })
  const refusal = { code: 'not-a-member' } as const
  world.users.emitted(host, { type: 'refused', user: user.name, event: 'exit', refusal }, false, 1)
  const said = () =>
    (world.users.history.get(`${host.lock} 1`) ?? []).filter(
      event => event.type === 'issue' || event.type === 'exit',
    )
  return { world, user, said }
}

describe('a user that is refused by a core that is parked', () => {
  it('says the same again', () => {
    const { world, said } = refused()
    world.runUntil(LATER_MS)
    expect(said()).toMatchObject([{ type: 'exit', fence: FENCE }])
  })

  it('does not repeat what it says under a later grant (seed 7003651)', () => {
    const { world, user, said } = refused()
    Object.assign(user, { phase: 'issuing', fence: FENCE + 1_024, opId: 'op7' })
    world.runUntil(LATER_MS)
    expect(said()).toEqual([])
  })

  it('does not leave under a later grant because it wanted to leave before', () => {
    const { world, user, said } = refused()
    Object.assign(user, { phase: 'leaving', fence: FENCE + 1_024 })
    world.runUntil(LATER_MS)
    expect(said()).toEqual([])
  })
})
