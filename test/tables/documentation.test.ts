/** docs/tables.md, docs/messages.svg and docs/which-protocol.md say what the code does. */
import { describe, expect, it } from 'vitest'
import { chart } from '../../bench/tables/chart.ts'
import { measureCycles } from '../../bench/tables/cost.ts'
import { report } from '../../bench/tables/report.ts'
import { Measurements, measureRows } from '../../bench/tables/table.ts'
import { pageAt } from '../readme/markdown.ts'

const REGENERATE = 'run: npm run tables -- --write'

const measurements = new Measurements()
const rows = measureRows(measurements)
const cycles = measureCycles(measurements)

describe('docs/tables.md', () => {
  const { text } = pageAt('docs/tables.md')

  it('and docs/messages.svg are what the code prints', () => {
    expect(text, REGENERATE).toBe(report(rows, cycles))
    expect(pageAt('docs/messages.svg').text, REGENERATE).toBe(chart(cycles))
  })

  it('has the letter of a reason beside whatever is worse', () => {
    const cells = text.split('|').map(cell => cell.trim())
    const worse = cells.filter(cell => /^[\d.]+( \+ \d+ ms)? > [\d.]+/.test(cell))
    expect(worse).toHaveLength(rows.flatMap(row => row.cells).filter(({ mark }) => mark === 'worse').length)
    for (const cell of worse) {
      expect(cell).toMatch(/ [a-c]$/)
      expect(text).toContain(`- **${cell.at(-1)}** `)
    }
  })
})

describe('docs/which-protocol.md', () => {
  const { text } = pageAt('docs/which-protocol.md')

  /** The rows of its table of costs, and which variants they are about. */
  const DOCUMENTED = {
    '`wme-2`, where it was last used': 'wme-2, where it was last used, in a row',
    '`wme-2`, elsewhere each time': 'wme-2, elsewhere each time',
    '`wme-1`, where it was last used': 'wme-1, where it was last used',
    '`wme-1`, elsewhere each time': 'wme-1, elsewhere each time',
    '`wme-consensus`, latency-optimal': 'wme-consensus, latency-optimal',
    '`wme-consensus`, message-optimal': 'wme-consensus, message-optimal',
    '`ricart-agrawala`': 'ricart-agrawala',
    '`maekawa`': 'maekawa',
  } as const

  it.each(Object.entries(DOCUMENTED))('%s: what three and five participants cost', (label, title) => {
    const { costs } = cycles.find(cycle => cycle.title === title)!
    const both = [3, 5].map(size => costs.find(({ participants }) => participants === size)!)
    const pair = (of: (cost: (typeof both)[number]) => string): string => both.map(of).join(' / ')
    const rounded = (figure: number): string => String(Number(figure.toFixed(1)))
    const cells = [
      pair(({ messages }) => rounded(messages)),
      pair(({ delays }) => rounded(delays)),
      pair(({ requests }) => rounded(requests)),
      pair(({ rows }) => rounded(rows)),
      pair(({ dollars }) => `$${dollars.toFixed(2)}`),
    ]
    expect(text).toContain(`| ${label} | ${cells.join(' | ')} |`)
  })

  it('says rightly from when on maekawa is the cheaper one of the locks alone', () => {
    const dollarsOf = (title: string): number[] =>
      cycles.find(cycle => cycle.title === title)!.costs.map(({ dollars }) => dollars)
    const [maekawa, ricartAgrawala] = [dollarsOf('maekawa'), dollarsOf('ricart-agrawala')]
    const sizes = cycles[0]!.costs.map(({ participants }) => participants)
    const isCheaper = sizes.filter((_, index) => maekawa[index]! < ricartAgrawala[index]!)
    expect(isCheaper).toEqual(sizes.filter(size => size >= 7))
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'cheaper than `ricart-agrawala` from seven participants on',
    )
  })

  it('says rightly that a lock alone is no cheaper with three or five participants', () => {
    const costOf = (title: string, size: number): number =>
      cycles.find(cycle => cycle.title === title)!.costs.find(({ participants }) => participants === size)!
        .dollars
    for (const size of [3, 5])
      for (const alone of ['ricart-agrawala', 'maekawa'])
        expect(costOf(alone, size)).toBeGreaterThan(costOf('wme-2, where it was last used, in a row', size))
  })
})
