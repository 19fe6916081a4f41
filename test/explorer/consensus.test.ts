/** The replicated state machine: all runs within small bounds, and seeded bugs that must be found. */
import { describe, expect, it } from 'vitest'
import type { Effect } from '../../shared/protocols/protocol.ts'
import type { ConsensusMessage } from '../../shared/protocols/wme-consensus/messages.ts'
import { wmeConsensus } from '../../shared/protocols/wme-consensus/wme-consensus.ts'
import type { Bound } from './bound.ts'
import {
  CONSENSUS_COVERAGE_GOALS,
  type ConsensusForm,
  type ConsensusProtocol,
  consensusModel,
} from './consensus-model.ts'
import { boundOf } from './options.ts'
import { Search, type SearchResult } from './search.ts'
import { textOf } from './values.ts'

const NO_FAULTS = { crashes: 0, suspicions: 0, losses: 0, duplicates: 0 } as const
const SMALL = { ...NO_FAULTS, tries: 1, operations: 1, lag: 1 } as const
const LIMITS = { seconds: 280, bytes: 2 ** 30 } as const
const TIMEOUT_MS = 300_000

const search = (
  changes: Partial<Bound>,
  protocol: ConsensusProtocol = wmeConsensus,
  form: ConsensusForm = 'latency-optimal',
): SearchResult => new Search(consensusModel(protocol, form), boundOf({ ...SMALL, ...changes })).run(LIMITS)

describe('all runs of wme-consensus', () => {
  const reached = new Set<string>()

  it.each([
    ['without a fault', { operations: 0 }],
    ['with one suspicion', { suspicions: 1 }],
    ['with one crash and recovery', { crashes: 1, users: [2] }],
    ['with one lost message', { losses: 1, users: [2] }],
    ['with one duplicated message', { duplicates: 1, users: [2] }],
    ['with one crash and one suspicion', { crashes: 1, suspicions: 1, users: [2], operations: 0 }],
  ] as const)(
    '%s',
    (_name, changes) => {
      const result = search(changes)
      expect(result.violation).toBeNull()
      expect(result.complete).toBe(true)
      expect(result.settled).toBeGreaterThan(0)
      for (const what of result.reached) reached.add(what)
    },
    TIMEOUT_MS,
  )

  it('have seen what there is to see', () => {
    expect([...reached].sort()).toEqual([...CONSENSUS_COVERAGE_GOALS].sort())
  })
})

describe('the reduction', () => {
  function statesMet(changes: Partial<Bound>, reduction: boolean) {
    const one = new Search(consensusModel(wmeConsensus), boundOf({ ...SMALL, ...changes }))
    const result = one.run({ ...LIMITS, reduction })
    expect(result.complete).toBe(true)
    const met = one.worlds.seats.seats.map(({ participant, isUp, state, user }) =>
      textOf([participant, isUp, state, user]),
    )
    return { worlds: result.states, met: met.sort() }
  }

  it.each([
    { suspicions: 1, users: [2] },
    { crashes: 1, users: [2], operations: 0 },
  ])('visits fewer worlds, and every state of every participant: %#', changes => {
    const reduced = statesMet(changes, true)
    const full = statesMet(changes, false)
    expect(reduced.worlds).toBeLessThan(full.worlds)
    expect(reduced.met).toEqual(full.met)
  })
})

type Effects = Effect<ConsensusMessage>[]

const withEffects = (change: (effects: Effects) => Effects): ConsensusProtocol => ({
  ...wmeConsensus,
  step: (context, state, input) => change(wmeConsensus.step(context, state, input)),
})

describe('the explorer finds', () => {
  it('that a promise is not saved', () => {
    const forgetful = withEffects(effects =>
      effects.map(effect =>
        effect.type === 'save'
          ? { ...effect, records: effect.records.filter(({ key }) => key !== 'acceptor') }
          : effect,
      ),
    )
    expect(search({ suspicions: 1 }, forgetful).violation?.property).toBe(
      'what counts as durable is stored (I20)',
    )
  })

  it('that an acknowledgement says more than was accepted', () => {
    const boasting = withEffects(effects =>
      effects.map(effect => {
        if (effect.type !== 'send' || effect.message.body.type !== 'ack') return effect
        const body = { ...effect.message.body, through: effect.message.body.through + 1 }
        return { ...effect, message: { ...effect.message, body } }
      }),
    )
    expect(search({}, boasting).violation?.property).toBe(
      'what a message says is durable before it leaves (I17)',
    )
  })

  /** Paxos without its second half: a new coordinator does not hear what may have been decided. */
  const hiding = withEffects(effects =>
    effects.map(effect => {
      if (effect.type !== 'send' || effect.message.body.type !== 'promise') return effect
      return { ...effect, message: { ...effect.message, body: { ...effect.message.body, entries: [] } } }
    }),
  )

  it('that a promise hides what was accepted', () => {
    // The old coordinator's decision must be on its way while the new one is made: a lag of 1 is not enough.
    const { violation } = search({ suspicions: 1, operations: 0, lag: 2 }, hiding, 'message-optimal')
    expect(violation?.property).toBe('what is decided is the same everywhere (I1, I18)')
    expect(violation?.trace.some(step => step.includes('promise'))).toBe(true)
  })

  it('that nothing repeats what was lost', () => {
    const mute: ConsensusProtocol = {
      ...wmeConsensus,
      step: (context, state, input) => {
        const effects = wmeConsensus.step(context, state, input)
        const isRepeat = input.type === 'timer' && input.timer === 'repeat'
        return isRepeat ? effects.filter(({ type }) => type !== 'send') : effects
      },
    }
    expect(search({ users: [2] }, mute).violation).toBeNull()
    expect(search({ users: [2], losses: 1 }, mute).violation?.property).toBe(
      'from every quiet world all users come through',
    )
  })

  it('that a fence is given twice', () => {
    const doubled = withEffects(effects =>
      effects.flatMap(effect => {
        if (effect.type !== 'emit' || effect.event.type !== 'crit') return [effect]
        return [{ ...effect, event: { ...effect.event, fence: 7 } }]
      }),
    )
    expect(search({}, doubled).violation).not.toBeNull()
  })
})
