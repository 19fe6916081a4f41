/** One of three members is replaced: all runs within a small bound. */
import { describe, expect, it } from 'vitest'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import type { Bound } from './bound.ts'
import type { CoverageGoal } from './coverage-goals.ts'
import { MEMBERS_LADDER } from './ladder.ts'
import { boundOf } from './options.ts'
import { Search, type SearchResult } from './search.ts'
import { type WmeProtocol, wmeModel } from './wme-model.ts'

const { bound: BOUND } = MEMBERS_LADDER.find(({ name }) => name === 'members')!
const LIMITS = { seconds: 280, bytes: 2 ** 30 } as const
const TIMEOUT_MS = 300_000

const explore = (protocol: WmeProtocol, changes: Partial<Bound> = {}): SearchResult =>
  new Search(wmeModel(protocol), boundOf({ ...BOUND, ...changes })).run(LIMITS)

const GOALS: readonly CoverageGoal[] = [
  'a newcomer brought up to date',
  'a newcomer became a member',
  'a member removed',
  'a tombstone',
  'a holder that stayed while the members changed',
]

describe.each([wme1, wme2])('all runs of $name in which one of three members is replaced', protocol => {
  it(
    'with a user at the owner, which stays',
    () => {
      const result = explore(protocol)
      expect(result.violation).toBeNull()
      expect(result.complete).toBe(true)
      for (const goal of GOALS) expect(result.reached, goal).toContain(goal)
    },
    TIMEOUT_MS,
  )

  it('a newcomer that speaks before it is a member would be found', () => {
    const broken: WmeProtocol = {
      ...protocol,
      step(context, state, input) {
        const effects = protocol.step(context, state, input)
        const { membership } = state.durable
        if (membership.status === 'joining' && membership.isPrimed) {
          const configuration = 1
          const body = { type: 'installed', epoch: state.durable.epoch.epoch } as const
          effects.push({ type: 'send', to: 1, message: { format: 1, configuration, body } })
        }
        return effects
      },
    }
    expect(explore(broken).violation?.property).toBe('only members with everything speak in an epoch (M2)')
  })
})
