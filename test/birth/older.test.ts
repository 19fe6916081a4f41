/** Locks that were born before there were ledgers, and before their birth was agreed on. */
import { describe, expect, it } from 'vitest'
import { BIRTH, blankBirth } from '../../shared/birth/lock-state.ts'
import type { BirthRecord } from '../../shared/birth/lock-types.ts'
import { digestOf, type LockValue } from '../../shared/birth/value.ts'
import type { Json } from '../../shared/json.ts'
import { configurationOf } from './scenario.ts'
import { saying, Table } from './table.ts'

const configuration = { ...configurationOf('wme-2', 3, 7_000, true), firstOwner: 2 }
const OLDER: LockValue = { configuration, startEpoch: 0, isOlder: true }

const LEDGERS = {
  registrars: 3,
  first: 1,
  hasLedger: true,
  defaults: () => configurationOf('wme-2', 3, 30_000, true),
}

/** As worker/participant/core/before-births.ts leaves it. */
function makeOlder(table: Table, id: number, changes: Partial<BirthRecord> = {}): void {
  const birth: BirthRecord = { ...blankBirth(1, 0), chosen: OLDER, core: OLDER, ...changes }
  table.seats[id]!.storage.set(BIRTH, birth as unknown as Json)
  if (birth.core !== null) table.seats[id]!.storage.set('membership', { status: 'member' })
}

const birthAt = (table: Table, id: number) => table.seats[id]!.storage.get(BIRTH) as unknown as BirthRecord
const membershipAt = (table: Table, id: number) => table.seats[id]!.storage.get('membership')

/** The participants that the others have taken back, as the first one knows. */
function takenBack(table: Table): number[] {
  const epoch = table.seats[1]!.storage.get('epoch') as { incarnations: object } | undefined
  return Object.keys(epoch?.incarnations ?? {}).map(Number)
}

function older(options: ConstructorParameters<typeof Table>[0], ids: readonly number[]): Table {
  const table = new Table(options)
  for (const id of ids) makeOlder(table, id)
  for (const id of table.ids) table.start(id)
  return table
}

describe('a core from before there were ledgers', () => {
  it('is silent until its ledger has listed the lock, and then goes on', () => {
    const table = older(LEDGERS, [1, 2, 3])
    for (const id of table.ids) table.deafLedgers.add(id)
    table.settle(3)
    table.acquire(2, 'a')
    table.settle(2)
    expect(table.events(2, 'crit')).toEqual([])
    expect(table.letters.filter(saying('request', 'invoke', 'invoke-ack'))).toEqual([])
    table.deafLedgers.clear()
    table.fire(2, 'birth/ledger')
    table.deliverLedgerCalls()
    expect(birthAt(table, 2)).toMatchObject({ standing: { status: 'entitled' }, core: OLDER })
    expect(table.seats[2]!.ledgerState!.entries.get(table.name)).toMatchObject({ voted: 1 })
    table.acquire(2, 'b')
    expect(table.events(2, 'crit')).toHaveLength(1)
  })

  it('is dropped, and taken back, if the ledger says that it was lost', () => {
    const table = older(LEDGERS, [1, 2, 3])
    table.settle(3)
    for (const id of [1, 2]) table.use(id)
    table.settle(2)
    table.wipe(3)
    table.start(3)
    table.settle(3)
    // A copy of its storage is put back, from before it was listed.
    table.stop(3)
    makeOlder(table, 3)
    table.start(3)
    table.deliverLedgerCalls()
    expect(membershipAt(table, 3)).toMatchObject({ status: 'joining' })
    table.settle(3)
    table.use(3)
    table.settle(3)
    expect(birthAt(table, 3).standing.status).toBe('lost')
    expect(membershipAt(table, 3)).toEqual({ status: 'member' })
    expect(takenBack(table)).toEqual([3])
  })
})

describe('a participant that has nothing of an older lock', () => {
  it('is taken back where storage can be lost, because nobody knows whether it has voted', () => {
    const table = older(LEDGERS, [1, 2])
    table.settle(3)
    table.use(3)
    table.settle(3)
    expect(birthAt(table, 3)).toMatchObject({ chosen: OLDER, standing: { status: 'entitled' } })
    expect(membershipAt(table, 3)).toEqual({ status: 'member' })
    expect(takenBack(table)).toEqual([3])
  })

  it('takes part from the start where storage cannot be lost', () => {
    const table = older({ registrars: 3, first: 1 }, [1, 2])
    table.settle(3)
    table.use(3)
    table.settle(3)
    expect(birthAt(table, 3).chosen).toEqual(OLDER)
    expect(membershipAt(table, 3)).toEqual({ status: 'member' })
    expect(takenBack(table)).toEqual([])
  })
})

describe('a vote from then', () => {
  it('counts: whoever asks finds what a majority accepted', () => {
    const table = new Table({ registrars: 3, first: 1 })
    for (const id of [2, 3]) {
      const accepted = { ballot: 258, value: OLDER }
      makeOlder(table, id, { chosen: null, core: null, promised: 258, ballot: 258, accepted })
    }
    for (const id of table.ids) table.start(id)
    table.use(1)
    table.settle(4)
    for (const id of table.ids) table.use(id)
    table.settle(4)
    const digests = table.ids.map(id => digestOf(birthAt(table, id).chosen!))
    expect(digests).toEqual(Array(3).fill(digestOf(OLDER)))
  })
})
