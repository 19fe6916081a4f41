/**
 * A log that is older than digests stays without. Each participant computes digests for itself, and from such
 * a log each would compute other ones.
 */
import { describe, expect, it } from 'vitest'
import { EMPTY_LOG, UNDIGESTED } from '../../../shared/protocols/running-digest.ts'
import type { Machine } from '../../../shared/protocols/wme-consensus/state.ts'
import { enter, exit, FORMS, issue, valueAt } from './scenes.ts'
import { Table } from './table.ts'

/** All stop, and their storage becomes that of a version without digests. */
function forgetDigests(table: Table): void {
  for (const id of table.everybody) {
    table.crash(id)
    const storage = table.storage(id)
    for (const [key, value] of storage) {
      const applied = key === 'machine' ? (value as unknown as Machine).applied : 1
      if (key === 'machine' || key.startsWith('log/'))
        storage.set(key, { ...(value as object), digest: applied === 0 ? EMPTY_LOG : UNDIGESTED })
    }
  }
  table.take(() => true)
  for (const id of table.everybody) table.start(id)
}

describe.each(FORMS)('%s: a log that is older than digests', consensus => {
  const between =
    (...ids: number[]) =>
    (sent: { from: number; to: number }) =>
      ids.includes(sent.from) && ids.includes(sent.to)

  it('stops nobody, whatever part of it each participant has', () => {
    const table = new Table({ participants: 3, consensus })
    table.isolate(3)
    const by = enter(table, 1, 'a')
    for (const opId of ['x', 'y']) {
      issue(table, by, opId)
      table.deliver(between(1, 2))
    }
    exit(table, by)
    table.deliver(between(1, 2))
    forgetDigests(table)
    table.reconnect(3)
    const next = enter(table, 2, 'b')
    issue(table, next, 'z')
    table.run(6_000)
    issue(table, next, 'last')
    table.run(6_000)
    expect([1, 2, 3].map(id => valueAt(table, id))).toEqual([4, 4, 4])
    expect(table.state(1).durable.machine.digest).toBe(UNDIGESTED)
  })

  it('and again when some had accepted what others had decided', () => {
    const table = new Table({ participants: 3, consensus })
    const by = enter(table, 1, 'a')
    issue(table, by, 'x')
    table.run(2_000)
    issue(table, by, 'y')
    // The third accepts, and hears of no decision.
    table.isolate(3)
    table.deliver(between(1, 2))
    forgetDigests(table)
    table.reconnect(3)
    issue(table, by, 'z')
    table.run(8_000)
    expect([1, 2, 3].map(id => valueAt(table, id))).toEqual([3, 3, 3])
  })
})
