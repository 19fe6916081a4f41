/**
 * Figures that the README quotes are those of the page that has them. test/deploy/cost.test.ts looks at the
 * dollars.
 */
import { describe, expect, it } from 'vitest'
import { chart, EXPLANATION } from '../../bench/report.ts'
import { pageAt } from './markdown.ts'

const readme = pageAt('README.md').text.replaceAll(/\s+/g, ' ')
const benchmark = pageAt('docs/benchmark.md').text

const ratioOf = (what: string): string =>
  new RegExp(`^\\| wme-2 \\| 3 \\| ${what} \\| ([\\d.]+) `, 'm').exec(benchmark)![1]!

describe('the speed in the README', () => {
  it('is that of the benchmark', () => {
    expect(readme).toContain(
      `taking the lock again takes ${ratioOf('acquire, token here')} times as long, ` +
        `one operation ${ratioOf('one operation')} times, and a whole \`transact\` ${ratioOf('transact')} times.`,
    )
  })
})

/** The rows of its table, with their medians. */
const measured = [...benchmark.matchAll(/^\| (wme-\d) \| (\d+) \| ([^|]+) \| ([\d.]+) \(/gm)].map(
  ([, protocol, participants, name, ratio]) => ({
    protocol: protocol!,
    participants: Number(participants),
    name: name!,
    ratios: [Number(ratio)],
  }),
)

describe('docs/benchmark.md', () => {
  it('has a chart of its figures', () => {
    expect(measured.length).toBeGreaterThan(10)
    expect(pageAt('docs/benchmark.svg').text).toBe(chart(measured))
  })

  it('explains its figures as the code does that writes it', () => {
    for (const paragraph of EXPLANATION) expect(benchmark).toContain(paragraph)
  })
})
