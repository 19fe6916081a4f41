/**
 * Whatever is wrong with a protocol that guards no state, or with the replicated state machine, the run
 * reports it.
 */
import { describe, expect, it } from 'vitest'
import type { MaekawaMessage } from '../../shared/protocols/maekawa/messages.ts'
import type { Effect, Emitted, Input } from '../../shared/protocols/protocol.ts'
import type { RicartAgrawalaMessage } from '../../shared/protocols/ricart-agrawala/messages.ts'
import { wmeConsensus } from '../../shared/protocols/wme-consensus/wme-consensus.ts'
import { keyValue } from '../../shared/resource/key-value.ts'
import { consensusSubject } from './consensus-subject.ts'
import { expectViolation, OPTIONS } from './fixtures.ts'
import { maekawaSubject, ricartAgrawalaSubject } from './lock-only-subject.ts'
import { runSubject, variantOf } from './run.ts'
import { drawScenario, type RunOptions } from './scenario.ts'
import type { Subject } from './subject.ts'
import { Transcript } from './transcript.ts'
import { World } from './world.ts'

type Change<State, Message> = (
  effects: Effect<Message>[],
  input: Input<Message>,
  state: State,
) => Effect<Message>[]

const SEEDS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/**
 * The first seed that breaks a rule, for the protocol with its effects changed on the way to the interpreter.
 */
function ruleBroken<State, Message>(
  subject: Subject<State, Message>,
  change: Change<State, Message>,
  { seeds = SEEDS, ...options }: Partial<RunOptions> & { readonly seeds?: readonly number[] } = {},
): string | null {
  const { protocol } = subject
  const step: typeof protocol.step = (context, state, input) =>
    change(protocol.step(context, state, input), input, state)
  const broken = { ...subject, protocol: { ...protocol, step } }
  for (const seed of seeds) {
    const run = { ...OPTIONS, durationMs: 1_000, ...options, protocol: protocol.name }
    const { violation } = runSubject({ ...broken, createChecks: subject.createChecks }, run, seed, null)
    if (violation !== null) return `${violation.kind} ${violation.rule}`
  }
  return null
}

const mapEmitted = <Message>(
  effects: Effect<Message>[],
  map: (event: Emitted) => Emitted,
): Effect<Message>[] =>
  effects.map(effect => (effect.type === 'emit' ? { ...effect, event: map(effect.event) } : effect))

const locks = maekawaSubject()
const asking = ricartAgrawalaSubject()
const NO_FAULTS = { faults: [] } as const

/** Records of this kind are not saved. */
function forgets<Message>(key: string): Change<unknown, Message> {
  return effects =>
    effects.map(effect =>
      effect.type === 'save'
        ? { ...effect, records: effect.records.filter(record => !record.key.startsWith(key)) }
        : effect,
    )
}

