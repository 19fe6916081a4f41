/** One of three members is replaced, in the protocols without epochs: all runs within a small bound. */
import { describe, expect, it } from 'vitest'
import type { Effect, Input } from '../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../shared/protocols/ricart-agrawala/messages.ts'
import { ricartAgrawala } from '../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'
import { wmeConsensus } from '../../shared/protocols/wme-consensus/wme-consensus.ts'
import type { Bound } from './bound.ts'
import { type ConsensusProtocol, consensusModel } from './consensus-model.ts'
import { LOCK_MEMBERS_LADDER, MEMBERS_LADDER } from './ladder.ts'
import { lockModel } from './lock-model.ts'
import { MEMBER_COVERAGE_GOALS } from './membership.ts'
import { boundOf } from './options.ts'
import { Search, type SearchResult } from './search.ts'

const LIMITS = { seconds: 280, bytes: 2 ** 30 } as const
const TIMEOUT_MS = 300_000
/** One fault, and no user besides. */
const ONE_FAULT = { tries: 0, faults: 1 } as const

const boundIn = (ladder: typeof MEMBERS_LADDER): Bound => ladder.find(({ name }) => name === 'members')!.bound

function expectAll(result: SearchResult): void {
  expect(result.violation).toBeNull()
  expect(result.complete).toBe(true)
  for (const goal of MEMBER_COVERAGE_GOALS) expect(result.reached, goal).toContain(goal)
}

describe('all runs of wme-consensus in which one of three members is replaced', () => {
  const explore = (protocol: ConsensusProtocol, changes: Partial<Bound> = {}): SearchResult =>
    new Search(consensusModel(protocol), boundOf({ ...boundIn(MEMBERS_LADDER), ...changes })).run(LIMITS)

  it('with a user at the coordinator, which stays', () => expectAll(explore(wmeConsensus)), TIMEOUT_MS)

  it('a newcomer that accepts something before it is a member would be found', () => {
    const hasty: ConsensusProtocol = {
      ...wmeConsensus,
      step(context, state, input) {
        const effects = wmeConsensus.step(context, state, input)
        if (state.durable.membership.status === 'joining' && input.type === 'message') {
          const body = { type: 'ack', ballot: 1, through: 0, digest: '' } as const
          effects.push({ type: 'send', to: 1, message: { ...input.message, body } })
        }
        return effects
      },
    }
    expect(explore(hasty).violation?.property).toBe('only members propose, promise and accept (M2)')
  })
})

describe('all runs of ricart-agrawala in which one of three members is replaced', () => {
  type RicartAgrawala = typeof ricartAgrawala

  const explore = (protocol: RicartAgrawala, changes: Partial<Bound> = {}): SearchResult =>
    new Search(lockModel(protocol), boundOf({ ...boundIn(LOCK_MEMBERS_LADDER), ...changes })).run(LIMITS)

  it('with a user at a member that stays', () => expectAll(explore(ricartAgrawala)), TIMEOUT_MS)

  it(
    'with one lost message',
    () => expectAll(explore(ricartAgrawala, { ...ONE_FAULT, losses: 1 })),
    TIMEOUT_MS,
  )

  it('with one crash', () => expectAll(explore(ricartAgrawala, { ...ONE_FAULT, crashes: 1 })), TIMEOUT_MS)

  /** Participant 1 acknowledges the changes of the group, and does not take them over. */
  const forgetful: RicartAgrawala = {
    ...ricartAgrawala,
    step(context, state, input: Input<RicartAgrawalaMessage>): Effect<RicartAgrawalaMessage>[] {
      const isHeard = input.type !== 'message' || input.message.body.type !== 'change'
      if (isHeard || context.config.self !== 1) return ricartAgrawala.step(context, state, input)
      const { number } = input.message.body.group
      const body = {
        type: 'change-ack',
        number,
        highest: state.durable.highest.request,
        joining: null,
      } as const
      return [{ type: 'send', to: input.from, message: { ...input.message, body } }]
    },
  }

  it('a member that does not hear of a change would be found', () => {
    const { violation } = explore(forgetful)
    expect(violation?.property).toBe('from every quiet world all users come through')
  })
})
