/** A proposer that has lost its storage knows nothing of the ballots that it has used (G8). */
import { describe, expect, it } from 'vitest'
import { configurationOf } from './scenario.ts'
import { among, both, saying, Table } from './table.ts'

const apart = (ttlMs = 30_000) => configurationOf('wme-2', 3, ttlMs, true)

describe('a promise to an earlier life of its proposer', () => {
  it.each([
    [
      'whose process has lost its storage',
      (table: Table) => {
        table.wipe(2)
        table.start(2)
        table.deliver(letter => letter.kind === 'ledger')
      },
    ],
    ['that alone has lost its storage', (table: Table) => table.wipeParticipant(2)],
  ])('G8 does not count for the next one, %s', (_, lose) => {
    const table = Table.founded({ first: 1, hasLedger: true, defaults: () => apart() })
    table.configure(2, 'one', apart(5_000))
    table.deliver(both(among(2, 3), saying('prepare')))
    const [promise] = table.letters.filter(saying('promise'))
    table.deliver(both(among(2, 3), saying('promise', 'accept', 'accepted')))
    expect(table.events(2, 'configured')).toMatchObject([{ request: 'one', created: true }])
    table.acquire(2, 'a')
    const fence = table.fenceOf(2, 'a')
    expect(fence).toBeGreaterThan(0)
    // All else that it has said is lost, and then its storage.
    table.take()
    lose(table)
    table.configure(2, 'two', apart(6_000))
    table.deliver(both(among(1, 2), saying('prepare', 'promise')))
    // The promise of before arrives once more, and the question of now is late.
    table.hand(promise!)
    table.deliver(saying('accept', 'accepted'))
    expect(table.events(2, 'configured')).toHaveLength(1)
    table.settle(8)
    expect(table.birth(3).chosen?.configuration.ttlMs).toBe(5_000)
    expect(table.chosen()).toHaveLength(1)
    table.acquire(1, 'b')
    table.settle(3)
    expect(table.fenceOf(1, 'b')).toBeGreaterThan(fence)
  })
})
