/**
 * What is a reason to find a participant silent, and to agree that it is: never anything that is out of date.
 */
import { expect, it } from 'vitest'
import { MESSAGE_FORMAT } from '../../../shared/protocols/protocol.ts'
import type { ConsensusMessage } from '../../../shared/protocols/wme-consensus/messages.ts'
import { enter, exit, holder, ofType, REPLACEMENT_MS, toldTo, wish } from './scenes.ts'
import { Table } from './table.ts'

function say(table: Table, from: number, to: number, body: ConsensusMessage): void {
  table.hand({ from, to, message: { format: MESSAGE_FORMAT, configuration: 1, body } })
}

const position = (table: Table, participant: number): { ballot: number; decided: number } => {
  const { acceptor, machine } = table.state(participant).durable
  return { ballot: acceptor.promised, decided: machine.applied }
}

it('a suspicion of an earlier watch is no reason to ask the others in this one', () => {
  const table = new Table({ participants: 5 })
  enter(table, 4, 'ann')
  table.isolate(4)
  wish(table, 2, 'bob')
  table.run(REPLACEMENT_MS)
  expect(toldTo(table, 'ann')).toEqual(['crit'])
  table.reconnect(4)
  table.run(20)
  exit(table, holder(table, 2, 'bob'))
  table.deliver()
  expect(table.view(2).suspects).toEqual([4])
  enter(table, 4, 'dan')
  wish(table, 2, 'eve')
  table.deliver()
  table.fire(2, 'heartbeat')
  const sent = table.take(({ from, to }) => from === 2 && to === 4)
  expect(sent.map(({ message }) => message.body.type)).toEqual(['ping'])
  expect(table.network.filter(ofType('inquiry'))).toEqual([])
})

it('a participant that knows more than the asker does not agree: they may mean different holders', () => {
  const table = new Table({ participants: 5 })
  exit(table, enter(table, 2, 'ann'))
  table.deliver()
  wish(table, 3, 'bob')
  table.take(() => true)
  table.unreachable(3, 1)
  table.take(() => true)
  const own = position(table, 3)
  const ask = (asked: { ballot: number; decided: number }): string[] => {
    say(table, 2, 3, { type: 'inquiry', about: 1, round: '1.1', ...asked })
    return table.take(({ to }) => to === 2).map(({ message }) => message.body.type)
  }
  expect(ask({ ...own, decided: own.decided - 1 })).toEqual(['alive'])
  expect(ask({ ...own, ballot: own.ballot - 1 })).toEqual(['alive'])
  expect(ask(own)).toEqual(['inquiry-reply'])
})

it('one that sends but does not answer is silent', () => {
  const table = new Table({ participants: 3 })
  wish(table, 3, 'ann')
  for (let beat = 0; beat < 50 && table.view(3).suspects.length === 0; beat++) {
    table.take(() => true)
    say(table, 1, 3, { type: 'ping', ...position(table, 1) })
    table.fire(3, 'heartbeat')
  }
  expect(table.view(3).suspects).toEqual([1])
})

/**
 * Each question makes the asked ping the silent peer. If each failed ping made them ask all others again, the
 * messages would multiply as fast as the network carries them (seven participants, seed 1000890).
 */
it('one that is known to be unreachable is asked about at each heartbeat, not at each failed message', () => {
  const table = new Table({ participants: 5 })
  wish(table, 3, 'ann')
  table.take(() => true)
  const inquiries = (): number => table.take(() => true).filter(ofType('inquiry')).length
  table.unreachable(3, 1)
  expect(inquiries()).toBe(3)
  table.unreachable(3, 1)
  expect(inquiries()).toBe(0)
  table.fire(3, 'heartbeat')
  expect(inquiries()).toBe(3)
})
