/** Operators change the members in a simulation: such runs are judged and repeatable, and notice mistakes. */
import { describe, expect, it } from 'vitest'
import { CHANGING_PROTOCOLS } from '../../shared/protocols/members/which.ts'
import type { Effect } from '../../shared/protocols/protocol.ts'
import type { WmeMessage } from '../../shared/protocols/wme/messages.ts'
import type { EpochRecord, Membership, WmeState } from '../../shared/protocols/wme/state.ts'
import { addCounts, type CountName, zeroCounts } from './counts.ts'
import { expectViolation, newborn, OPTIONS } from './fixtures.ts'
import { Epochs } from './invariants/epochs.ts'
import { MemberRules } from './invariants/members.ts'
import { WME_RECORDS } from './members/member-records.ts'
import { MemberSets } from './members/member-sets.ts'
import { runSeed, runSubject } from './run.ts'
import { wmeSubject } from './wme-subject.ts'

const CHANGING = { ...OPTIONS, members: true } as const

const HAPPENS: { readonly [name in (typeof CHANGING_PROTOCOLS)[number]]?: readonly CountName[] } = {
  'wme-1': ['newcomersPrimed', 'tombstones'],
  'wme-2': ['newcomersPrimed', 'tombstones'],
  'wme-consensus': ['tombstones'],
}

describe.each(CHANGING_PROTOCOLS)('changes of the members of %s', protocol => {
  it('break nothing, and happen', () => {
    const counts = zeroCounts()
    for (let seed = 1; seed <= 8; seed++) {
      const result = runSeed({ ...CHANGING, protocol }, seed)
      expect(result.violation).toBeNull()
      addCounts(counts, result.counts)
    }
    for (const name of ['memberChanges', 'setsEntered', 'removals', ...(HAPPENS[protocol] ?? [])] as const)
      expect(counts[name], name).toBeGreaterThan(0)
  })

  it('are the same for the same seed', () => {
    const [one, other] = [3, 3].map(seed => runSeed({ ...CHANGING, protocol }, seed))
    expect(one!.transcriptHash).toBe(other!.transcriptHash)
  })
})

it('regression: one that missed two changes asks those that it is sent on to (M10)', () => {
  const { violation } = runSeed({ ...CHANGING, protocol: 'wme-1', participants: 5 }, 4_002_026)
  expect(violation).toBeNull()
})

describe('a protocol that changes members wrongly', () => {
  type Effects = Effect<WmeMessage>[]

  /** The first seed that breaks a rule. */
  function ruleBroken(change: (effects: Effects, state: WmeState) => Effects): string | null {
    const subject = wmeSubject('wme-2')
    const step: typeof subject.protocol.step = (context, state, input) =>
      change(subject.protocol.step(context, state, input), state)
    const broken = { ...subject, protocol: { ...subject.protocol, step } }
    for (let seed = 1; seed <= 60; seed++) {
      const { violation } = runSubject(broken, CHANGING, seed, null)
      if (violation !== null) return violation.rule
    }
    return null
  }

  it('is found: a newcomer speaks before it is a member', () => {
    const rule = ruleBroken((effects, { durable }) => {
      if (durable.membership.status !== 'joining' || !durable.membership.isPrimed) return effects
      const body = { type: 'installed', epoch: durable.epoch.epoch } as const
      return [...effects, { type: 'send', to: 1, message: { format: 1, configuration: 1, body } }]
    })
    expect(rule).toBe('I17')
  })

  it('is found: the new members are never told', () => {
    const isHandover = (effect: Effects[number]) =>
      effect.type === 'send' && effect.message.body.type === 'handover'
    expect(ruleBroken(effects => effects.filter(effect => !isHandover(effect)))).toMatch(/members|progress/)
  })

  it('is found: the set is not stored', () => {
    const withoutSet = (effect: Effects[number]): Effects[number] => {
      if (effect.type !== 'save') return effect
      const records = effect.records.map(record => {
        if (record.key !== 'epoch' || record.value === null) return record
        const { set: _set, ...value } = record.value as unknown as EpochRecord
        return { key: record.key, value: value as unknown as typeof record.value }
      })
      return { ...effect, records }
    }
    expect(ruleBroken(effects => effects.map(withoutSet))).not.toBeNull()
  })
})

describe('the rules of sets', () => {
  const record = (epoch: number, config: number, ...numbers: number[]): EpochRecord => ({
    ...{ epoch, owner: numbers[0]!, start: 0, sealed: false, incarnations: {} },
    set: {
      members: Object.fromEntries(numbers.map(number => [number, ''])),
      ...{ config, highest: Math.max(3, ...numbers), change: 'c' },
    },
  })

  function rules(): { epochs: Epochs; members: MemberRules; begin(next: EpochRecord): void } {
    const epochs = new Epochs(3)
    const members = new MemberRules([1, 2, 3].map(newborn), epochs, zeroCounts())
    const begin = (next: EpochRecord) => {
      epochs.starts.set(next.epoch, next)
      members.begun(next)
    }
    return { epochs, members, begin }
  }

  it('M1 a set begins with the epoch that it is named after, and stays', () => {
    expectViolation('M1', () => rules().begin(record(1, 2, 1, 2, 4)))
    const { begin } = rules()
    begin(record(1, 1, 1, 2, 4))
    begin(record(2, 1, 1, 2, 4))
    expectViolation('M1', () => begin(record(3, 2, 1, 2)))
  })

  it('M6 a number that was used does not come back', () => {
    const { begin } = rules()
    begin(record(1, 1, 1, 2, 4))
    expectViolation('M6', () => begin(record(2, 2, 1, 2, 3)))
  })

  it('M2 only members of an epoch speak in it', () => {
    const { epochs, members } = rules()
    epochs.starts.set(0, record(0, 0, 2, 3))
    expectViolation('M2', () => members.sent(newborn(1), { type: 'installed', epoch: 0 }))
  })

  it('M3 a newcomer becomes a member only as the incarnation that was named', () => {
    const { members } = rules()
    const participant = newborn(1)
    members.saved(participant, { status: 'joining', incarnation: 5 })
    expectViolation('M3', () => members.saved(participant, { status: 'member' }))
  })

  it('M5 a removed participant stays removed, and keeps what it has while others need it', () => {
    const { epochs, members } = rules()
    epochs.starts.set(0, record(0, 0, 2, 3))
    const gone: Membership = { status: 'removed', hasData: true }
    const participant = newborn(1)
    members.saved(participant, gone)
    expectViolation('M5', () => members.saved(participant, { status: 'member' }))
  })
})

describe('whom a lock cannot do without', () => {
  it('is a majority of each set that may be needed', () => {
    const participants = [1, 1, 2, 3, 4].map(newborn)
    const sets = new MemberSets(participants as never, 3, WME_RECORDS)
    expect(sets.mayLose(2)).toBe(true)
    participants[3]!.storage.clear()
    expect(sets.mayLose(2)).toBe(false)
    sets.asked.push({ id: 'c', base: 0, members: { 1: '', 4: '' } })
    expect(sets.mayLose(4)).toBe(false)
    expect(sets.needed).toEqual([
      [1, 2, 3],
      [1, 4],
    ])
  })
})
