/** Each check of a lock that guards no state notices hand-made events that break it. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../shared/json.ts'
import type { MaekawaMessage } from '../../shared/protocols/maekawa/messages.ts'
import type { Mode, UserOutput } from '../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../shared/protocols/ricart-agrawala/messages.ts'
import { expectViolation } from './fixtures.ts'
import { Conversations, type Grant } from './invariants/conversations.ts'
import { Exclusion } from './invariants/exclusion.ts'
import { missingForMaekawa, missingForRicartAgrawala } from './invariants/lock-messages.ts'
import { longestPart } from './invariants/state-parts.ts'

const grant = (participant: number, fence: number, mode: Mode = 'exclusive'): Grant => ({
  user: `u${fence}`,
  participant,
  mode,
  fence,
})

describe('mutual exclusion', () => {
  const inside = (...grants: Grant[]) => {
    const exclusion = new Exclusion()
    for (const each of grants) exclusion.entered(each)
    return exclusion
  }

  it('notices two writers, and a writer with readers', () => {
    expectViolation('mutual exclusion', () => inside(grant(1, 1), grant(2, 2)))
    expectViolation('mutual exclusion', () => inside(grant(1, 1), grant(1, 2)))
    expectViolation('mutual exclusion', () => inside(grant(1, 1, 'shared'), grant(2, 2)))
    expectViolation('mutual exclusion', () => inside(grant(1, 1), grant(2, 2, 'shared')))
    inside(grant(1, 1, 'shared'), grant(2, 2, 'shared'), grant(3, 3, 'shared'))
  })

  it('lets one in after the other has left', () => {
    const first = grant(1, 1)
    const exclusion = inside(first)
    exclusion.left(first)
    exclusion.entered(grant(2, 2))
    expect([...exclusion.inside]).toEqual([grant(2, 2)])
  })

  it('forgets who is down only where the dead are forgotten, and knows it again when it is back', () => {
    const down = new Set([1])
    const exclusion = new Exclusion(participant => !down.has(participant))
    exclusion.entered(grant(1, 1))
    exclusion.entered(grant(2, 2))
    down.clear()
    expectViolation('mutual exclusion', () => exclusion.check())
  })

  it('notices fences that are given twice, fall, or are none', () => {
    const inTurn = (first: Grant, second: Grant) => () => {
      const exclusion = inside(first)
      exclusion.left(first)
      exclusion.entered(second)
    }
    expectViolation('fences', inTurn(grant(1, 2), grant(2, 2)))
    expectViolation('fences', inTurn(grant(1, 2), grant(2, 1)))
    expectViolation('fences', inTurn(grant(1, 2), grant(2, 1, 'shared')))
    expectViolation('fences', inTurn(grant(1, 2, 'shared'), grant(2, 1)))
    expectViolation('fences', () => inside(grant(1, 0.5)))
    inTurn(grant(1, 2, 'shared'), grant(2, 1, 'shared'))()
    expectViolation('fences', inTurn(grant(1, 2, 'shared'), grant(2, 2, 'shared')))
  })
})

describe('conversations', () => {
  const crit = (user: string, fence: number): UserOutput => ({
    type: 'crit',
    user,
    fence,
    epoch: 0,
    sequence: fence,
    expiresAt: 0,
    confirmed: true,
  })
  const talk = (...tries: string[]) => {
    const conversations = new Conversations(3, { entered: () => {}, left: () => {} })
    for (const user of tries) conversations.said(1, { type: 'try', user, ttlMs: 100 })
    return conversations
  }

  it('I10 notices a crit without a try, for one that has withdrawn, or at another participant', () => {
    expectViolation('I10', () => talk('u').told(1, crit('v', 1)))
    expectViolation('I10', () => talk('u').told(2, crit('u', 1)))
    const withdrawn = talk('u')
    withdrawn.told(1, { type: 'withdrawn', user: 'u', reason: 'asked' })
    expectViolation('I10', () => withdrawn.told(1, crit('u', 1)))
    const refused = talk('u')
    refused.told(1, { type: 'refused', user: 'u', event: 'try', refusal: { code: 'not-supported' } })
    expectViolation('I10', () => refused.told(1, crit('u', 1)))
  })

  it('I10 notices a second grant for one try', () => {
    const conversations = talk('u')
    conversations.told(1, crit('u', 1))
    conversations.told(1, crit('u', 1))
    conversations.told(1, { type: 'rem', user: 'u', fence: 1 })
    conversations.told(1, { type: 'rem', user: 'u', fence: 1 })
    expectViolation('I10', () => conversations.told(1, crit('u', 2)))
  })

  it('I10 notices an end, a keeping and a withdrawal without what they need', () => {
    const events: readonly UserOutput[] = [
      { type: 'rem', user: 'u', fence: 1 },
      { type: 'ejected', user: 'u', fence: 1, reason: 'expired' },
      { type: 'kept', user: 'u', fence: 1, expiresAt: 1 },
      { type: 'withdrawn', user: 'v', reason: 'asked' },
    ]
    for (const event of events) expectViolation('I10', () => talk('u').told(1, event))
  })

  it('I10 notices a user that is heard at two participants', () => {
    expectViolation('I10', () => talk('u').said(2, { type: 'try', user: 'u', ttlMs: 1 }))
  })

  it('knows who waits and who is inside', () => {
    const conversations = talk('u', 'v')
    conversations.told(1, crit('u', 1))
    expect([...conversations.waitingAt(1)]).toEqual(['v'])
    expect([...conversations.insideAt(1).keys()]).toEqual(['u'])
    conversations.told(1, { type: 'ejected', user: 'u', fence: 1, reason: 'expired' })
    expect(conversations.insideAt(1).size).toBe(0)
  })
})

describe('I17: what a message says is stored', () => {
  const storage = (records: { readonly [key: string]: Json }) => new Map(Object.entries(records))

  it('of Maekawa', () => {
    const own = (phase: string, relinquished = {}) => ({ phase, sequence: 5, relinquished, handoffs: 0 })
    const missing = (records: { readonly [key: string]: Json }, message: MaekawaMessage) =>
      missingForMaekawa(storage(records), 2, message)
    const request = { type: 'request', sequence: 5, fence: 0, highest: 5 } as const
    expect(missing({ own: own('requesting') }, request)).toBeNull()
    expect(missing({ own: own('idle') }, request)).not.toBeNull()
    expect(missing({}, request)).not.toBeNull()
    const locked = { type: 'locked', sequence: 7, round: 3, fence: 0, highest: 7 } as const
    const arbiter = (node: number, round = 3) => ({ round, locker: { node, sequence: 7 } })
    expect(missing({ arbiter: arbiter(2) }, locked)).toBeNull()
    expect(missing({ arbiter: arbiter(3) }, locked)).not.toBeNull()
    expect(missing({ arbiter: arbiter(2, 2) }, locked)).not.toBeNull()
    expect(missing({ arbiter: { round: 3, locker: null } }, locked)).not.toBeNull()
    const relinquish = { type: 'relinquish', sequence: 5, round: 3, highest: 5 } as const
    expect(missing({ own: own('requesting', { 2: 3 }) }, relinquish)).toBeNull()
    expect(missing({ own: own('requesting', { 2: 2 }) }, relinquish)).not.toBeNull()
    const release = { type: 'release', sequence: 5, fence: 0, highest: 5 } as const
    expect(missing({ own: own('idle') }, release)).toBeNull()
    expect(missing({ own: own('inside') }, release)).not.toBeNull()
  })

  it('of Maekawa: the highest number that a message carries', () => {
    const failed = { type: 'failed', sequence: 5, highest: 9 } as const
    const missing = (records: { readonly [key: string]: Json }) =>
      missingForMaekawa(storage(records), 2, failed)
    const request = { node: 3, sequence: 9 }
    expect(missing({})).not.toBeNull()
    expect(missing({ observed: { sequence: 8 } })).not.toBeNull()
    expect(missing({ observed: { sequence: 9 } })).toBeNull()
    expect(missing({ own: { phase: 'idle', sequence: 9, relinquished: {}, handoffs: 0 } })).toBeNull()
    expect(missing({ arbiter: { round: 1, locker: request } })).toBeNull()
    expect(missing({ 'waiting/3': request })).toBeNull()
    expect(missing({ 'ended/3': { sequence: 9 } })).toBeNull()
  })

  it('of Ricart and Agrawala', () => {
    const missing = (records: { readonly [key: string]: Json }, message: RicartAgrawalaMessage) =>
      missingForRicartAgrawala(storage(records), 2, message)
    const own = { phase: 'requesting', request: 5 }
    const request = { type: 'request', request: 5, incarnation: 0, mode: 'exclusive' } as const
    expect(missing({ own, highest: { request: 5 } }, request)).toBeNull()
    expect(missing({ own, highest: { request: 4 } }, request)).not.toBeNull()
    expect(missing({ own: { ...own, request: 4 }, highest: { request: 5 } }, request)).not.toBeNull()
    const reply = { type: 'reply', request: 7, incarnation: 0 } as const
    expect(missing({ highest: { request: 7 } }, reply)).toBeNull()
    expect(missing({ highest: { request: 6 } }, reply)).not.toBeNull()
  })
})

it('the longest part of a state is found wherever it is', () => {
  expect(longestPart({ durable: { a: [1, 2, 3] }, soft: { b: { c: {} } } })).toEqual({
    path: 'state.durable.a',
    size: 3,
  })
  const cells = { list: [1, 2, 3, 4] }
  expect(longestPart({ cells, queue: [1, 2, 3] }, cells).path).toBe('state.queue')
})
