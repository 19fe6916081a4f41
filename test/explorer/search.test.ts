import { describe, expect, it } from 'vitest'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import type { Bound } from './bound.ts'
import type { CoverageGoal } from './coverage-goals.ts'
import { boundOf } from './options.ts'
import { Search, type SearchResult } from './search.ts'
import { textOf } from './values.ts'
import { type WmeProtocol, wmeModel } from './wme-model.ts'

const SMALL = { tries: 1, operations: 1, crashes: 0, suspicions: 0, losses: 0, duplicates: 0 } as const
/** The searches take seconds; on a busy machine they take longer. */
const LIMITS = { seconds: 280, bytes: 2 ** 30 } as const
const TIMEOUT_MS = 300_000

function explore(protocol: WmeProtocol, changes: Partial<Bound>): SearchResult {
  return new Search(wmeModel(protocol), boundOf({ ...SMALL, ...changes })).run(LIMITS)
}

function expectHolds(result: SearchResult, goals: readonly CoverageGoal[]): void {
  expect(result.violation).toBeNull()
  expect(result.complete).toBe(true)
  for (const name of goals) expect(result.reached, name).toContain(name)
}

describe.each([wme1, wme2])('all runs of $name with two users, one try each, one operation', protocol => {
  it('without a fault', () => {
    expectHolds(explore(protocol, {}), [
      'a user in the critical section',
      'an operation applied by acknowledgements',
      'caught up within an epoch',
    ])
  })

  it('with one suspicion', () => {
    expectHolds(explore(protocol, { suspicions: 1, lag: 1 }), [
      'a suspicion refuted',
      'an epoch changed',
      'an owner kept its token in a new epoch',
      'an operation applied through a decision',
      'a ballot rejected',
      'caught up with a later epoch',
    ])
  })

  it(
    'with one crash and recovery',
    () => {
      expectHolds(explore(protocol, { crashes: 1, lag: 1, users: [2] }), [
        'a crash between a save and what is sent',
        'a recovered owner that still owns',
        'recovered in the critical section',
        'an event said again after a crash, and answered',
      ])
    },
    TIMEOUT_MS,
  )

  // Repeats to the participant that was down piled up, in every number and order: the search never ended.
  it(
    'with one crash and one suspicion together, of one user',
    () => {
      expectHolds(explore(protocol, { crashes: 1, suspicions: 1, lag: 1, users: [2] }), [
        'recovered in a sealed epoch',
        'a ballot rejected',
      ])
    },
    TIMEOUT_MS,
  )

  // A proposer whose question was lost tried ever higher ballots: with all three faults there were infinitely
  // many worlds.
  it(
    'with one crash, one suspicion and one lost message together, of one user without operation',
    () => {
      expectHolds(
        explore(protocol, { crashes: 1, suspicions: 1, losses: 1, lag: 1, users: [2], operations: 0 }),
        ['recovered in a sealed epoch'],
      )
    },
    TIMEOUT_MS,
  )

  it('with one duplicated message', () => {
    expectHolds(explore(protocol, { duplicates: 1, lag: 1 }), ['an entry of the log again, and ignored'])
  })
})

it(
  'all runs of wme-1 with one suspicion and one lost message',
  () => {
    expectHolds(explore(wme1, { suspicions: 1, losses: 1, lag: 1 }), [
      'a user ejected',
      'a user ejected with a pending operation',
      'a value taken over from an earlier ballot',
    ])
  },
  TIMEOUT_MS,
)

describe('the reduction', () => {
  /** The states of all participants that a search has met. */
  function statesMet(protocol: WmeProtocol, changes: Partial<Bound>, reduction: boolean) {
    const search = new Search(wmeModel(protocol), boundOf({ ...SMALL, ...changes }))
    const result = search.run({ ...LIMITS, reduction })
    expect(result.complete).toBe(true)
    const met = search.worlds.seats.seats.map(({ participant, isUp, state, user, record }) =>
      textOf([participant, isUp, state, user, record]),
    )
    return { worlds: result.states, met: met.sort() }
  }

  it.each([
    [wme1, {}],
    [wme2, {}],
    [wme1, { losses: 1, operations: 0 }],
    [wme2, { duplicates: 1, operations: 0 }],
    [wme2, { crashes: 1, operations: 0, users: [2] }],
    [wme1, { crashes: 1, suspicions: 1, operations: 0, users: [2], lag: 1 }],
    [wme1, { suspicions: 1, operations: 0, lag: 1 }],
    [wme2, { suspicions: 1, operations: 0, lag: 1 }],
  ] as const)('visits fewer worlds, and every state of every participant: %#', (protocol, changes) => {
    const reduced = statesMet(protocol, changes, true)
    const full = statesMet(protocol, changes, false)
    expect(reduced.worlds).toBeLessThan(full.worlds)
    expect(reduced.met).toEqual(full.met)
  })
})

it('says so when it has run out of time', () => {
  const result = new Search(wmeModel(wme1), boundOf({})).run({ seconds: 0.5, bytes: 2 ** 30 })
  expect(result).toMatchObject({ complete: false, stopped: 'time', violation: null })
})
