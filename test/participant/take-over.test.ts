/**
 * A participant brings the storage of commit d204fbb up to date by itself. Whatever each of them holds, all
 * agree on what the lock is; and an instance that ends in the middle has changed nothing.
 */
import { describe, expect, it } from 'vitest'
import { BIRTH } from '../../shared/birth/lock-state.ts'
import type { BirthRecord } from '../../shared/birth/lock-types.ts'
import { digestOf } from '../../shared/birth/value.ts'
import type { Json } from '../../shared/json.ts'
import { UNDIGESTED } from '../../shared/protocols/running-digest.ts'
import { isBeforeBirths, withBirth } from '../../worker/participant/core/before-births.ts'
import { Storage, storedRecords } from '../../worker/participant/core/storage.ts'
import { LEDGER_NAME } from '../../worker/participant/ledger/name.ts'
import { type Deployment, readFixture, recordsOf, type StoredObject } from '../upgrade/fixture.ts'
import { MemoryRows } from './memory-rows.ts'

const LIMITS = { eventsKept: 100 }
const fixture = readFixture()
const deployments = Object.entries(fixture) as [keyof typeof fixture, Deployment][]

function rowsOf(object: StoredObject, deployment: Deployment): MemoryRows {
  const rows = new MemoryRows()
  rows.tables.records = recordsOf(object, deployment)
  rows.tables.events = object.events.map(([, sequence, body]) => ({ sequence, body }))
  return rows
}

const parsed = (records: Iterable<readonly [string, string]>) =>
  new Map(Array.from(records, ([key, text]) => [key, JSON.parse(text) as Json]))

const birthIn = (rows: MemoryRows): BirthRecord =>
  parsed(storedRecords(rows)).get(BIRTH) as unknown as BirthRecord

const identityOf = (object: StoredObject) =>
  JSON.parse(new Map(object.records).get('.identity')!) as { lock: string; id: number }

describe.each(deployments)('%s', (_, deployment) => {
  it.each(Object.keys(deployment.told))('%s: all participants agree on what the lock is', lock => {
    const objects = deployment.objects.filter(object => identityOf(object).lock === lock)
    expect(objects.map(object => identityOf(object).id)).toHaveLength(3)
    const values = objects.map(object => {
      const rows = rowsOf(object, deployment)
      new Storage(rows, LIMITS)
      const { chosen, accepted, core, generation } = birthIn(rows)
      expect(generation).toBe(1)
      const isMember = new Map(object.records).has('membership')
      expect(core === null).toBe(!isMember)
      return chosen ?? accepted!.value
    })
    expect(new Set(values.map(value => digestOf(value))).size).toBe(1)
    const { configuration, startEpoch, isOlder } = values[0]!
    const { protocol, participants } = deployment.told[lock]!
    expect([configuration.protocol, configuration.participants.length]).toEqual([protocol, participants])
    expect([startEpoch, isOlder]).toEqual([0, true])
  })

  it('whatever was stored is there afterwards, and what is added says nothing that is not known', () => {
    for (const object of deployment.objects) {
      const rows = rowsOf(object, deployment)
      new Storage(rows, LIMITS)
      const after = parsed(storedRecords(rows))
      for (const [key, text] of object.records) {
        if (key === '.configuration' || key === '.registrar') continue
        expect(after.get(key)).toMatchObject(JSON.parse(text) as object)
        if (key.startsWith('log/')) expect(after.get(key)).toMatchObject({ digest: UNDIGESTED })
      }
    }
  })

  it('an instance that ends after any statement has changed nothing', () => {
    for (const object of deployment.objects) {
      for (let statement = 0; ; statement++) {
        const rows = rowsOf(object, deployment)
        const before = structuredClone(rows.tables)
        let left = statement
        rows.beforeWrite = () => {
          if (left-- <= 0) throw new Error('the instance ends')
        }
        try {
          new Storage(rows, LIMITS)
        } catch {
          expect(structuredClone(rows.tables)).toEqual(before)
          continue
        }
        expect(statement).toBeGreaterThan(2)
        // The next instance finds the present layout, and the same.
        const once = structuredClone(rows.tables)
        rows.beforeWrite = () => {}
        new Storage(rows, LIMITS)
        expect(structuredClone(rows.tables)).toEqual(once)
        break
      }
    }
  })
})

describe('a participant of then', () => {
  const stored = (records: { readonly [key: string]: Json }): MemoryRows => {
    const rows = new MemoryRows()
    rows.tables.records = new Map(
      Object.entries(records).map(([key, value]) => [key, JSON.stringify(value)] as const),
    )
    return rows
  }

  it('that was only asked something does not begin its lock alone', () => {
    const rows = stored({ '.identity': { lock: 'a', id: 1 } })
    new Storage(rows, LIMITS)
    expect(birthIn(rows)).toMatchObject({ promised: 1, accepted: null, chosen: null, core: null })
  })

  it('was no ledger', () => {
    const rows = stored({ '.identity': { lock: LEDGER_NAME, id: 1 } })
    new Storage(rows, LIMITS)
    expect(birthIn(rows)).toBeUndefined()
  })

  it('that takes part in a lock that it does not name is refused, and left as it is', () => {
    const rows = stored({ '.registrar': { promised: 0, accepted: null }, membership: { status: 'member' } })
    const before = structuredClone(rows.tables)
    expect(() => new Storage(rows, LIMITS)).toThrow('Nothing was changed')
    expect(structuredClone(rows.tables)).toEqual(before)
  })
})

describe('the fixture', () => {
  const shared = fixture.cluster.objects.filter(object => identityOf(object).lock === 'shared')
  const field = (object: StoredObject, key: string, name: string) =>
    (JSON.parse(new Map(object.records).get(key)!) as { [name: string]: number })[name]

  it('has logs that begin and end at different places, and several epochs', () => {
    const lengths = shared.map(({ records }) => records.filter(([key]) => key.startsWith('log/')).length)
    expect(new Set(shared.map(object => field(object, 'base', 'sequence'))).size).toBe(2)
    expect(new Set(lengths).size).toBe(2)
    expect(new Set(shared.map(object => field(object, 'epoch', 'epoch'))).size).toBe(2)
    expect(Math.max(...shared.map(object => field(object, 'epoch', 'epoch')!))).toBe(3)
  })

  it('has a registrar that only voted', () => {
    const alone = fixture.start.objects.filter(object => identityOf(object).lock === 'alone')
    const voters = alone.filter(({ records }) => !new Map(records).has('.configuration'))
    expect(voters).toHaveLength(2)
    for (const { records } of voters) {
      expect(isBeforeBirths(new Map(records))).toBe(true)
      const birth = JSON.parse(withBirth(new Map(records)).get(BIRTH)!) as BirthRecord
      expect(birth).toMatchObject({ chosen: null, core: null, accepted: { ballot: birth.promised } })
      expect(birth.promised).toBeGreaterThan(0)
    }
  })
})
