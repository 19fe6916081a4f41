/** The log: its running digest notices that two of them differ, and its weight is bounded. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../shared/json.ts'
import { ballotAbove, firstBallot } from '../../../shared/protocols/ballots.ts'
import { heaviestLog } from '../../../shared/protocols/log-weight.ts'
import { digestAfter, EMPTY_LOG } from '../../../shared/protocols/running-digest.ts'
import { ProtocolDefect } from '../../../shared/protocols/step.ts'
import type { Command } from '../../../shared/protocols/wme-consensus/commands.ts'
import { weightOf } from '../../../shared/protocols/wme-consensus/log.ts'
import type { Machine } from '../../../shared/protocols/wme-consensus/state.ts'
import { canonical } from '../../../shared/resource/canonical.ts'
import {
  enter,
  eventsOf,
  exit,
  FORMS,
  issue,
  ofType,
  REPLACEMENT_MS,
  toldTo,
  valueAt,
  wish,
} from './scenes.ts'
import { Table } from './table.ts'

const heavy = (letters: number): Json => [{ put: 'n', value: 'x'.repeat(letters) }]

describe.each(FORMS)('the log, %s', consensus => {
  /** The participant restarts, and its storage gives back other decided commands than it was given. */
  function corrupt(table: Table, participant: number): void {
    const storage = table.storage(participant)
    const machine = storage.get('machine') as unknown as Machine
    storage.set('machine', { ...machine, digest: 'another' } as unknown as Json)
    storage.delete(`log/${machine.applied}`)
    for (const key of storage.keys()) if (key.startsWith('log/')) storage.delete(key)
    table.crash(participant)
    table.start(participant)
  }

  it('a proposal that follows another log stops its receiver before it acknowledges', () => {
    const table = new Table({ participants: 3, consensus, recoverEvery: 0 })
    exit(table, enter(table, 1, 'ann'))
    table.run(1_000)
    corrupt(table, 2)
    wish(table, 1, 'bob')
    table.take(({ from, to }) => from === 2 || to === 3)
    expect(() => table.deliver(({ to }) => to === 2)).toThrow(ProtocolDefect)
    expect(table.network.filter(ofType('ack'))).toEqual([])
  })

  it('an acknowledgement of another log stops the coordinator before it decides', () => {
    const table = new Table({ participants: 3, consensus })
    table.isolate(3)
    const by = enter(table, 1, 'ann')
    issue(table, by, 'x')
    table.deliver(ofType('propose'))
    const [sent] = table.take(found => ofType('ack')(found) && found.to === 1)
    const { body } = sent!.message
    if (body.type !== 'ack') throw new Error('not an acknowledgement')
    const changed = { ...sent!, message: { ...sent!.message, body: { ...body, digest: 'another' } } }
    expect(() => table.hand(changed)).toThrow(ProtocolDefect)
    expect(toldTo(table, 'ann')).toEqual(['crit'])
  })

  it('an acknowledgement in an old ballot, since overruled, stops nobody (seed 7145, N = 5)', () => {
    const table = new Table({ participants: 5, consensus })
    enter(table, 2, 'ann')
    table.run(1_000)
    const { applied } = table.state(1).durable.machine
    // Only participant 3 accepts what the coordinator proposes, and its acknowledgement comes late.
    table.user(1, { type: 'read', request: 'r1' })
    table.deliver(sent => ofType('propose')(sent) && sent.to === 3)
    const [late] = table.take(sent => ofType('ack')(sent) && sent.to === 1)
    table.take(() => true)
    table.isolate(1, 3)
    wish(table, 5, 'bob')
    table.run(REPLACEMENT_MS)
    expect(table.state(5).durable.machine.applied).toBeGreaterThan(applied)
    // The old coordinator learns what is decided, but has heard no acknowledgement in the new ballot.
    table.reconnect(1)
    const { acceptor, machine } = table.state(5).durable
    const body = { type: 'alive', ballot: acceptor.promised, decided: machine.applied } as const
    table.hand({ ...late!, from: 5, message: { ...late!.message, body } })
    table.deliver(({ from, to, message }) => from + to === 6 && message.body.type.startsWith('catch-up'))
    expect(table.state(1).durable.machine).toEqual(machine)
    table.hand(late!)
    expect(table.state(1).durable.machine).toEqual(machine)
  })

  it('a promise from another log stops the candidate', () => {
    const table = new Table({ participants: 3, consensus, recoverEvery: 0 })
    exit(table, enter(table, 1, 'ann'))
    table.run(1_000)
    corrupt(table, 3)
    table.crash(1)
    wish(table, 2, 'bob')
    table.lose(({ message: { body } }) => body.type === 'propose')
    expect(() => table.run(REPLACEMENT_MS)).toThrow(ProtocolDefect)
    expect(toldTo(table, 'bob')).toEqual([])
  })

  it('what was accepted before the place in front of it was replaced follows the new command', () => {
    const table = new Table({ participants: 5, consensus })
    const enters = (participant: number) => ({ kind: 'enter', participant, number: 1 }) as const
    const [old, first, second] = [3, 4, 5].map(enters)
    const ballot = ballotAbove(firstBallot(1), 4)
    const propose = (by: number, previous: number, commands: Command[], inBallot: number) => {
      const digest = previous === 0 ? EMPTY_LOG : null
      const body = { type: 'propose', ballot: inBallot, previous, digest, commands, decided: 0 } as const
      table.hand({ from: by, to: 5, message: { format: 1, configuration: 1, body } })
    }
    propose(1, 0, [old!], firstBallot(1))
    propose(4, 1, [second!], ballot)
    propose(4, 0, [first!], ballot)
    const digest = [first!, second!].reduce((before, each) => digestAfter(before, canonical(each)), EMPTY_LOG)
    expect(table.network.map(({ message }) => message.body).at(-1)).toEqual({
      type: 'ack',
      ballot,
      through: 2,
      digest,
    })
  })

  it('what was accepted in an older ballot follows the commands of the newer one', () => {
    const table = new Table({ participants: 5, consensus })
    for (const name of ['ann', 'bob']) wish(table, 1, name)
    table.user(1, { type: 'read', request: 'r' })
    // Participant 5 alone has the end of the old coordinator's log.
    table.deliver(sent => ofType('propose')(sent) && sent.to === 5)
    table.crash(1)
    table.isolate(5)
    wish(table, 2, 'carl')
    table.run(REPLACEMENT_MS)
    table.reconnect(5)
    table.start(1)
    table.run(REPLACEMENT_MS)
    const digests = [2, 3, 4, 5].map(id => table.state(id).durable.machine.digest)
    expect(new Set(digests).size).toBe(1)
    expect(toldTo(table, 'carl')).toEqual(['crit'])
  })

  it('is bounded by weight, in memory and in storage', () => {
    const logWeight = 10_000
    const table = new Table({ participants: 3, consensus, limits: { logWeight } })
    const by = enter(table, 1, 'ann')
    for (let i = 1; i <= 60; i++) {
      issue(table, by, `op ${i}`, heavy(1_000))
      table.deliver()
      for (const id of [1, 2, 3]) {
        const { durable, soft } = table.state(id)
        const weight = durable.log.reduce((total, entry) => total + weightOf(entry), 0)
        expect(soft.logWeight).toBe(weight)
        expect(weight - weightOf(durable.log.at(-1)!)).toBeLessThanOrEqual(heaviestLog(logWeight))
      }
    }
    const stored = [...table.storage(2).keys()].filter(key => key.startsWith('log/'))
    expect(stored).toHaveLength(table.state(2).durable.log.length)
  })

  it('a heavy command waits until the open ones are decided, and alone it always fits', () => {
    const table = new Table({ participants: 5, consensus, limits: { messageWeight: 1_500 } })
    table.lose(({ from, to }) => from === 1 || to === 1)
    const commandOf = (participant: number) =>
      ({ kind: 'operation', participant, number: 1, fence: 1, opId: `op ${participant}` }) as const
    const operation = heavy(1_000)
    for (const from of [2, 3, 4]) {
      const command = { ...commandOf(from), operation, weight: 1_020 }
      const body = { type: 'request', commands: [command], decided: 0 } as const
      table.hand({ from, to: 1, message: { format: 1, configuration: 1, body } })
    }
    expect(table.view(1).sequence).toBe(1)
    table.lose(() => false)
    table.run(2_000)
    expect(table.view(1).committed).toBe(3)
  })

  it('a gap is filled with messages that are bounded by weight', () => {
    const messageWeight = 3_000
    const table = new Table({ participants: 3, consensus, limits: { messageWeight } })
    const by = enter(table, 1, 'ann')
    table.isolate(3)
    for (let i = 1; i <= 9; i++) {
      issue(table, by, `op ${i}`, heavy(1_000))
      table.deliver()
    }
    table.reconnect(3)
    const before = table.sent.length
    issue(table, by, 'last', heavy(20_000))
    table.run(1_000)
    const pieces = table.sent
      .slice(before)
      .flatMap(({ message: { body } }) =>
        body.type === 'catch-up' || body.type === 'propose' ? [body.commands] : [],
      )
    for (const commands of pieces) {
      const weight = commands.reduce((total, command) => total + weightOf({ command }), 0)
      expect(commands.length <= 1 || weight <= messageWeight).toBe(true)
    }
    expect(valueAt(table, 3)).toBe('x'.repeat(20_000))
    expect(eventsOf(table, 3, 'restored')).toEqual([])
  })
})
