/**
 * docs/regions.md, its chart and its figures are what `npm run regions` prints. All of it takes a while, so
 * some rows are measured again, and the rest is what was written with them.
 */
import { describe, expect, it } from 'vitest'
import { chart } from '../../bench/regions/chart.ts'
import {
  CONTENDERS,
  type Contender,
  measureAll,
  PLACEMENTS,
  type Placement,
  type Row,
  SAMPLES,
} from '../../bench/regions/measure.ts'
import { type Measurements, page } from '../../bench/regions/report.ts'
import { KINDS_OF_WORK } from '../../bench/regions/work.ts'
import { DEFAULT_CONDITIONS } from '../../bench/regions/world.ts'
import type { ProtocolOf } from '../../bench/tables/subjects.ts'
import { pageAt } from '../readme/markdown.ts'
import { sendingOneTwice } from '../tables/broken.ts'

const REGENERATE = 'run: npm run regions -- --write'

const written = JSON.parse(pageAt('docs/regions.json').text) as Measurements
const [WORLD] = PLACEMENTS
const EUROPE = PLACEMENTS.find(({ title }) => title.endsWith('all in Europe'))!

const again = (placement: Placement, contenders: readonly Contender[], protocolOf?: ProtocolOf): Row[] =>
  measureAll({
    conditions: DEFAULT_CONDITIONS,
    samples: SAMPLES,
    placements: [placement],
    contenders,
    ...(protocolOf && { protocolOf }),
  })

const writtenRows = (placement: Placement, contenders: readonly Contender[]): Row[] =>
  written.rows.filter(row => row.placement === placement.title && contenders.includes(row.contender))

describe('docs/regions.md', () => {
  it('and docs/regions.svg show the figures of docs/regions.json', () => {
    expect(pageAt('docs/regions.md').text, REGENERATE).toBe(page(written))
    expect(pageAt('docs/regions.svg').text, REGENERATE).toBe(chart(written))
  })

  it('has been written with the defaults, and has everything', () => {
    expect(written.conditions).toEqual(DEFAULT_CONDITIONS)
    expect(written.samples).toBe(SAMPLES)
    const expected = PLACEMENTS.flatMap(({ title }) =>
      Object.keys(KINDS_OF_WORK).flatMap(work => CONTENDERS.map(contender => [title, work, contender])),
    )
    expect(written.rows.map(row => [row.placement, row.work, row.contender])).toEqual(expected)
  })

  it.each([
    ['in Europe, everything', EUROPE, CONTENDERS],
    [
      'around the world, the default protocol and what stands beside it',
      WORLD!,
      ['object', 'leader', 'wme-2'],
    ],
  ] as const)('is what the code does: %s', (_, placement, contenders) => {
    expect(again(placement, contenders), REGENERATE).toEqual(writtenRows(placement, contenders))
  })

  it.each([
    ['wme-1', 'invoke-ack'],
    ['wme-2', 'request'],
    ['wme-consensus', 'ack'],
    ['ricart-agrawala', 'reply'],
    ['maekawa', 'locked'],
  ] as const)('is no longer true when %s sends one %s more', (protocol, type) => {
    const broken = again(EUROPE, [protocol], sendingOneTwice(type))
    expect(broken).not.toEqual(writtenRows(EUROPE, [protocol]))
  })
})
