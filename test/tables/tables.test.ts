/** Steps and messages of the shipped code, compared with the papers. */
import { describe, expect, it } from 'vitest'
import { fullPrice, priceOf, usageOfMillion } from '../../bench/prices.ts'
import { measureCycles } from '../../bench/tables/cost.ts'
import { MEASURED } from '../../bench/tables/measure.ts'
import { NOTES, type Row } from '../../bench/tables/row.ts'
import { SIZES, VARIANTS, type VariantName } from '../../bench/tables/subjects.ts'
import {
  type MeasuredRow,
  Measurements,
  markOf,
  measureRows,
  needless,
  unexpected,
  unexplained,
} from '../../bench/tables/table.ts'
import { PROTOCOL_NAMES } from '../../shared/protocols/all.ts'
import { memberSets } from '../../shared/protocols/maekawa/sets/sets.ts'
import { majority } from '../../shared/protocols/quorum.ts'
import { pageAt } from '../readme/markdown.ts'

const measurements = new Measurements()
const rows = measureRows(measurements)
const cycles = measureCycles(measurements)

const rowsOf = (variant: VariantName, found: readonly MeasuredRow[] = rows): MeasuredRow[] =>
  found.filter(row => row.variant === variant)

/** The value of the only row of this variant, scenario and metric. */
function measured(
  variant: VariantName,
  what: Pick<Row, 'scenario' | 'metric'> & { requester?: number },
): number[] {
  const { scenario, metric, requester = 2 } = what
  const found = rowsOf(variant).filter(
    row => row.scenario === scenario && row.metric === metric && row.requester === requester,
  )
  expect(found).toHaveLength(1)
  return found[0]!.cells.map(cell => cell.measured)
}

const all = (of: (participants: number) => number): number[] => SIZES.map(of)

describe('the table', () => {
  it('has every protocol and every number of participants', () => {
    expect(new Set(rows.map(({ variant }) => VARIANTS[variant].protocol))).toEqual(new Set(PROTOCOL_NAMES))
    expect(Object.keys(VARIANTS).every(variant => rowsOf(variant as VariantName).length > 0)).toBe(true)
    expect([...SIZES]).toEqual([3, 4, 5, 7, 9, 13, 21])
    for (const { cells } of rows) expect(cells.map(({ participants }) => participants)).toEqual([...SIZES])
  })

  it('counts exactly what the formulas of this code say', () => {
    expect(unexpected(rows)).toEqual([])
  })

  it('has nothing worse than the papers without a reason, and no reason too many', () => {
    expect(unexplained(rows)).toEqual([])
    expect(needless(rows)).toEqual([])
    expect(new Set(rows.flatMap(({ note }) => note ?? []))).toEqual(new Set(Object.keys(NOTES)))
  })

  it('has something worse only in wme, and only in what nobody waits for', () => {
    const worse = rows.filter(({ cells }) => cells.some(({ mark }) => mark === 'worse'))
    for (const { variant, metric, note } of worse) {
      expect(['wme-1', 'wme-2', 'majority first']).toContain(variant)
      expect(metric).toBe(note === 'flushed' ? 'applied' : 'messages')
    }
    expect(
      rows
        .filter(({ metric }) => metric === 'before')
        .every(({ cells }) => cells.every(({ mark }) => mark === 'equal')),
    ).toBe(true)
  })
})

