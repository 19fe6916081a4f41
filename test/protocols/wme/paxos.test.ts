/**
 * Paxos: at most one value is ever chosen, whatever the network and the crashes do, and one is chosen when
 * messages flow (A13).
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EpochRecord } from '../../../shared/protocols/wme/state.ts'
import { Cluster } from './cluster.ts'
import { ofType } from './matchers.ts'
import { PaxosTable } from './paxos-table.ts'
import { enter, epochOf, issue, protocols, suspectOwner } from './scenes.ts'

type Action =
  | { readonly type: 'propose' | 'restart'; readonly who: number }
  | { readonly type: 'deliver' | 'double' | 'lose'; readonly which: number }

/** Fixed, so that every run of the suite is the same; looking for new cases is the simulator's task. */
const SEED = 20_090

const who = fc.nat(4)
const which = fc.nat(1_000)

const actions = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: fc.record({ type: fc.constant<'deliver'>('deliver'), which }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant<'double'>('double'), which }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant<'lose'>('lose'), which }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant<'propose'>('propose'), who }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant<'restart'>('restart'), who }) },
  ),
  { minLength: 20, maxLength: 150, size: 'max' },
)

function act(table: PaxosTable, action: Action): void {
  switch (action.type) {
    case 'propose':
      return table.propose((action.who % table.participants) + 1)
    case 'restart':
      return table.restart((action.who % table.participants) + 1)
    case 'lose':
      return table.lose(action.which)
    default:
      return table.deliver(action.which, action.type === 'double')
  }
}

describe('Paxos', () => {
  it.each([3, 4, 5])(
    'A13 %i participants: at most one value is chosen, and every decider has that one',
    n => {
      let decisions = 0
      fc.assert(
        fc.property(actions, run => {
          const table = new PaxosTable(n)
          for (const action of run) {
            act(table, action)
            expect(table.chosen().length).toBeLessThanOrEqual(1)
          }
          const [chosen] = table.chosen()
          for (const decision of table.decided) expect(decision).toEqual(chosen)
          decisions += table.decided.length
        }),
        { numRuns: 200, seed: SEED },
      )
      // The property is worth something only if the runs come to a decision.
      expect(decisions).toBeGreaterThan(50)
    },
  )

  it('progress: after anything that happened, one proposer whose messages flow decides', () => {
    fc.assert(
      fc.property(actions, fc.integer({ min: 1, max: 5 }), (run, proposer) => {
        const table = new PaxosTable(5)
        for (const action of run) act(table, action)
        const before = table.decided.length
        // A first ballot may be refused, and the refusal says how high the next one must be.
        for (let attempt = 0; attempt < 2 && table.decided.length === before; attempt++) {
          table.network = []
          table.propose(proposer)
          while (table.network.length > 0) table.deliver(0, false)
        }
        expect(table.decided.length).toBeGreaterThan(before)
      }),
      { numRuns: 100, seed: SEED },
    )
  })

  it('two acceptors of three are enough, one is not', () => {
    const table = new PaxosTable(3)
    table.propose(1)
    for (let i = 0; i < 10; i++) {
      table.network = table.network.filter(packet => packet.to !== 3)
      if (table.network.length > 0) table.deliver(0, false)
    }
    expect(table.decided).toHaveLength(1)
    const alone = new PaxosTable(3)
    alone.propose(1)
    alone.network = []
    expect(alone.decided).toEqual([])
  })

  it('alone, one decides at once', () => {
    const table = new PaxosTable(1)
    table.propose(1)
    expect(table.decided).toHaveLength(1)
  })
})

describe.each(protocols)('the decision of an epoch %s', (_name, protocol) => {
  const step = fc.record({
    action: fc.constantFrom('deliver', 'deliver', 'deliver', 'deliver', 'double', 'lose', 'fire', 'crash'),
    which: fc.nat(1_000),
  })
  const schedules = fc.array(step, { minLength: 20, maxLength: 120, size: 'max' })

  /** Five participants whose logs differ, one of which has sealed. */
  function aboutToEnd(): Cluster {
    const cluster = new Cluster(protocol, { participants: 5 })
    const by = enter(cluster, 1, 'a', { ttlMs: 600_000 })
    issue(cluster, by, 'x')
    cluster.deliver(sent => sent.message.body.type === 'invoke' && sent.to === 5)
    cluster.take(() => true)
    for (const id of [3, 4, 2]) cluster.try(id, `user ${id}`)
    cluster.take(ofType('request'))
    suspectOwner(cluster, 2, [3, 4])
    return cluster
  }

  const outcomeOf = (record: EpochRecord) => JSON.stringify([record.owner, record.start])

  it('A13 is the same for all that ever entered the next one, and is entered by all in the end', () => {
    fc.assert(
      fc.property(schedules, schedule => {
        const cluster = aboutToEnd()
        const outcomes = new Set<string>()
        const note = () => {
          for (let id = 1; id <= 5; id++) {
            const record = cluster.storage(id).get('epoch') as unknown as EpochRecord
            if (record.epoch === 1) outcomes.add(outcomeOf({ ...record, sealed: false }))
          }
          if (outcomes.size > 1) throw new Error('two decisions')
        }
        for (const { action, which } of schedule) {
          const sent = cluster.network[which % Math.max(1, cluster.network.length)]
          const participant = (which % 5) + 1
          if (action === 'fire') {
            const timer = ['repeat', 'propose'].find(name => cluster.hasTimer(participant, name))
            if (timer !== undefined) cluster.fire(participant, timer)
          } else if (action === 'crash') {
            cluster.crash(participant)
            cluster.start(participant)
          } else if (sent !== undefined) {
            if (action !== 'double') cluster.take(other => other === sent)
            if (action !== 'lose') cluster.hand(sent)
          }
          note()
        }
        for (let i = 0; i < 20; i++) {
          cluster.run(5_000)
          note()
        }
        for (let id = 1; id <= 5; id++) expect(epochOf(cluster, id)).toBeGreaterThanOrEqual(1)
      }),
      { numRuns: 40, seed: SEED },
    )
  })
})
