/** Whether a lock exists, asked without voting (shared/birth/existence.ts). */
import { describe, expect, it } from 'vitest'
import { existenceOf, isBornIn, type Sight, sightOf } from '../../shared/birth/existence.ts'
import { ledger } from '../../shared/birth/ledger.ts'
import type { LedgerEntry } from '../../shared/birth/ledger-types.ts'
import { blankBirth } from '../../shared/birth/lock-state.ts'
import type { BirthRecord } from '../../shared/birth/lock-types.ts'
import { firstOwnerOf } from '../../shared/birth/value.ts'
import type { Json } from '../../shared/json.ts'
import { configurationOf } from './scenario.ts'

const LOCK = 'lock'
const FIRST = firstOwnerOf(LOCK, 3)
const [SECOND, THIRD] = [1, 2, 3].filter(id => id !== FIRST) as [number, number]

const nothing: Sight = { generation: 1, isBorn: false, isSure: true, incarnation: 1, known: {} }
const born: Sight = { ...nothing, isBorn: true }
const lost: Sight = { ...nothing, isSure: false }

const judged = (sights: { readonly [id: number]: Sight }, registrars = 3) =>
  existenceOf(
    { lock: LOCK, registrars },
    new Map(Object.entries(sights).map(([id, sight]) => [Number(id), sight])),
  )

describe('a lock', () => {
  it.each<[string, { readonly [id: number]: Sight }, string]>([
    ['nobody knows it', { [FIRST]: nothing, [SECOND]: nothing, [THIRD]: nothing }, 'absent'],
    ['a majority with the first owner knows nothing', { [FIRST]: nothing, [THIRD]: nothing }, 'absent'],
    // The first owner may have granted it alone, and its user was told.
    ['a majority without the first owner knows nothing', { [SECOND]: nothing, [THIRD]: nothing }, 'unknown'],
    ['the first owner alone has begun it', { [FIRST]: born, [SECOND]: nothing }, 'exists'],
    ['another one has accepted it', { [FIRST]: nothing, [SECOND]: nothing, [THIRD]: born }, 'exists'],
    ['only the first owner answers', { [FIRST]: nothing }, 'unknown'],
    ['nobody answers', {}, 'unknown'],
    // What one that was lost does not know may have happened all the same.
    ['one of a majority was lost', { [FIRST]: nothing, [SECOND]: lost }, 'unknown'],
    ['the first owner was lost', { [FIRST]: lost, [SECOND]: nothing, [THIRD]: nothing }, 'unknown'],
    ['one more than a majority was lost', { [FIRST]: nothing, [SECOND]: lost, [THIRD]: nothing }, 'absent'],
    [
      'one that was lost has heard of it',
      { [FIRST]: nothing, [SECOND]: { ...lost, isBorn: true } },
      'exists',
    ],
  ])('%s', (_, sights, existence) => {
    expect(judged(sights)).toBe(existence)
  })

  it('G8 one of an earlier life does not count beside one that knows of the later', () => {
    const knowing = { ...nothing, known: { [SECOND]: 2 } }
    expect(judged({ [FIRST]: knowing, [SECOND]: nothing })).toBe('unknown')
    expect(judged({ [FIRST]: knowing, [SECOND]: { ...nothing, incarnation: 2 } })).toBe('absent')
  })

  it('G9 of an earlier generation is over', () => {
    const ended = { ...nothing, generation: 2 }
    expect(judged({ [FIRST]: ended, [SECOND]: ended, [THIRD]: born })).toBe('absent')
    expect(judged({ [FIRST]: ended, [SECOND]: born })).toBe('absent')
    expect(judged({ [FIRST]: ended, [SECOND]: { ...born, generation: 2 } })).toBe('exists')
    expect(judged({ [SECOND]: ended, [THIRD]: born })).toBe('unknown')
  })

  it('with one registrar', () => {
    expect(judged({ 1: nothing }, 1)).toBe('absent')
    expect(judged({ 1: born }, 1)).toBe('exists')
    expect(judged({}, 1)).toBe('unknown')
  })
})