describe('Table 1 of Romano and Rodrigues', () => {
  it.each(['wme-1', 'wme-2'] as const)('%s: 0 or 2 steps to enter, 0 to leave', variant => {
    expect(measured(variant, { scenario: 'enter', metric: 'steps', requester: 1 })).toEqual(all(() => 0))
    expect(measured(variant, { scenario: 'enter', metric: 'steps' })).toEqual(all(() => 2))
    expect(measured(variant, { scenario: 'enter', metric: 'before' })).toEqual(all(n => 2 * (n - 1)))
    expect(measured(variant, { scenario: 'leave', metric: 'steps' })).toEqual(all(() => 0))
    expect(measured(variant, { scenario: 'leave', metric: 'messages' })).toEqual(all(() => 0))
  })

  it('an operation: wme-1 in 2 steps with O(N²) messages, wme-2 in at most 3 steps with O(N)', () => {
    const operation = { scenario: 'operation', metric: 'messages' } as const
    expect(measured('wme-1', operation)).toEqual(all(n => n - 1 + (n - 1) ** 2))
    expect(measured('wme-2', operation)).toEqual(all(n => 3 * (n - 1)))
    expect(measured('wme-1', { scenario: 'operation', metric: 'applied' })).toEqual(all(() => 2))
    expect(measured('wme-2', { scenario: 'operationsInARow', metric: 'applied' })).toEqual(all(() => 3))
  })

  it.each([
    ['latency-optimal', 3],
    ['message-optimal', 4],
  ] as const)('%s: at most %i steps to enter, to leave and for an operation', (variant, most) => {
    for (const scenario of ['enter', 'leave', 'operation'] as const) {
      const steps = measured(variant, { scenario, metric: 'steps' })
      expect(steps.slice(1)).toEqual(SIZES.slice(1).map(() => most))
      expect(steps[0]).toBeLessThanOrEqual(most)
    }
  })

  it('wme-2 has fewer messages and steps than both forms of the earlier algorithm', () => {
    const [wme2, latency, messages] = ['majority first', 'latency-optimal', 'message-optimal'].map(variant =>
      cycles.filter(cycle => cycle.variant === variant),
    )
    const costs = wme2!.flatMap(cycle => cycle.costs)
    for (const worst of costs) {
      for (const earlier of [...latency!, ...messages!]) {
        const there = earlier.costs.find(({ participants }) => participants === worst.participants)!
        expect(worst.messages).toBeLessThan(there.messages)
        expect(worst.delays).toBeLessThan(there.delays)
        expect(worst.dollars).toBeLessThan(there.dollars)
      }
    }
  })
})

describe('Ricart and Agrawala, Maekawa', () => {
  it('2(N - 1) messages, N on a ring, between N - 1 and 3(N - 1) with implicit replies', () => {
    const cycle = { scenario: 'cyclesInARow', metric: 'messages' } as const
    for (const variant of ['ricart-agrawala', 'modulus', 'increment', 'readers'] as const)
      expect(measured(variant, cycle)).toEqual(all(n => 2 * (n - 1)))
    for (const variant of ['ring: waiting', 'ring: marking'] as const)
      expect(measured(variant, cycle)).toEqual(all(n => n))
    expect(measured('implicitReply', cycle)).toEqual(all(n => n - 1))
    expect(measured('implicitReply', { scenario: 'lastOfEverybody', metric: 'messages' })).toEqual(
      all(n => 3 * (n - 1)),
    )
  })

  it('3(K - 1) messages, and at most 5(K - 1) when everybody wants in', () => {
    const sizes = all(n => memberSets(n)[1]!.length)
    expect(measured('maekawa', { scenario: 'cyclesInARow', metric: 'messages' })).toEqual(
      sizes.map(k => 3 * (k - 1)),
    )
    const crowded = measured('maekawa', { scenario: 'everybodyAtOnce', metric: 'messages' })
    crowded.forEach((messages, index) => {
      const sets = memberSets(SIZES[index]!)
      const others = sets.reduce((sum, set) => sum + set.length - 1, 0) / sets.length
      expect(messages).toBeGreaterThanOrEqual(3 * others)
      expect(messages).toBeLessThanOrEqual(5 * others)
    })
  })

  it('after an exit one delay where a node of the two is the common member of their sets, else two', () => {
    const steps = measured('maekawa', { scenario: 'enterHeld', metric: 'steps' })
    const expected = all(n => {
      const [first, second] = [memberSets(n)[0]!, memberSets(n)[1]!]
      const common = first.filter(member => second.includes(member))
      return common.every(member => member === 1 || member === 2) ? 1 : 2
    })
    expect(steps).toEqual(expected)
  })
})

/** Those who are asked first, and those who are told later. */
const quick = (participants: number): number => majority(participants) - 1
const rest = (participants: number): number => participants - majority(participants)

