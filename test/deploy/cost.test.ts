/**
 * docs/deploy.md says what a lock cycle costs: its counts are checked against the runtime, its dollars
 * against its counts.
 */
import { describe, expect, it } from 'vitest'
import { countApart } from '../../bench/count/count.ts'
import { billOfMonth, fullPrice, usageOfMillion } from '../../bench/prices.ts'
import { pageAt } from '../readme/markdown.ts'

type Row = readonly number[]
const page = pageAt('docs/deploy.md').text
const COLUMNS = 4

/** The numbers of the row of a table that begins with this. */
function rowOf(text: string, title: string): Row {
  const line = text.split('\n').find(line => line.startsWith(`| ${title} |`))
  const cells = line?.split('|').slice(2, -1) ?? []
  return cells.map(cell => Number(cell.replaceAll(/[$, ]/g, '')))
}

/** Dollars that do not follow from the counts above them. */
function wrongDollars(text: string): string[] {
  const row = (title: string) => rowOf(text, title)
  return Array.from({ length: COLUMNS }, (_, column) => {
    const usage = usageOfMillion({
      router: row('requests to the router')[column]!,
      calls: row('requests of the router to objects')[column]!,
      peers: row('requests between objects')[column]!,
      alarms: row('alarms')[column]!,
      rowsWritten: row('rows written')[column]!,
      alarmsSet: row('alarms set')[column]!,
      rowsRead: row('rows read')[column]!,
      seconds: row('seconds in memory')[column]!,
    })
    const wanted = [fullPrice(usage), billOfMonth(usage)]
    const documented = [row('price of a million')[column]!, row('bill of a month with one million')[column]!]
    return wanted.flatMap((dollars, index) =>
      Math.abs(dollars - documented[index]!) < 0.006
        ? []
        : [`column ${column + 1}: ${documented[index]} should be ${dollars.toFixed(2)}`],
    )
  }).flat()
}

describe('the dollars of docs/deploy.md', () => {
  it('follow from its counts and the prices', () => {
    expect(wrongDollars(page)).toEqual([])
  })

  it('are those of the README', () => {
    const readme = pageAt('README.md').text
    for (const title of ['price of a million', 'bill of a month with one million']) {
      expect(rowOf(readme, title)).toEqual(rowOf(page, title))
      expect(rowOf(page, title)).toHaveLength(COLUMNS)
    }
  })

  it('would be found wrong', () => {
    expect(wrongDollars(page.replace('$4.45', '$4.18'))).toEqual(['column 1: 4.18 should be 4.45'])
    expect(wrongDollars(page.replace('| rows written | 3.3 |', '| rows written | 4.3 |'))).toHaveLength(1)
  })
})

/** Of a lock that falls idle after each cycle, and that nothing had to be woken for. */
const IDLE = { requests: 3, transact: 5, threeCalls: 6 }

describe('a lock cycle', () => {
  it('uses what docs/deploy.md says, and no more', async () => {
    const sentence = page.replaceAll(/\s+/g, ' ')
    const { requests, transact: rows, threeCalls: rowsOfThree } = IDLE
    expect(sentence).toContain(`stays in memory, sends ${requests} requests`)
    expect(sentence).toContain(
      `2 + 2 + 1 = ${rows} for a \`transact\`, and 3 + 2 + 1 = ${rowsOfThree} for three calls`,
    )
    const { transact, threeCalls } = await countApart(5)
    expect([transact.router, threeCalls.router]).toEqual(rowOf(page, 'requests to the router').slice(2))
    expect([transact.calls, threeCalls.calls]).toEqual(
      rowOf(page, 'requests of the router to objects').slice(2),
    )
    isAbout(transact.peers, requests)
    isAbout(threeCalls.peers, requests)
    isAbout(transact.rowsWritten, rows)
    isAbout(threeCalls.rowsWritten, rowsOfThree)
  })
})

/** On a busy machine a timer or an eviction may add something. Much less than documented is wrong too. */
function isAbout(counted: number, documented: number): void {
  expect(counted).toBeLessThanOrEqual(documented * 1.2)
  expect(counted).toBeGreaterThanOrEqual(documented * 0.75)
}
