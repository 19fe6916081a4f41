/** Progress is tried by a run that ends by itself: all users through, a known world, or a cycle. */
import { describe, expect, it } from 'vitest'
import type { Effect, Input } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import { wme1 } from '../../shared/protocols/wme/wme.ts'
import type { Bound } from './bound.ts'
import { boundOf } from './options.ts'
import { Search } from './search.ts'
import { Settler } from './settle.ts'
import { type WmeProtocol, wmeModel } from './wme-model.ts'

const SMALL = {
  tries: 1,
  operations: 0,
  crashes: 0,
  suspicions: 0,
  losses: 1,
  duplicates: 0,
  users: [2],
} as const
const PROPERTY = 'from every quiet world all users come through'

const search = (protocol: WmeProtocol, changes: Partial<Bound> = {}) =>
  new Search(wmeModel(protocol), boundOf({ ...SMALL, ...changes })).run({ seconds: 60, bytes: 2 ** 30 })

const isRepeat = (input: Input<WmeMessage>): boolean => input.type === 'timer' && input.timer === 'repeat'

/** What a user's `try` should send is sent only by the repeat timer, and only every `sendsEvery` times. */
function lazy(sendsEvery: number): WmeProtocol {
  return {
    ...wme1,
    step(context, state, input) {
      const soft = state.soft as { skipped?: number }
      const effects = wme1.step(context, state, input)
      if (isRepeat(input)) soft.skipped = ((soft.skipped ?? 0) + 1) % sendsEvery
      const isSilent = input.type === 'user' || (isRepeat(input) && soft.skipped !== 0)
      return isSilent ? effects.filter(({ type }) => type !== 'send') : effects
    },
  }
}

describe('a fair run', () => {
  // The limit was 2,000 steps, and a longer run counted as one that leads nowhere.
  it('may be long: thousands of steps that lead on are no violation', () => {
    const { worlds, findings } = new Search(wmeModel(lazy(2_500)), boundOf(SMALL))
    const settler = new Settler(worlds, findings)
    settler.settle(worlds.initial(), () => false)
    expect(findings.violation).toBeNull()
    expect(settler.count).toBe(1)
  })

  it('that goes around in a circle is a violation, and is told up to where it closes', () => {
    const mute: WmeProtocol = {
      ...wme1,
      step: (context, state, input): Effect<WmeMessage>[] =>
        isRepeat(input)
          ? wme1.step(context, state, input).filter(({ type }) => type !== 'send')
          : wme1.step(context, state, input),
    }
    const { violation } = search(mute)
    expect(violation?.property).toBe(PROPERTY)
    const steps = Number(/\((\d+) steps\)/.exec(violation!.trace.at(-1)!)![1])
    expect(steps).toBeLessThan(50)
  })

  it('that never comes to an end says nothing, and the search says that its time is over', () => {
    const counting: WmeProtocol = {
      ...wme1,
      step(context, state, input) {
        const soft = state.soft as { repeats?: number }
        const effects = wme1.step(context, state, input)
        if (!isRepeat(input)) return effects
        soft.repeats = (soft.repeats ?? 0) + 1
        return effects.filter(({ type }) => type !== 'send')
      },
    }
    const bound = boundOf(SMALL)
    const result = new Search(wmeModel(counting), bound).run({ seconds: 1, bytes: 2 ** 30 })
    expect(result).toMatchObject({ complete: false, stopped: 'time', violation: null })
  })
})
