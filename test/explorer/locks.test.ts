/** Locks that guard no state: all runs within small bounds, and seeded bugs that must be found. */
import { describe, expect, it } from 'vitest'
import { maekawa } from '../../shared/protocols/maekawa/maekawa.ts'
import type { Effect, Input, Protocol } from '../../shared/protocols/protocol.ts'
import { ricartAgrawala } from '../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'
import type { Bound } from './bound.ts'
import { LOCK_LADDER } from './ladder.ts'
import { LOCK_COVERAGE_GOALS, type LockState, lockModel, READERS_TOGETHER } from './lock-model.ts'
import type { AnyMessage } from './mail.ts'
import { explore } from './models.ts'
import { boundOf } from './options.ts'
import { Search, type SearchResult } from './search.ts'

const LIMITS = { seconds: 280, bytes: 2 ** 30 } as const
const TIMEOUT_MS = 300_000
const SMALL = { tries: 1, operations: 0, crashes: 0, suspicions: 0, losses: 0, duplicates: 0 } as const
/** Too many runs for a test of seconds; `npm run explore` visits them. */
const LONG = ['three, loss', 'three, duplicate', 'three, crash', 'four', 'four, loss']

const search = <State extends LockState, Message extends AnyMessage>(
  protocol: Protocol<State, Message>,
  changes: Partial<Bound>,
): SearchResult => new Search(lockModel(protocol), boundOf({ ...SMALL, ...changes })).run(LIMITS)

describe.each(['ricart-agrawala', 'maekawa'] as const)('all runs of %s', name => {
  const reached = new Set<string>()

  it.each(LOCK_LADDER.filter(rung => !LONG.includes(rung.name)))(
    '$name',
    ({ bound }) => {
      const result = explore(name, bound, LIMITS)
      expect(result.violation).toBeNull()
      expect(result.complete).toBe(true)
      expect(result.settled).toBeGreaterThan(0)
      for (const what of result.reached) reached.add(what)
    },
    TIMEOUT_MS,
  )

  it('have seen what there is to see', () => {
    expect([...reached].sort()).toEqual([...LOCK_COVERAGE_GOALS].sort())
  })
})

it('all runs of maekawa with INQUIRE and RELINQUISH', () => {
  const result = search(maekawa, { participants: 4, users: [1, 2, 3] })
  expect(result.violation).toBeNull()
  expect(result.complete).toBe(true)
})

it.each(['waiting', 'marking'] as const)('all runs of ricart-agrawala around a ring: %s', ring => {
  for (const changes of [{ users: [1, 2, 3] }, { losses: 1 }, { duplicates: 1, order: 'none' as const }]) {
    const model = lockModel(ricartAgrawala, { ring })
    const result = new Search(model, boundOf({ ...SMALL, ...changes })).run(LIMITS)
    expect(result.violation).toBeNull()
    expect(result.complete).toBe(true)
  }
})

it('all runs of ricart-agrawala with two readers and a writer', () => {
  for (const changes of [{}, { losses: 1, order: 'none' as const }]) {
    const result = search(ricartAgrawala, { users: [1, 2, 3], readers: [2, 3], ...changes })
    expect(result.violation).toBeNull()
    expect(result.complete).toBe(true)
    expect(result.reached).toContain(READERS_TOGETHER)
  }
})

// ---------------------------------------------------------------- seeded bugs

/** The same protocol with changed inputs and effects. */
function changed<State extends LockState, Message extends AnyMessage>(
  protocol: Protocol<State, Message>,
  {
    input: ofInput = input => input,
    effects: ofEffects = effects => effects,
  }: {
    input?: (input: Input<Message>, state: State) => Input<Message>
    effects?: (effects: Effect<Message>[], input: Input<Message>) => Effect<Message>[]
  },
): Protocol<State, Message> {
  return {
    ...protocol,
    step: (context, state, input) => ofEffects(protocol.step(context, state, ofInput(input, state)), input),
  }
}

const isRepeat = (input: Input<unknown>): boolean => input.type === 'timer' && input.timer === 'repeat'

