/** The host that runs the protocols in the browser: any protocol, any number, anything done to it. */
import { describe, expect, it } from 'vitest'
import type { Action } from '../../../page/simulated/engine/actions.ts'
import { Run } from '../../../page/simulated/engine/run.ts'
import {
  DEFAULT_SETUP,
  MAX_MOMENTS,
  MAX_PARTICIPANTS,
  type Setup,
  SIMULATED_PROTOCOLS,
} from '../../../page/simulated/engine/setup.ts'
import { seatAt, seatsAt } from '../../../page/simulated/engine/tape.ts'
import { verdictAt } from '../../../page/simulated/engine/verdict.ts'
import { PROTOCOL_NAMES } from '../../../shared/protocols/all.ts'
import { Random } from '../../simulator/random.ts'

const setupOf = (part: Partial<Setup>): Setup => ({ ...DEFAULT_SETUP, ...part })

/** Does something at the end of a run. */
function act(run: Run, ...actions: Action[]): void {
  for (const action of actions) run.withAction(run.length, action)
}

const outcomes = (run: Run) => run.tape.history.events.filter(({ type }) => type === 'outcome').length
const entries = (run: Run) => run.tape.history.events.filter(({ type }) => type === 'crit').length

describe.each(SIMULATED_PROTOCOLS)('%s', protocol => {
  it('lets six users in, one after the other, at 13 participants', () => {
    const run = new Run(setupOf({ protocol, participants: MAX_PARTICIPANTS }))
    for (let participant = 1; participant <= 11; participant += 2) act(run, { type: 'visit', participant })
    run.extendTo(MAX_MOMENTS)
    expect(entries(run)).toBe(6)
    expect(verdictAt(run.tape, run.length)!.safety).toBe('valid')
  })

  it('works alone', () => {
    const run = new Run(setupOf({ protocol, participants: 1 }))
    act(run, { type: 'visit', participant: 1 })
    run.extendTo(200)
    expect(run.tape.history.events.at(-1)!.type).toBe('rem')
  })

  it('is the same run for the same seed and actions, and another one for another seed', () => {
    const texts = [1, 1, 2].map(seed => {
      const run = new Run(setupOf({ protocol, seed }))
      act(run, { type: 'commute', participant: 1 }, { type: 'commute', participant: 3 })
      run.extendTo(300)
      return JSON.stringify(run.tape)
    })
    expect(texts[1]).toBe(texts[0])
    expect(texts[2]).not.toBe(texts[0])
  })
})

/** Something at random, as a reader who presses every button would do it. */
function mischief(random: Random, participants: number): Action {
  const participant = random.between(1, participants)
  const other = 1 + ((participant + random.below(participants - 1)) % participants)
  const [from, to] = [participant, other]
  return random.pick<Action>([
    { type: 'commute', participant },
    { type: 'visit', participant },
    { type: 'kill', participant },
    { type: 'restart', participant },
    { type: 'pause', participant },
    { type: 'resume', participant },
    { type: 'eject', participant },
    { type: 'cut', from, to },
    { type: 'heal', from, to },
    { type: 'suspect', from, to },
    { type: 'operate', participant },
    { type: 'leave', participant },
  ])
}

describe.each(PROTOCOL_NAMES)('%s under all buttons', protocol => {
  it.each([1, 2, 3, 4])('stays safe and nobody throws (seed %i)', seed => {
    const random = new Random(seed, 77)
    const participants = random.between(2, 5)
    const run = new Run(setupOf({ protocol, participants, seed, ttlMs: 400 }))
    while (run.length < 1_200 && !run.isFull) {
      act(run, mischief(random, participants))
      run.extendTo(run.length + random.between(1, 25))
    }
    expect(verdictAt(run.tape, run.length)!.safety).toBe('valid')
    const stops = run.tape.moments.flatMap(({ marks }) => marks).filter(({ text }) => text.includes('stops:'))
    expect(stops).toEqual([])
    // A lock without a state needs everybody, and here somebody is always missing.
    if (run.host.guardsState) expect(entries(run)).toBeGreaterThan(0)
  })
})

