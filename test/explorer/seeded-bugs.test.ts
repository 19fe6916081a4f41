/** The core with a bug put in from outside, to show that the explorer finds what it looks for. */
import { describe, expect, it } from 'vitest'
import type { Effect } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import type { Bound } from './bound.ts'
import { boundOf } from './options.ts'
import { Search } from './search.ts'
import { type WmeProtocol, wmeModel } from './wme-model.ts'

const SMALL = { tries: 1, operations: 1, crashes: 0, suspicions: 0, losses: 0, duplicates: 0 } as const

function violationOf(protocol: WmeProtocol, changes: Partial<Bound>) {
  const bound = boundOf({ ...SMALL, ...changes })
  const result = new Search(wmeModel(protocol), bound).run({ seconds: 60, bytes: 2 ** 30 })
  return result.violation
}

type Effects = Effect<WmeMessage>[]

/** The same protocol with changed effects. */
const withEffects = (protocol: WmeProtocol, change: (effects: Effects) => Effects): WmeProtocol => ({
  ...protocol,
  step: (context, state, input) => change(protocol.step(context, state, input)),
})

function withoutSaving(protocol: WmeProtocol, lost: string): WmeProtocol {
  return withEffects(protocol, effects =>
    effects.map(effect =>
      effect.type === 'save'
        ? { ...effect, records: effect.records.filter(({ key }) => key !== lost) }
        : effect,
    ),
  )
}

describe('the explorer finds', () => {
  it('that the epoch is not saved', () => {
    const violation = violationOf(withoutSaving(wme1, 'epoch'), { suspicions: 1, lag: 1 })
    expect(violation?.property).toBe('what counts as durable is stored (I20)')
  })

  it('that a promise is not saved', () => {
    const violation = violationOf(withoutSaving(wme2, 'paxos'), { suspicions: 1, lag: 1 })
    expect(violation?.property).toBe('what counts as durable is stored (I20)')
  })

  it('that a participant comes back unsealed', () => {
    const unsealing: WmeProtocol = {
      ...wme1,
      recover(context, records) {
        const state = wme1.recover(context, records)
        state.durable.epoch = { ...state.durable.epoch, sealed: false }
        return state
      },
    }
    const violation = violationOf(unsealing, { suspicions: 1, lag: 1 })
    expect(violation?.property).toBe('what counts as durable is stored (I20)')
  })

  it('that an acknowledgement says more than the log holds', () => {
    const boasting = withEffects(wme1, effects =>
      effects.map(effect => {
        if (effect.type !== 'send' || effect.message.body.type !== 'invoke-ack') return effect
        const body = { ...effect.message.body, length: effect.message.body.length + 1 }
        return { ...effect, message: { ...effect.message, body } }
      }),
    )
    expect(violationOf(boasting, {})?.property).toBe('what a message says is durable before it leaves (I17)')
  })

  it('that something is committed before a majority has it', () => {
    const hasty: WmeProtocol = {
      ...wme2,
      step(context, state, input) {
        if (!state.durable.epoch.sealed) state.soft.acknowledged.fill(99)
        return wme2.step(context, state, input)
      },
    }
    const violation = violationOf(hasty, { suspicions: 1, lag: 2 })
    expect(violation?.property).toBe('what is committed is in every later log, and the same (I5, I6)')
    // A participant must suspect, a majority must agree and decide, and nothing else matters.
    expect(violation?.trace.some(step => step.includes("'suspect' fires"))).toBe(true)
    expect(violation?.trace.length).toBeLessThan(30)
  })

  it('that a user is let in without a grant in the log', () => {
    const violation = violationOf(
      withEffects(wme1, effects =>
        effects.flatMap(effect =>
          effect.type === 'emit' && effect.event.type === 'rem'
            ? [effect, { ...effect, event: critOf() }]
            : [effect],
        ),
      ),
      {},
    )
    expect(violation?.property).toBe('each user is told what its automaton allows')
  })

  it('that nothing repeats what was lost', () => {
    const silent = withEffects(wme1, effects => effects)
    const mute: WmeProtocol = {
      ...silent,
      step: (context, state, input) =>
        input.type === 'timer' && input.timer === 'repeat'
          ? wme1.step(context, state, input).filter(({ type }) => type !== 'send')
          : wme1.step(context, state, input),
    }
    expect(violationOf(mute, { losses: 1 })?.property).toBe('from every quiet world all users come through')
  })

  it('that a record is changed in place after it was saved', () => {
    const careless: WmeProtocol = {
      ...wme1,
      step(context, state, input) {
        const grant = state.durable.stub.grant as { expiresAt: number } | null
        if (grant !== null) grant.expiresAt = 1
        return wme1.step(context, state, input)
      },
    }
    expect(violationOf(careless, {})?.property).toBe('no participant stops with a defect')
  })
})

const critOf = () =>
  ({ type: 'crit', user: 'u1', fence: 999, epoch: 0, sequence: 999, expiresAt: 0, confirmed: true }) as const