describe('the explorer finds', () => {
  it('a REPLY that is counted twice', () => {
    const counting = changed(ricartAgrawala, {
      input: (input, { soft, durable }) => {
        if (input.type !== 'message' || input.message.body.type !== 'reply') return input
        // As printed, replies are counted: it does not matter whose they are.
        const missing = durable.own.asked.filter(peer => !soft.replies[peer])
        return soft.replies[input.from] && missing[0] !== undefined ? { ...input, from: missing[0] } : input
      },
    })
    expect(search(counting, {}).violation).toBeNull()
    const { violation } = search(counting, { duplicates: 1 })
    expect(violation?.property).toBe('nobody is inside together with another')
    expect(violation?.trace.some(step => step.includes('which stays in flight'))).toBe(true)
  })

  it('the deadlock of Maekawa as printed', () => {
    // A request that is displaced by an earlier one is told nothing, and nothing is said again.
    const printed = changed(maekawa, {
      effects: (effects, input) =>
        effects.filter(effect => {
          if (effect.type !== 'send') return true
          if (isRepeat(input)) return false
          const isAnswer = input.type === 'message' && input.from === effect.to
          return isAnswer || effect.message.body.type !== 'failed'
        }),
    })
    const { violation } = search(printed, { participants: 4, users: [1, 2, 3], order: 'none' })
    expect(violation?.property).toBe('from every quiet world all users come through')
    expect(violation?.detail).toBe('u1 is waiting u2 is waiting u3 is waiting ')
  })

  it('an arbiter that forgets its locker', () => {
    const forgetful = changed(maekawa, {
      effects: effects =>
        effects.map(effect =>
          effect.type === 'save'
            ? { ...effect, records: effect.records.filter(({ key }) => key !== 'arbiter') }
            : effect,
        ),
    })
    expect(search(forgetful, {}).violation?.property).toBe('what counts as durable is stored (I20)')
  })

  it('that nothing repeats what was lost', () => {
    for (const protocol of [ricartAgrawala, maekawa]) {
      const mute = changed(protocol as Protocol<LockState, AnyMessage>, {
        effects: (effects, input) =>
          isRepeat(input) ? effects.filter(({ type }) => type !== 'send') : effects,
      })
      expect(search(mute, {}).violation).toBeNull()
      const { violation } = search(mute, { losses: 1 })
      expect(violation?.property).toBe('from every quiet world all users come through')
    }
  })

  it('fences that do not travel with the locks', () => {
    const fenceless = changed(maekawa, {
      effects: effects =>
        effects.map(effect => {
          if (effect.type !== 'send' || !('fence' in effect.message.body)) return effect
          return { ...effect, message: { ...effect.message, body: { ...effect.message.body, fence: 0 } } }
        }),
    })
    expect(search(fenceless, {}).violation?.property).toBe('fences increase in the order of entering')
  })

  it('a user that is let in twice', () => {
    const doubled = changed(ricartAgrawala, {
      effects: effects =>
        effects.flatMap(effect =>
          effect.type === 'emit' && effect.event.type === 'crit' ? [effect, effect] : [effect],
        ),
    })
    expect(search(doubled, {}).violation?.property).toBe('each user is told what its automaton allows')
  })

  it('a reader that does not wait for a writer', () => {
    const rude = changed(ricartAgrawala, {
      effects: (effects, input) => {
        if (input.type !== 'message' || input.message.body.type !== 'request') return effects
        const { request, incarnation, mode } = input.message.body
        if (mode !== 'shared') return effects
        const message = { ...input.message, body: { type: 'reply', request, incarnation } as const }
        return [...effects, { type: 'send', to: input.from, message }]
      },
    })
    expect(search(rude, {}).violation).toBeNull()
    expect(search(rude, { readers: [1, 2] }).violation).toBeNull()
    const { violation } = search(rude, { readers: [2] })
    expect(violation?.property).toBe('nobody is inside together with another')
  })

  it('a message to nobody', () => {
    const astray = changed(ricartAgrawala, {
      effects: effects => effects.map(effect => (effect.type === 'send' ? { ...effect, to: 9 } : effect)),
    })
    expect(search(astray, {}).violation?.property).toBe('messages go to others')
  })
})