describe('what a participant knows', () => {
  const blank = blankBirth(1, 0)
  const value = { configuration: configurationOf('wme-2', 3, 30_000, true), startEpoch: 0 }
  const record = (fields: Partial<BirthRecord>): BirthRecord => ({ ...blank, ...fields })

  it('is nothing as long as it has only promised, or only asked the first owner', () => {
    expect([blank, record({ promised: 7 }), record({ core: value })].map(isBornIn)).toEqual([
      false,
      false,
      false,
    ])
  })

  it('is a lock once it has accepted a value, or heard of the choice', () => {
    const accepted = record({ accepted: { ballot: 0, value } })
    const voted = record({ promised: 1025, accepted: { ballot: 1025, value } })
    expect([accepted, voted, record({ chosen: value })].map(isBornIn)).toEqual([true, true, true])
  })

  it('is all that there is to know where blank means new', () => {
    expect(sightOf({ hasLedger: false }, blank)).toEqual(nothing)
  })

  it('is for its ledger to say where processes can lose their storage', () => {
    const context = { hasLedger: true }
    const fresh = record({ standing: { status: 'fresh', token: 't' } })
    expect([sightOf(context, blank), sightOf(context, fresh)]).toEqual([null, null])
    expect(sightOf(context, record({ standing: { status: 'entitled' } }))).toEqual(nothing)
    expect(sightOf(context, record({ standing: { status: 'lost' } }))).toEqual(lost)
    expect(sightOf(context, record({ chosen: value }))).toMatchObject({ isBorn: true })
  })
})

describe('what a ledger says to a participant that is blank', () => {
  function look(entry: LedgerEntry | null, token: string | null, isHealed = true, generation = 1) {
    const founding = { collector: 'c', nonces: ['a', 'b', 'c'] }
    const known = { 2: 3 }
    const founded = { status: 'founded', founding, nonce: 'a', incarnation: 2, isHealed, known }
    const records: [string, Json][] = [['ledger', founded as unknown as Json]]
    if (entry !== null) records.push([`lock/${LOCK}`, entry as unknown as Json])
    const limits = { locks: 10, entriesPerPage: 10 }
    const timing = { repeatMs: 1, repeatMaxMs: 1, finishMs: 1, finishAtOnce: 1, finishAgainMs: 1 }
    const state = ledger.recover({ self: 1, registrars: 3, isStrict: false, limits, timing }, records)
    const sight = ledger.look(state, { lock: LOCK, generation, token })
    expect(sight).toMatchObject({ incarnation: 2, known })
    expect([...state.entries.keys()]).toEqual(entry === null ? [] : [LOCK])
    return sight.isSure
  }
  const voted: LedgerEntry = { voted: 1, token: 't', lost: 0 }

  it('it is new if the lock is not listed', () => {
    expect(look(null, null)).toBe(true)
    expect(look(null, 't')).toBe(true)
    expect(look(voted, null, true, 2)).toBe(true)
  })

  it('it has lost nothing if the lock is listed with its own token', () => {
    expect(look(voted, 't')).toBe(true)
  })

  it('it was lost if the lock is listed with another, or as lost', () => {
    expect(look(voted, null)).toBe(false)
    expect(look(voted, 'u')).toBe(false)
    expect(look({ voted: 1, token: 't', lost: 1 }, 't')).toBe(false)
    expect(look({ voted: 0, token: null, lost: 1 }, null)).toBe(false)
  })

  it('nobody can tell before the process is healed', () => {
    expect(look(null, null, false)).toBe(false)
    const blank = ledger.recover({} as never, [])
    expect(ledger.look(blank, { lock: LOCK, generation: 1, token: null }).isSure).toBe(false)
  })
})