describe('a broken lock', () => {
  it('whose arbiters lock for two is found by what they have stored', () => {
    const generous: Change<unknown, MaekawaMessage> = effects =>
      effects.map(effect => {
        if (effect.type !== 'send' || effect.message.body.type !== 'failed') return effect
        const { sequence, highest } = effect.message.body
        const body = { type: 'locked', sequence, round: 999, fence: 0, highest } as const
        return { ...effect, message: { ...effect.message, body } }
      })
    expect(ruleBroken(locks, generous, NO_FAULTS)).toBe('safety I17')
  })

  it('whose messages do not carry the highest number starves those that have used it often', () => {
    const forgetful: Change<unknown, MaekawaMessage> = effects =>
      effects.map(effect => {
        if (effect.type !== 'send' || !('highest' in effect.message.body)) return effect
        return { ...effect, message: { ...effect.message, body: { ...effect.message.body, highest: 0 } } }
      })
    const crowded = { ...NO_FAULTS, participants: 5, durationMs: 8_000, seeds: [22] }
    expect(ruleBroken(locks, effects => effects, crowded)).toBeNull()
    expect(ruleBroken(locks, forgetful, crowded)).toBe('liveness starvation-freedom')
  })

  it('that replies to every request lets two in', () => {
    const polite: Change<unknown, RicartAgrawalaMessage> = (effects, input) => {
      if (input.type !== 'message' || input.message.body.type !== 'request') return effects
      const { request, incarnation } = input.message.body
      const message = { ...input.message, body: { type: 'reply', request, incarnation } as const }
      return [...effects, { type: 'send', to: input.from, message }]
    }
    expect(ruleBroken(asking, polite, { ...NO_FAULTS, plain: true })).toMatch(
      /safety (mutual exclusion|fences)/,
    )
  })

  it('that gives one fence to all is found by it', () => {
    const careless: Change<unknown, MaekawaMessage> = effects =>
      mapEmitted(effects, event => (event.type === 'crit' ? { ...event, fence: 7 } : event))
    expect(ruleBroken(locks, careless, NO_FAULTS)).toMatch(/safety (fences|I10)/)
  })

  it('that says nothing to those it lets in is found by its view', () => {
    const mute: Change<unknown, MaekawaMessage> = effects =>
      effects.filter(effect => effect.type !== 'emit' || effect.event.type !== 'crit')
    expect(ruleBroken(locks, mute, NO_FAULTS)).toBe('safety I10')
  })

  it('that forgets to save something comes back with something else', () => {
    for (const key of ['own', 'arbiter'])
      expect(ruleBroken(locks, forgets(key), NO_FAULTS), key).toMatch(/^safety I(17|20)$/)
    for (const key of ['waiting', 'fence', 'holder', 'waiter'])
      expect(ruleBroken(locks, forgets(key), NO_FAULTS), key).toBe('safety I20')
    for (const key of ['own', 'highest'])
      expect(ruleBroken(asking, forgets(key), { ...NO_FAULTS, plain: true }), key).toMatch(
        /^safety I(17|20)$/,
      )
  })

  it('that does not repeat what is lost is found when it sets no timer', () => {
    const once: Change<unknown, MaekawaMessage> = effects =>
      effects.filter(effect => effect.type !== 'set-timer' || effect.timer !== 'repeat')
    expect(ruleBroken(locks, once)).toBe('safety I14')
  })

  it('that does not release starves a user', () => {
    const greedy: Change<unknown, MaekawaMessage> = effects =>
      effects.filter(effect => effect.type !== 'send' || effect.message.body.type !== 'release')
    expect(ruleBroken(locks, greedy, NO_FAULTS)).toBe('liveness progress')
  })

  it('that keeps a timer is not silent', () => {
    const restless: Change<unknown, MaekawaMessage> = effects => [
      ...effects,
      { type: 'set-timer', timer: 'repeat', afterMs: 100 },
    ]
    expect(ruleBroken(locks, restless, NO_FAULTS)).toBe('liveness quiescence')
  })

  it('whose state grows without a limit is found', () => {
    const leaking: Change<{ readonly soft: object }, MaekawaMessage> = (effects, _, { soft }) => {
      const leaky = soft as { leak?: number[] }
      leaky.leak = [...(leaky.leak ?? []), 1]
      return effects
    }
    expect(ruleBroken(locks, leaking, NO_FAULTS)).toBe('safety I19')
  })

  it('that speaks of a replica, to itself, or in another format is found', () => {
    const restored: Change<unknown, MaekawaMessage> = effects => [
      ...effects,
      { type: 'emit', event: { type: 'restored', sequence: 1 } },
    ]
    expect(ruleBroken(locks, restored, NO_FAULTS)).toBe('safety replica')
    const sends = (map: (effect: Extract<Effect<MaekawaMessage>, { type: 'send' }>) => object) =>
      ruleBroken(
        locks,
        effects =>
          effects.map(effect =>
            effect.type === 'send' ? ({ ...effect, ...map(effect) } as Effect<MaekawaMessage>) : effect,
          ),
        NO_FAULTS,
      )
    expect(sends(() => ({ to: 9 }))).toBe('safety A11')
    expect(sends(({ message }) => ({ message: { ...message, format: 2 } }))).toBe('safety A11')
  })

  it('is not wiped: it does not claim to survive that', () => {
    const options = { ...OPTIONS, protocol: 'maekawa' } as const
    const scenario = drawScenario(options, 1, variantOf(locks, options, 1))
    expect(scenario.meanMs.wipes).toBe(Number.POSITIVE_INFINITY)
    const world = new World(scenario, locks, keyValue, new Transcript(null))
    world.life.start(world.participant(1))
    expectViolation('claims', () => world.life.wipe(world.participant(1)))
  })
})

describe('a broken replicated state machine', () => {
  const machine = consensusSubject(wmeConsensus)
  type Message = Parameters<typeof wmeConsensus.step>[2] extends Input<infer M> ? M : never
  const emitting = (map: (event: Emitted) => Emitted) =>
    ruleBroken<Parameters<typeof wmeConsensus.view>[1], Message>(
      machine,
      effects => mapEmitted(effects, map),
      NO_FAULTS,
    )

  it('that tells another outcome, or leaves an operation out, is found', () => {
    expect(emitting(event => (event.type === 'outcome' ? { ...event, result: 77 } : event))).toBe('safety I8')
    const forgetful = ruleBroken<Parameters<typeof wmeConsensus.view>[1], Message>(
      machine,
      effects => effects.filter(({ type }, index) => index % 2 === 0 || type !== 'emit'),
      NO_FAULTS,
    )
    expect(forgetful).toMatch(/safety I/)
  })

  it('that gives one fence to all is found', () => {
    expect(emitting(event => (event.type === 'crit' ? { ...event, fence: 7 } : event))).toMatch(/safety I1/)
  })

  it('that lets a replica be read too early is found', () => {
    expect(emitting(event => (event.type === 'readable' ? { ...event, sequence: 0 } : event))).toBe(
      'safety read',
    )
  })

  it('that forgets to save something comes back with something else', () => {
    for (const key of ['stub', 'machine', 'log/', 'acceptor', 'waiter']) {
      expect(ruleBroken(machine, forgets(key), { faults: ['pauses', 'suspicions'] }), key).toMatch(/I20/)
    }
  })
})
