/** Whoever only looks at a lock creates none, and is served by no guess (G2, G12). */
import { describe, expect, it } from 'vitest'
import { END_OPERATION } from '../../shared/birth/lock-core.ts'
import { modeOf } from '../../shared/birth/lock-state.ts'
import { configurationOf } from './scenario.ts'
import { among, both, saying, Table, to, typeOf } from './table.ts'

const wme = (participants: number, ttlMs = 30_000) => configurationOf('wme-2', participants, ttlMs, false)

function deleteAt(table: Table, id: number, ...there: number[]) {
  table.acquire(id, 'operator')
  table.deliver(among(...there))
  const fence = table.fenceOf(id, 'operator')
  expect(fence).toBeGreaterThan(0)
  table.user(id, { type: 'issue', user: 'operator', fence, opId: 'last', operation: END_OPERATION })
  table.deliver(among(...there))
  expect(table.birth(id)).toMatchObject({ generation: 2, chosen: null, accepted: null })
}

/** At participant 3, after the lock was deleted. */
function lookInVain(table: Table) {
  table.look(3)
  table.deliver()
  expect(table.birth(3)).toMatchObject({ generation: 2, chosen: null, accepted: null })
  if (table.seats[3]!.timers.has('birth/propose')) table.fire(3, 'birth/propose')
  table.deliver()
  for (const id of [1, 3]) expect(table.birth(id).chosen).toBeNull()
}

describe('a deleted lock is not born again by a look', () => {
  it('if the deletion overtakes the look', () => {
    const table = Table.founded({ first: 3, defaults: () => wme(3) })
    table.stop(3)
    table.configure(1, 'put', wme(3, 5_000))
    table.deliver(among(1, 2))
    table.letters = []
    table.start(3)
    // `Looking.find` has said: it exists. Then it is deleted, before this participant asks what it is.
    deleteAt(table, 1, 1, 2)
    table.letters = []
    lookInVain(table)
  })

  it('at a registrar that has accepted, heard nothing more, and missed the end', () => {
    const table = Table.founded({ first: 1, defaults: () => wme(3) })
    table.configure(1, 'put', wme(3, 5_000))
    table.deliver(letter => !(typeOf(letter) === 'chosen' && letter.to === 3))
    expect(table.birth(3)).toMatchObject({ chosen: null })
    expect(table.birth(3).accepted?.ballot).toBeGreaterThan(0)
    table.stop(3)
    table.letters = []
    deleteAt(table, 1, 1, 2)
    table.letters = []
    table.start(3)
    lookInVain(table)
  })

  it('regression: at a registrar that was asked what the lock is, and hears that it is deleted', () => {
    const table = Table.founded({ registrars: 5, first: 4, defaults: () => wme(5) })
    table.configure(1, 'put', wme(5, 5_000))
    table.deliver(letter => !(typeOf(letter) === 'chosen' && letter.to > 3))
    expect(table.birth(4)).toMatchObject({ chosen: null })
    expect(table.birth(4).accepted?.ballot).toBeGreaterThan(0)
    table.look(5)
    table.deliver(both(to(4), saying('wake')))
    table.letters = []
    deleteAt(table, 1, 1, 2, 3)
    table.letters = []
    table.fire(1, 'birth/tell')
    table.deliver(both(to(4, 5), saying('ended')))
    expect(table.birth(4)).toMatchObject({ generation: 2, chosen: null, accepted: null })
    expect(modeOf(table.birth(4))).toBe('none')
    expect(table.letters.filter(saying('prepare', 'wake', 'begun'))).toEqual([])
  })
})

it('a look at a participant that is no registrar does not make the first owner begin', () => {
  // Three registrars, five processes; F = 3 is away when the lock of five is born.
  const table = Table.founded({ registrars: 3, processes: 5, first: 3, defaults: () => wme(3) })
  table.stop(3)
  table.stop(4)
  table.configure(1, 'put', wme(5, 5_000))
  table.deliver(among(1, 2, 5))
  expect(table.birth(1).chosen).not.toBeNull()
  table.letters = []
  table.start(3)
  table.start(4)
  table.look(4)
  // The answers of those that know are late.
  table.letters = []
  table.fire(4, 'birth/propose')
  table.deliver(both(to(3), saying('wake')))
  expect(modeOf(table.birth(3))).toBe('none')
  expect(table.birth(3).accepted).toBeNull()
})

it('a look that comes while a try waits for the ledger is not served by a core that only guesses', () => {
  const five = (ttlMs: number) => configurationOf('wme-2', 5, ttlMs, true)
  const table = Table.founded({ registrars: 5, hasLedger: true, first: 5, defaults: () => five(30_000) })
  table.stop(4)
  table.stop(5)
  table.configure(1, 'put', five(5_000))
  table.deliver(among(1, 2, 3))
  expect(table.birth(1).chosen).not.toBeNull()
  table.letters = []
  table.start(4)
  table.letters = []
  table.use(4, true)
  table.look(4)
  table.deliverLedgerCalls()
  expect(modeOf(table.birth(4))).toBe('tentative')
  expect(table.events(4, 'ready')).toEqual([{ type: 'ready', isTentative: true }])
  table.fire(4, 'birth/propose')
  table.deliver()
  table.deliverLedgerCalls()
  expect(table.events(4, 'ready')).toEqual([{ type: 'ready', isTentative: true }, { type: 'ready' }])
})
