/** What the prepared scenarios say really happens in them. */
import { describe, expect, it } from 'vitest'
import { readActions, writeActions } from '../../../page/simulated/engine/actions.ts'
import { Run } from '../../../page/simulated/engine/run.ts'
import { sectionsOf } from '../../../page/simulated/engine/sections.ts'
import { seatAt, seatsAt, type Tape } from '../../../page/simulated/engine/tape.ts'
import { verdictAt } from '../../../page/simulated/engine/verdict.ts'
import { SCENARIOS, scenarioNamed } from '../../../page/simulated/scenarios/all.ts'
import { type Prepared, prepare } from '../../../page/simulated/scenarios/stage.ts'
import type { HistoryEvent } from '../../../shared/history/events.ts'

function played(name: string): { readonly tape: Tape; readonly prepared: Prepared; readonly length: number } {
  const prepared = prepare(scenarioNamed(name)!)
  const run = new Run(prepared.setup, prepared.actions)
  run.extendTo(prepared.length)
  return { tape: run.tape, prepared, length: prepared.length }
}

const eventsOf = <Type extends HistoryEvent['type']>({ history }: Tape, type: Type) =>
  history.events.filter(event => event.type === type) as Extract<HistoryEvent, { readonly type: Type }>[]

/** The moment in which this was first so. */
function firstMoment({ moments }: Tape, isSo: (position: number) => boolean): number {
  for (let position = 1; position <= moments.length; position++) if (isSo(position)) return position
  throw new Error('it was never so')
}

const isApplied = (tape: Tape, opId: string): boolean =>
  eventsOf(tape, 'invoke').some(event => event.opId === opId)

const inside = (tape: Tape, position: number): string[] =>
  sectionsOf(tape, position)
    .filter(({ to }) => to === null)
    .map(({ user }) => user)

describe.each(SCENARIOS.map(({ name }) => name))('the scenario %s', name => {
  it('is the same run when it is played from its actions, as a link holds them', () => {
    const { tape, prepared } = played(name)
    const actions = readActions(writeActions(prepared.actions))
    const again = new Run(prepared.setup, actions as typeof prepared.actions)
    again.extendTo(prepared.length)
    expect(again.tape.moments).toEqual(tape.moments)
    expect(again.tape.history.events).toEqual(tape.history.events)
  })

  it('has words from beginning to end, in order', () => {
    const { prepared, length } = played(name)
    const places = prepared.captions.map(({ from }) => from)
    expect(places[0]).toBe(1)
    expect(places).toEqual([...new Set(places)].sort((one, other) => one - other))
    expect(places.at(-1)).toBeLessThanOrEqual(length)
    for (const { text } of prepared.captions) expect(text).toMatch(/[.?)]$/)
  })

  it('is judged as it says', () => {
    const { tape, length } = played(name)
    expect(verdictAt(tape, length)!.safety).toBe(name === 'paused-redlock' ? 'invalid' : 'valid')
  })
})

