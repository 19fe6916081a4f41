/** Which promises and acknowledgements count: those of a majority, in the ballot that they are for. */
import { describe, expect, it } from 'vitest'
import { ballotAbove, firstBallot } from '../../../shared/protocols/ballots.ts'
import { MESSAGE_FORMAT } from '../../../shared/protocols/protocol.ts'
import { digestAfter, EMPTY_LOG } from '../../../shared/protocols/running-digest.ts'
import type { Command } from '../../../shared/protocols/wme-consensus/commands.ts'
import type { ConsensusMessage } from '../../../shared/protocols/wme-consensus/messages.ts'
import { canonical } from '../../../shared/resource/canonical.ts'
import { ofType, REPLACEMENT_MS, toldTo, wish } from './scenes.ts'
import { Table } from './table.ts'

const FIRST = firstBallot(1)
const SECOND = ballotAbove(FIRST, 4)
const THIRD = ballotAbove(SECOND, 5)

const ENTER: Command = { kind: 'enter', participant: 4, number: 1 }

/** The digest of the log that has this one command. */
const ENTERED = digestAfter(EMPTY_LOG, canonical({ ...ENTER }))

const five = (): Table => new Table({ participants: 5 })

function say(table: Table, from: number, to: number, body: ConsensusMessage): void {
  table.hand({ from, to, message: { format: MESSAGE_FORMAT, configuration: 1, body } })
}

const sentBy = (table: Table, participant: number): ConsensusMessage[] =>
  table.take(({ from }) => from === participant).map(({ message }) => message.body)

describe('a promise', () => {
  /** Participant 2 has taken a ballot; nobody has answered yet. */
  function candidate(): { table: Table; ballot: number } {
    const table = five()
    table.crash(1)
    wish(table, 2, 'ann')
    for (let round = 0; round < 200 && table.state(2).soft.candidacy === null; round++) {
      if (table.network.length === 0) {
        const { timer, participant } = table.nextTimer()!
        table.fire(participant, timer)
      }
      table.deliver(sent => !ofType('prepare')(sent) && table.state(2).soft.candidacy === null)
      table.take(({ to }) => to === 1)
    }
    const { ballot } = table.state(2).soft.candidacy!
    table.take(() => true)
    return { table, ballot }
  }

  const isCoordinator = (table: Table): boolean => {
    const { promised, prepared } = table.state(2).durable.acceptor
    return promised === prepared
  }

  it('counts if it is one of a majority', () => {
    const { table, ballot } = candidate()
    say(table, 3, 2, { type: 'promise', ballot, decided: 0, digest: EMPTY_LOG, entries: [] })
    say(table, 3, 2, { type: 'promise', ballot, decided: 0, digest: EMPTY_LOG, entries: [] })
    expect(isCoordinator(table)).toBe(false)
    say(table, 4, 2, { type: 'promise', ballot, decided: 0, digest: EMPTY_LOG, entries: [] })
    expect(isCoordinator(table)).toBe(true)
  })

  it('to another ballot is none to this one', () => {
    const { table, ballot } = candidate()
    for (const from of [3, 4, 5])
      say(table, from, 2, { type: 'promise', ballot: FIRST, decided: 0, digest: EMPTY_LOG, entries: [] })
    expect(isCoordinator(table)).toBe(false)
    for (const from of [3, 4])
      say(table, from, 2, { type: 'promise', ballot, decided: 0, digest: EMPTY_LOG, entries: [] })
    expect(isCoordinator(table)).toBe(true)
  })

  it('is asked for anew by one that was stopped before it had those of a majority', () => {
    const { table, ballot } = candidate()
    for (const to of [3, 4, 5]) say(table, 2, to, { type: 'prepare', ballot })
    table.take(() => true)
    table.crash(2)
    table.start(2)
    // All take it for the coordinator, and it answers every ping.
    wish(table, 3, 'bob')
    table.run(REPLACEMENT_MS)
    expect(isCoordinator(table)).toBe(true)
    expect([...toldTo(table, 'ann'), ...toldTo(table, 'bob')]).toEqual(['crit'])
  })

  it('is asked for as long as somebody elsewhere waits, however often that was in vain', () => {
    const table = five()
    // Participant 2 was stopped in its prepare phase, and wants nothing itself.
    const ballot = ballotAbove(FIRST, 2)
    for (const to of [1, 3, 4, 5]) say(table, 2, to, { type: 'prepare', ballot })
    table.take(() => true)
    say(table, 3, 2, { type: 'reject', promised: ballot })
    // All take it for the coordinator, and it answers every ping.
    table.lose(ofType('prepare'))
    wish(table, 3, 'bob')
    table.run(REPLACEMENT_MS)
    expect(table.state(2).soft.candidacy).not.toBeNull()
    table.lose(() => false)
    table.run(REPLACEMENT_MS)
    expect(toldTo(table, 'bob')).toEqual(['crit'])
  })

  it('is not given to a lower ballot than one that was promised, also not after a restart', () => {
    const table = five()
    say(table, 5, 3, { type: 'prepare', ballot: THIRD })
    expect(sentBy(table, 3)).toMatchObject([{ type: 'promise', ballot: THIRD }])
    say(table, 4, 3, { type: 'prepare', ballot: SECOND })
    expect(sentBy(table, 3)).toEqual([{ type: 'reject', promised: THIRD }])
    table.crash(3)
    table.start(3)
    say(table, 4, 3, { type: 'prepare', ballot: SECOND })
    expect(sentBy(table, 3)).toEqual([{ type: 'reject', promised: THIRD }])
  })
})

describe('an acknowledgement', () => {
  const applied = (table: Table): number => table.state(5).durable.machine.applied

  const propose = (table: Table): void =>
    say(table, 4, 5, {
      type: 'propose',
      ballot: SECOND,
      previous: 0,
      digest: EMPTY_LOG,
      commands: [ENTER],
      decided: 0,
    })

  it('of an earlier ballot does not count for what is proposed in a later one', () => {
    const table = five()
    propose(table)
    for (const from of [2, 3])
      say(table, from, 5, { type: 'ack', ballot: FIRST, through: 1, digest: ENTERED })
    expect(applied(table)).toBe(0)
    say(table, 3, 5, { type: 'ack', ballot: SECOND, through: 1, digest: ENTERED })
    expect(applied(table)).toBe(1)
  })

  it('that came before the proposal counts, unless the proposal is of a later ballot', () => {
    const early = five()
    say(early, 3, 5, { type: 'ack', ballot: SECOND, through: 1, digest: ENTERED })
    expect(applied(early)).toBe(0)
    propose(early)
    expect(applied(early)).toBe(1)

    const other = five()
    for (const from of [2, 3])
      say(other, from, 5, { type: 'ack', ballot: FIRST, through: 1, digest: ENTERED })
    propose(other)
    expect(applied(other)).toBe(0)
  })
})
