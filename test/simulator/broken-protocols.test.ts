/**
 * Whatever is wrong with the code under test, the run reports it: it throws, breaks the order of effects,
 * never ends, never acts.
 */
import { describe, expect, it } from 'vitest'
import type { Effect, Input } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { WmeState } from '../../shared/protocols/wme/state.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { expectViolation, OPTIONS, SCENARIO } from './fixtures.ts'
import { runSubject } from './run.ts'
import type { RunOptions } from './scenario.ts'
import { shrink } from './shrink.ts'
import type { Subject } from './subject.ts'
import { Transcript } from './transcript.ts'
import { wmeSubject } from './wme-subject.ts'
import { World } from './world.ts'

type Effects = Effect<WmeMessage>[]
type Change = (effects: Effects, input: Input<WmeMessage>) => Effects

/** The protocol with its effects changed on the way to the interpreter. */
function broken(change: Change): Subject<WmeState, WmeMessage> {
  const subject = wmeSubject('wme-1')
  const { protocol } = subject
  const step: typeof protocol.step = (context, state, input) =>
    change(protocol.step(context, state, input), input)
  return { ...subject, protocol: { ...protocol, step } }
}

/** The first seed that breaks a rule. */
function ruleBroken(change: Change, options: RunOptions = OPTIONS): string | null {
  for (let seed = 1; seed <= 20; seed++) {
    const { violation } = runSubject(broken(change), options, seed, null)
    if (violation !== null) return `${violation.kind} ${violation.rule}`
  }
  return null
}

describe('a broken protocol', () => {
  it('that throws is a defect', () => {
    const throws: Change = (effects, input) => {
      if (input.type === 'timer') throw new Error('a defect')
      return effects
    }
    expect(ruleBroken(throws)).toBe('defect thrown')
  })

  it('that saves last, or twice, breaks the order of effects', () => {
    expect(ruleBroken(effects => effects.toReversed())).toMatch(/^safety (effects|I17)$/)
    expect(ruleBroken(effects => [...effects, { type: 'save', records: [] }])).toBe('safety effects')
  })

  it('that forgets to save is found by what it sends and by what it comes back with', () => {
    const forgets = (key: string): Change => {
      return effects =>
        effects.map(effect =>
          effect.type === 'save'
            ? { ...effect, records: effect.records.filter(record => record.key !== key) }
            : effect,
        )
    }
    expect(ruleBroken(forgets('stub'))).toMatch(/^safety I/)
    expect(ruleBroken(forgets('paxos'))).toMatch(/^safety I/)
    expect(ruleBroken(forgets('progress'))).toMatch(/^safety I/)
  })

  it('that never answers a request starves a user', () => {
    const deaf: Change = (effects, input) => {
      const isRequest = input.type === 'message' && input.message.body.type === 'request'
      return isRequest ? effects.filter(effect => effect.type !== 'send') : effects
    }
    const starves: Change = (effects, input) =>
      deaf(effects, input).filter(effect => effect.type !== 'set-timer' || effect.timer !== 'repeat')
    expect(ruleBroken(starves, { ...OPTIONS, faults: [] })).toMatch(/I14|liveness/)
  })

  it('that keeps a timer is not silent', () => {
    const restless: Change = effects => [...effects, { type: 'set-timer', timer: 'flush', afterMs: 100 }]
    expect(ruleBroken(restless, { ...OPTIONS, durationMs: 500, faults: [] })).toBe('liveness quiescence')
  })

  it('that never ends is ended', () => {
    const world = new World(SCENARIO, wmeSubject('wme-1'), keyValue, new Transcript(null))
    world.interpreter.steps = 1_999_999
    world.life.start(world.participant(1))
    expectViolation('endless', () => world.life.start(world.participant(2)))
  })
})

describe('shrinking', () => {
  it('finds a smaller run that breaks the same rule', () => {
    const change: Change = (effects, input) => {
      if (input.type === 'user' && input.event.type === 'exit') throw new Error('on exit')
      return effects
    }
    const run = (options: RunOptions, seed: number) => runSubject(broken(change), options, seed, null)
    const shrunk = shrink({ ...OPTIONS, participants: 5 }, 1, run)
    expect(shrunk.result.violation).toMatchObject({ kind: 'defect', rule: 'thrown' })
    expect(shrunk.options).toMatchObject({ faults: [], participants: 1, users: 1 })
    expect(shrunk.result.steps).toBeLessThan(20)
  })
})
