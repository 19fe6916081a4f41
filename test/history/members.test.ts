/** H12: what participants recorded about each other (shared/history/check-members.ts). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { HistoryEvent, HistoryHeader, MembersEvent } from '../../shared/history/events.ts'
import { judge } from '../../shared/history/judge.ts'
import { parseHistory } from '../../shared/history/parse.ts'
import { keyValue } from '../../shared/resource/key-value.ts'

const HEADER: HistoryHeader = {
  format: 1,
  protocol: 'wme-2',
  participants: 3,
  resource: 'key-value',
  resultsKept: 100,
}

const heard = (at: number, participant: number, configuration: number, ids: number[]): MembersEvent => ({
  ...{ at, participant, type: 'members', configuration, by: 'operator' },
  members: ids.map(id => ({ id, location: null })),
})

const propertyOf = (events: HistoryEvent[], protocol = 'wme-2') =>
  judge({ header: { ...HEADER, protocol }, events }, keyValue).properties.find(
    ({ name }) => name === 'agreed members',
  )

describe('H12: the members that participants heard of', () => {
  it('are not judged where they never changed', () => {
    expect(propertyOf([])).toBeUndefined()
  })

  it.each(['wme-2', 'ricart-agrawala'])('may be heard of late, twice or not at all (%s)', protocol => {
    const events = [heard(1, 1, 2, [1, 2]), heard(2, 1, 4, [2, 5]), heard(3, 2, 4, [2, 5])]
    const late = [heard(4, 3, 2, [1, 2]), heard(5, 3, 2, [1, 2]), heard(6, 3, 4, [2, 5])]
    const history = { header: { ...HEADER, protocol }, events: [...events, ...late] }
    expect(propertyOf(history.events, protocol)).toMatchObject({ verdict: 'valid' })
    expect(judge(history, keyValue).safety).toBe('valid')
  })

  it('are read from a file', () => {
    const parsed = parseHistory(
      readFileSync(new URL('fixtures/ok-members-changed.jsonl', import.meta.url), 'utf8'),
    )
    if (!parsed.ok) throw new Error(parsed.problem.message)
    expect(judge(parsed.history, keyValue).safety).toBe('valid')
  })

  it('are the same for everybody', () => {
    const two = [heard(1, 1, 2, [1, 2]), heard(2, 2, 2, [1, 3])]
    expect(propertyOf(two)).toMatchObject({ verdict: 'invalid', violations: 1 })
    const moved = [heard(1, 1, 2, [1, 2]), { ...heard(2, 2, 2, [1, 2]), by: 'follow' as const }]
    expect(propertyOf(moved)).toMatchObject({ verdict: 'invalid', violations: 1 })
  })

  it('are never those of before, unless everything was forgotten', () => {
    const back = [heard(1, 1, 4, [1, 2]), heard(2, 1, 2, [1, 3])]
    expect(propertyOf(back)).toMatchObject({ verdict: 'invalid', violations: 1 })
    const forgotten: HistoryEvent = { at: 1, participant: 1, type: 'wipe' }
    expect(propertyOf([back[0]!, forgotten, back[1]!])).toMatchObject({ verdict: 'valid' })
  })
})

it.each<[what: string, change: object]>([
  ['no list of members', { members: 3 }],
  ['a member without a place', { members: [{ id: 1 }] }],
  ['a member without a number', { members: [{ id: '1', location: null }] }],
  ['nobody who wanted it', { by: 'nobody' }],
  ['no number', { configuration: 0 }],
])('an event that has %s is none', (_, change) => {
  const event = { ...heard(1, 1, 2, [1, 9]), ...change }
  const parsed = parseHistory([JSON.stringify(HEADER), JSON.stringify(event)])
  expect(parsed).toMatchObject({ ok: false, problem: { line: 2 } })
  expect(parseHistory([JSON.stringify(HEADER), JSON.stringify(heard(1, 1, 2, [1, 9]))]).ok).toBe(true)
})