describe('requests between objects', () => {
  const requestsOf = (title: string): number[] =>
    cycles.find(cycle => cycle.title === title)!.costs.map(({ requests }) => requests)

  it('carry two messages where the peer answers at once', () => {
    const inARow = requestsOf('wme-2, where it was last used, in a row')
    for (const [index, expected] of all(n => quick(n) + rest(n) / MEASURED).entries())
      expect(inARow[index]).toBeCloseTo(expected)
    // The operation to the quick ones, the news of it, and both at once to the rest.
    expect(requestsOf('wme-2, where it was last used, now and then')).toEqual(
      all(n => 2 * quick(n) + rest(n)),
    )
    expect(requestsOf('ricart-agrawala')).toEqual(all(n => n - 1))
    expect(requestsOf('ricart-agrawala, ring')).toEqual(all(n => n))
    for (const { title, costs } of cycles)
      for (const { messages, requests } of costs) {
        expect(requests).toBeLessThanOrEqual(messages)
        // In wme-consensus an exit is proposed, and travels together with what its turn sends anyway.
        if (!title.startsWith('wme-consensus')) expect(requests).toBeGreaterThanOrEqual(messages / 2)
      }
  })
})

/** The first column of a row of docs/deploy.md: a `transact` of `wme-2`, busy, three participants. */
function countedOnTheRuntime(title: string): number {
  const line = pageAt('docs/deploy.md')
    .text.split('\n')
    .find(each => each.startsWith(`| ${title} |`))!
  return Number(line.split('|')[2]!.replaceAll(/[$, ]/g, ''))
}

describe('the price', () => {
  it('follows from the counts', () => {
    const { costs } = cycles.find(({ title }) => title === 'maekawa')!
    for (const { requests, rows, delays, dollars } of costs) {
      const usage = {
        router: 2,
        calls: 2,
        peers: requests,
        alarms: 0,
        rowsWritten: rows,
        alarmsSet: 0,
        rowsRead: 0,
      }
      expect(dollars).toBe(fullPrice(usageOfMillion({ ...usage, seconds: delays / 8 })))
    }
  })

  it('is that of docs/deploy.md, whose counts are of the runtime, less what is left out here', () => {
    const { costs } = cycles.find(({ title }) => title === 'wme-2, where it was last used, in a row')!
    const [{ requests, rows, dollars }] = costs as [(typeof costs)[number]]
    // There an operation takes longer, so fewer of them share a message to the rest.
    const toTheRest = countedOnTheRuntime('requests between objects') - requests
    expect(toTheRest).toBeGreaterThanOrEqual(0)
    expect(toTheRest).toBeLessThan(rest(3))
    // The owner's second row, that the operation is applied and its user has left, waits for the next one.
    const putOff = 1
    // The runtime writes checkpoints, too.
    const checkpoints = countedOnTheRuntime('rows written') - rows - toTheRest + putOff
    expect(checkpoints / rows).toBeGreaterThan(0)
    expect(checkpoints / rows).toBeLessThan(0.1)
    const leftOut =
      priceOf('objectRequests', toTheRest * 1e6) +
      priceOf('rowsWritten', (toTheRest + checkpoints - putOff) * 1e6) +
      priceOf('objectRequests', countedOnTheRuntime('alarms') * 1e6) +
      priceOf('rowsWritten', countedOnTheRuntime('alarms set') * 1e6) +
      priceOf('rowsRead', countedOnTheRuntime('rows read') * 1e6)
    expect(dollars + leftOut).toBeCloseTo(countedOnTheRuntime('price of a million'), 2)
  })

  it('is mostly that of rows: two at the owner, one at each that is asked first', () => {
    const { costs } = cycles.find(({ title }) => title === 'wme-2, where it was last used, in a row')!
    for (const { participants, rows } of costs)
      expect(rows).toBeCloseTo(2 + quick(participants) + rest(participants) / MEASURED)
  })
})

describe('a mark', () => {
  const figure = (value: number, waitedMs = 0) => ({ value, waitedMs })

  it('tells fewer from more', () => {
    expect(markOf(figure(4), [4, 4])).toBe('equal')
    expect(markOf(figure(3), [4, 4])).toBe('better')
    expect(markOf(figure(5), [4, 4])).toBe('worse')
    expect(markOf(figure(5), [4, 6])).toBe('equal')
    expect(markOf(figure(7), [4, 6])).toBe('worse')
  })

  it('counts waiting', () => {
    expect(markOf(figure(3, 20), [3, 3])).toBe('worse')
    expect(markOf(figure(2, 20), [3, 3])).toBe('better')
  })
})
