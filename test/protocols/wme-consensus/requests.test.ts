/**
 * The preliminary broadcast: what one participant wants decided reaches the coordinator through any other
 * one, and stays small.
 */
import { describe, expect, it } from 'vitest'
import { type Limits, MESSAGE_FORMAT } from '../../../shared/protocols/protocol.ts'
import type { Command } from '../../../shared/protocols/wme-consensus/commands.ts'
import { enter, exit, FORMS, issue, ofType, toldTo, wish } from './scenes.ts'
import { type Sent, Table } from './table.ts'

const COORDINATOR = 1

const isRequest = ofType('request')

describe.each(FORMS)('requests, %s', consensus => {
  /**
   * The coordinator hears everything from this participant but its requests, so nobody takes it for silent.
   */
  function withoutRequestsOf(participant: number, limits: Partial<Limits> = {}): Table {
    const table = new Table({ participants: 5, consensus, limits })
    table.lose(sent => isRequest(sent) && sent.from === participant && sent.to === COORDINATOR)
    return table
  }

  const commandsOf = ({ message: { body } }: Sent): readonly Command[] =>
    body.type === 'request' ? body.commands : []

  /** The requests that this participant makes of its own accord. */
  const requestsOf = (table: Table, participant: number): (readonly Command[])[] =>
    table.sent.filter(sent => isRequest(sent) && sent.from === participant).map(commandsOf)

  const participantsOf = (commands: readonly Command[]): number[] =>
    commands.map(command => (command.kind === 'eject' ? 0 : command.participant))

  it('a request that the coordinator keeps missing reaches it through others (simulator, N = 5)', () => {
    const table = withoutRequestsOf(2)
    wish(table, 2, 'ann')
    table.deliver()
    // Others come and go, again and again; nobody is overtaken more often than the paper's bound allows.
    const visits = table.participants ** 2
    for (let visit = 1; visit <= visits && toldTo(table, 'ann').length === 0; visit++) {
      const user = `user ${visit}`
      exit(table, enter(table, 3 + (visit % 3), user))
      table.deliver()
    }
    expect(toldTo(table, 'ann')).toEqual(['crit'])
  })
  it('a request says no more commands of others than one message holds, its own first', () => {
    const most = 2
    const table = new Table({ participants: 5, consensus, limits: { entriesPerMessage: most } })
    table.lose(sent => isRequest(sent) && sent.to === COORDINATOR)
    for (const participant of [2, 3, 4, 5]) {
      wish(table, participant, `user ${participant}`)
      table.deliver()
    }
    expect(requestsOf(table, 5).length).toBeGreaterThan(0)
    for (const commands of requestsOf(table, 5)) expect(participantsOf(commands)).toEqual([5, 2])
    for (const sent of table.sent) expect(commandsOf(sent).length).toBeLessThanOrEqual(most)
  })

  it('a request that one heavy command of another would make too heavy goes without it', () => {
    const letters = 1_000
    const table = withoutRequestsOf(2, { messageWeight: letters })
    const ann = enter(table, 3, 'ann')
    table.lose(sent => isRequest(sent) && sent.to === COORDINATOR)
    issue(table, ann, 'op-1', [{ put: 'n', value: 'x'.repeat(letters) }])
    table.deliver()
    const before = requestsOf(table, 4).length
    wish(table, 4, 'bob')
    table.deliver()
    const said = requestsOf(table, 4).slice(before)
    expect(said.length).toBeGreaterThan(0)
    for (const commands of said) expect(participantsOf(commands)).toEqual([4])
    // A participant's own commands are always sent, however heavy they are.
    expect(requestsOf(table, 3).some(commands => commands.some(({ kind }) => kind === 'operation'))).toBe(
      true,
    )
  })

  const request = (table: Table, from: number, to: number, commands: Command[]) =>
    table.hand({
      from,
      to,
      message: { format: MESSAGE_FORMAT, configuration: 1, body: { type: 'request', commands, decided: 0 } },
    })

  const barrier = (participant: number, number: number): Command => ({ kind: 'barrier', participant, number })

  it('a request passed on late does not replace what its requester has wanted since', () => {
    const table = new Table({ participants: 5, consensus })
    request(table, 2, 4, [barrier(2, 1)])
    request(table, 2, 4, [barrier(2, 2)])
    request(table, 3, 4, [barrier(3, 1), barrier(2, 1)])
    expect(table.state(4).soft.requested).toEqual([barrier(2, 2), barrier(3, 1)])
  })

  it('nobody takes its own command from others: it may have taken it back', () => {
    const table = new Table({ participants: 5, consensus })
    request(table, 3, 4, [barrier(3, 1), barrier(4, 1)])
    expect(table.state(4).soft.requested).toEqual([barrier(3, 1)])
  })

  it('a participant is helped to what is decided if it asks for that itself, not if it passes it on', () => {
    const table = new Table({ participants: 5, consensus })
    exit(table, enter(table, 2, 'ann'))
    table.run(1_000)
    const enterOf2: Command = { kind: 'enter', participant: 2, number: 1 }
    request(table, 3, 4, [barrier(3, 1), enterOf2])
    expect(table.network.filter(ofType('catch-up'))).toEqual([])
    request(table, 2, 4, [enterOf2])
    expect(table.network.filter(ofType('catch-up'))).toHaveLength(1)
  })
})