describe('what happens', () => {
  it('in a nice run: both operate, and the second fence is higher', () => {
    const { tape } = played('nice-run')
    const [ada, bob] = eventsOf(tape, 'crit')
    expect([ada?.user, bob?.user]).toEqual(['ada', 'bob'])
    expect(bob!.fence).toBeGreaterThan(ada!.fence)
    expect(eventsOf(tape, 'outcome').map(({ opId }) => opId)).toEqual(['ada-1', 'bob-1'])
    expect(eventsOf(tape, 'ejected')).toEqual([])
    // Ada is let in without a message.
    const entered = firstMoment(tape, position => inside(tape, position).includes('ada'))
    expect(tape.messages.filter(({ receivedIn }) => receivedIn !== null && receivedIn < entered)).toEqual([])
  })

  it('when the owner dies: its operation stays, and its user learns of the end', () => {
    const { tape, length } = played('owner-dies')
    const killed = tape.moments.findIndex(({ marks }) => marks.some(({ glyph }) => glyph === 'crash'))
    expect(inside(tape, killed)).toEqual(['ada'])
    expect(eventsOf(tape, 'crit').map(({ user, epoch }) => [user, epoch])).toEqual([
      ['ada', 0],
      ['bob', 1],
    ])
    expect(eventsOf(tape, 'ejected')).toMatchObject([{ user: 'ada', reason: 'suspected' }])
    expect(seatAt(tape, 1, length)).toMatchObject({ condition: 'up', epoch: 1 })
    // Each replica has both operations.
    for (const { cells } of seatsAt(tape, length))
      expect(cells).toContainEqual(expect.objectContaining({ key: 'count', value: 2 }))
  })

  it('after a false suspicion: the pending operation is reported not applied, and is in nobody’s log', () => {
    const { tape, length } = played('false-suspicion')
    const suspected = firstMoment(tape, position => seatAt(tape, 2, position)!.suspects.includes(1))
    expect(seatAt(tape, 1, suspected)!.condition).toBe('up')
    expect(seatAt(tape, 1, suspected)!.phase).toBe('cs-issuing')
    expect(eventsOf(tape, 'ejected')).toMatchObject([
      { user: 'ada', pending: { opId: 'ada-1', outcome: 'not-applied' } },
    ])
    expect(isApplied(tape, 'ada-1')).toBe(false)
    expect(isApplied(tape, 'bob-1')).toBe(true)
    for (const { cells } of seatsAt(tape, length))
      expect(cells).toContainEqual(expect.objectContaining({ key: 'last', value: 'bob' }))
  })

  it('to the paused holder of Redlock: it goes on while another is inside', () => {
    const { tape, length } = played('paused-redlock')
    expect(firstMoment(tape, position => inside(tape, position).length === 2)).toBeGreaterThan(0)
    const broken = verdictAt(tape, length)!.properties.filter(({ verdict }) => verdict === 'invalid')
    expect(broken.map(({ name }) => name)).toEqual(['mutual exclusion'])
    const resumed = tape.moments.findIndex(({ marks }) => marks.some(({ glyph }) => glyph === 'resume'))
    expect(inside(tape, resumed)).toEqual(['ada', 'bob'])
  })

  it('to the paused holder of Baton: it goes on as well, and changes nothing', () => {
    const { tape } = played('paused-baton')
    const resumed = tape.moments.findIndex(({ marks }) => marks.some(({ glyph }) => glyph === 'resume'))
    expect(inside(tape, resumed)).toEqual(['ada', 'bob'])
    expect(eventsOf(tape, 'issue').map(({ opId }) => opId)).toEqual(['bob-1', 'ada-1'])
    expect(isApplied(tape, 'ada-1')).toBe(false)
    expect(eventsOf(tape, 'ejected')).toMatchObject([
      { user: 'ada', pending: { opId: 'ada-1', outcome: 'not-applied' } },
    ])
  })

  it('instead of Maekawa’s deadlock: INQUIRE, RELINQUISH, and all three get in', () => {
    const { tape } = played('maekawa-deadlock')
    const received = tape.messages.filter(({ receivedIn }) => receivedIn !== null).map(({ type }) => type)
    expect(received).toEqual(expect.arrayContaining(['failed', 'inquire', 'relinquish', 'locked']))
    // As the words say: node 4 asks node 3, which gives the lock back.
    expect(tape.messages).toContainEqual(expect.objectContaining({ type: 'inquire', from: 4, to: 3 }))
    expect(tape.messages).toContainEqual(expect.objectContaining({ type: 'relinquish', from: 3, to: 4 }))
    expect(eventsOf(tape, 'rem').map(({ user }) => user)).toEqual(['ada', 'bob', 'cyd'])
  })

  it('with two tokens: two participants believe to own one, in the same moment', () => {
    const { tape, length } = played('two-tokens')
    const owners = (position: number) =>
      seatsAt(tape, position).filter(({ id, owner, isMember }) => isMember && owner === id)
    const both = firstMoment(tape, position => owners(position).length === 2)
    expect(owners(both).map(({ id }) => id)).toContain(1)
    expect(firstMoment(tape, position => inside(tape, position).length === 2)).toBeLessThan(length)
    expect(verdictAt(tape, both)!.safety).toBe('valid')
    expect(isApplied(tape, 'ada-1')).toBe(true)
    expect(isApplied(tape, 'ada-2')).toBe(false)
    expect(owners(length)).toHaveLength(1)
  })

  it('when a member is replaced: the newcomer is needed, and has what was before it', () => {
    const { tape, length } = played('member-replaced')
    expect(seatAt(tape, 4, length)).toMatchObject({ isMember: true, condition: 'up' })
    expect([2, 3].map(id => seatAt(tape, id, length)!.condition)).toEqual(['down', 'down'])
    expect(eventsOf(tape, 'outcome').map(({ user, participant }) => [user, participant])).toEqual([
      ['ada', 1],
      ['bob', 4],
    ])
    expect(seatAt(tape, 4, length)!.cells).toContainEqual(expect.objectContaining({ key: 'count', value: 2 }))
    expect(tape.moments.flatMap(({ marks }) => marks).map(({ text }) => text)).toContain(
      'The members are now 1, 2, 4; nobody else is needed',
    )
  })
})
