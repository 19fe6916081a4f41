/**
 * Table 1 of the paper, measured: the communication steps until the user is answered and the messages of the
 * whole instance, to enter, to leave and for an operation, in nice runs.
 *   [16]+[11], latency-optimal   3 steps, O(N²) messages: (N-1) requests + (N-1) proposals + (N-1)²
 *                                acknowledgements
 *   [16]+[9],  message-optimal   4 steps, O(N) messages: (N-1) requests, proposals, acknowledgements and
 *              decisions
 * The coordinator's own users save the request and, in the message-optimal form, the decision. With three
 * participants the proposer and the requester already are a majority: the requester knows one step earlier
 * than the table says.
 */
import { describe, expect, it } from 'vitest'
import type { Emitted } from '../../../shared/protocols/protocol.ts'
import { countByType, exit, FORMS, type Holder, holder, issue, toldTo, wish } from './scenes.ts'
import { type Sent, Table } from './table.ts'

type Form = (typeof FORMS)[number]

interface Cost {
  readonly steps: number
  readonly messages: number
  readonly types: { [type: string]: number }
}

/** Says something, delivers step by step, and counts until the answer is there and nothing is in flight. */
function measure(table: Table, user: string, answer: Emitted['type'], say: () => void): Cost {
  const before = toldTo(table, user).length
  say()
  const sent: Sent[] = []
  let steps: number | null = toldTo(table, user).length > before ? 0 : null
  for (let step = 1; table.network.length > 0; step++) {
    sent.push(...table.deliverStep())
    if (steps === null && toldTo(table, user).length > before) steps = step
  }
  expect(toldTo(table, user).slice(before)).toEqual([answer])
  return { steps: steps!, messages: sent.length, types: countByType(sent) }
}

function measureAll(form: Form, participants: number, at: number): [string, Cost][] {
  const table = new Table({ participants, consensus: form })
  let by: Holder | undefined
  const costs: [string, Cost][] = []
  costs.push(['enter', measure(table, 'ann', 'crit', () => wish(table, at, 'ann'))])
  by = holder(table, at, 'ann')
  costs.push(['operation', measure(table, 'ann', 'outcome', () => issue(table, by!, 'op-1'))])
  costs.push(['exit', measure(table, 'ann', 'rem', () => exit(table, by!))])
  return costs
}

const sizes = [3, 4, 5, 7]

describe.each(FORMS)('%s', form => {
  it.each(sizes)('N = %i: a participant that is not the coordinator', participants => {
    const others = participants - 1
    const isLatency = form === 'latency-optimal'
    const expected: Cost = {
      steps: isLatency ? (participants === 3 ? 2 : 3) : 4,
      messages: isLatency ? others * (participants + 1) : 4 * others,
      types: isLatency
        ? { request: others, propose: others, ack: others * others }
        : { request: others, propose: others, ack: others, decision: others },
    }
    for (const [what, cost] of measureAll(form, participants, 2)) expect(cost, what).toEqual(expected)
  })

  it.each(sizes)('N = %i: the coordinator itself', participants => {
    const others = participants - 1
    const isLatency = form === 'latency-optimal'
    const expected: Cost = {
      steps: 2,
      messages: isLatency ? others * participants : 3 * others,
      types: isLatency
        ? { propose: others, ack: others * others }
        : { propose: others, ack: others, decision: others },
    }
    for (const [what, cost] of measureAll(form, participants, 1)) expect(cost, what).toEqual(expected)
  })

  it('one participant decides at once', () => {
    const [enterCost, operationCost, exitCost] = measureAll(form, 1, 1)
    for (const [, cost] of [enterCost!, operationCost!, exitCost!]) {
      expect(cost).toEqual({ steps: 0, messages: 0, types: {} })
    }
  })

  it('a lock that nobody uses has no timer set, and all have the same state', () => {
    const table = new Table({ participants: 5, consensus: form })
    measure(table, 'ann', 'crit', () => wish(table, 3, 'ann'))
    const ann = holder(table, 3, 'ann')
    measure(table, 'ann', 'outcome', () => issue(table, ann, 'op-1'))
    measure(table, 'ann', 'rem', () => exit(table, ann))
    for (let id = 1; id <= 5; id++) {
      expect(table.timers(id)).toEqual([])
      expect(table.state(id).durable.machine).toEqual(table.state(1).durable.machine)
      expect(table.view(id).cells).toEqual(table.view(1).cells)
    }
  })
})