describe('a run', () => {
  it('keeps what a participant has stored over a restart, and nothing over a lost disk', () => {
    const run = new Run(setupOf({ protocol: 'wme-2' }))
    act(run, { type: 'visit', participant: 1 })
    run.extendTo(200)
    expect(outcomes(run)).toBe(1)
    act(run, { type: 'kill', participant: 2 }, { type: 'restart', participant: 2 })
    expect(seatAt(run.tape, 2, run.length)).toMatchObject({ isMember: true, sequence: 2 })
    act(run, { type: 'wipe', participant: 2 })
    expect(seatAt(run.tape, 2, run.length)).toMatchObject({ isMember: false, sequence: 0, condition: 'down' })
    act(run, { type: 'restart', participant: 2 })
    act(run, { type: 'visit', participant: 3 })
    run.extendTo(run.length + 400)
    expect(seatAt(run.tape, 2, run.length)).toMatchObject({ isMember: true, cells: [{}, {}] })
    expect(verdictAt(run.tape, run.length)!.safety).toBe('valid')
  })

  it('forks where something is done: what came later never happened', () => {
    const run = new Run(setupOf({ protocol: 'wme-2' }))
    act(run, { type: 'visit', participant: 1 }, { type: 'visit', participant: 2 })
    run.extendTo(40)
    const other = run.withAction(10, { type: 'kill', participant: 1 })
    expect(other).not.toBe(run)
    expect(other.length).toBe(11)
    expect(other.tape.moments.slice(0, 10)).toEqual(run.tape.moments.slice(0, 10))
    expect(seatAt(other.tape, 1, 11)!.condition).toBe('down')
    expect(run.length).toBe(40)
  })

  it('does not do what cannot be done', () => {
    const run = new Run(setupOf({ protocol: 'maekawa' }))
    const before = run.length
    act(
      run,
      { type: 'restart', participant: 1 },
      { type: 'operate', participant: 1 },
      { type: 'leave', participant: 2 },
      { type: 'members', members: [1, 2] },
      { type: 'kill', participant: 9 },
      { type: 'cut', from: 1, to: 9 },
    )
    expect(run.length).toBe(before)
    expect(run.actions).toEqual([])
  })

  it('refuses members that cannot be, in words', () => {
    const run = new Run(setupOf({ protocol: 'wme-2' }))
    act(run, { type: 'members', members: [1, 2, 5] })
    run.extendTo(400)
    expect(seatsAt(run.tape, run.length).filter(({ isMember }) => isMember)).toHaveLength(3)
    act(run, { type: 'members', members: [1, 2, 3] })
    run.extendTo(run.length + 200)
    const texts = run.tape.moments.flatMap(({ marks }) => marks).map(({ text }) => text)
    expect(texts).toContain('The operator is refused: no-such-members')
  })

  it('ends when nothing is left to happen, and at the latest when it is full', () => {
    const quiet = new Run(setupOf({}))
    quiet.extendTo(500)
    expect(quiet.length).toBeLessThan(20)
    expect(quiet.nextAt).toBeNull()
    const busy = new Run(setupOf({ protocol: 'maekawa' }))
    act(busy, { type: 'commute', participant: 1 }, { type: 'commute', participant: 2 })
    busy.extendTo(MAX_MOMENTS + 10)
    expect(busy.length).toBe(MAX_MOMENTS)
    expect(busy.nextAt).toBeNull()
  })

  it('loses what is sent over a cut link, and only that', () => {
    const run = new Run(setupOf({ protocol: 'ricart-agrawala' }))
    act(run, { type: 'cut', from: 1, to: 2 }, { type: 'visit', participant: 1 })
    run.extendTo(60)
    const lost = run.tape.messages.filter(({ arrivesAt }) => arrivesAt === null)
    expect(lost.length).toBeGreaterThan(0)
    for (const { from, to } of lost) expect([from, to].sort()).toEqual([1, 2])
    expect(entries(run)).toBe(0)
    act(run, { type: 'heal', from: 2, to: 1 })
    run.extendTo(run.length + 200)
    expect(entries(run)).toBe(1)
  })
})
