/** docs/regions.svg: the default placement, a panel for each kind of work, in the style of docs/pictures/. */
import { box, line, picture, type Tone, text } from '../../docs/pictures/svg.ts'
import { type Contender, type Distribution, PLACEMENTS } from './measure.ts'
import type { Measurements } from './report.ts'
import { type Action, KINDS_OF_WORK, type Work } from './work.ts'

interface Bar {
  readonly contender: Contender
  readonly action: Action
  readonly label: string
  readonly tone: Tone
}

const BARS: readonly Bar[] = [
  { contender: 'wme-2', action: 'acquire', label: 'wme-2', tone: 'accent' },
  { contender: 'object', action: 'acquire', label: 'one object', tone: 'plain' },
  { contender: 'leader', action: 'acquire', label: 'a leader', tone: 'plain' },
  { contender: 'wme-consensus', action: 'acquire', label: 'wme-consensus', tone: 'quiet' },
  { contender: 'ricart-agrawala', action: 'acquire', label: 'ricart-agrawala', tone: 'quiet' },
  { contender: 'maekawa', action: 'acquire', label: 'maekawa', tone: 'quiet' },
  { contender: 'wme-2', action: 'transact', label: 'wme-2', tone: 'accent' },
  { contender: 'object', action: 'transact', label: 'one object, one call', tone: 'plain' },
  { contender: 'object, 3 calls', action: 'transact', label: 'one object, three calls', tone: 'plain' },
  { contender: 'leader', action: 'transact', label: 'a leader, one write', tone: 'plain' },
  { contender: 'leader, 3 calls', action: 'transact', label: 'a leader, three writes', tone: 'plain' },
  { contender: 'wme-consensus', action: 'transact', label: 'wme-consensus', tone: 'quiet' },
]

const WIDTH = 980
const LABELS = 172
const PANEL = { width: 252, gap: 16, top: 98 }
const ROW = 22
const BAR = 14
/** Room for the figure behind a bar. */
const FIGURE = 58
const TRANSACT_GAP = 34
const FIRST_TRANSACT = BARS.findIndex(({ action }) => action === 'transact')
const HEIGHT = PANEL.top + BARS.length * ROW + TRANSACT_GAP + 14

const yOf = (index: number): number => PANEL.top + index * ROW + (index >= FIRST_TRANSACT ? TRANSACT_GAP : 0)

export function chart(measurements: Measurements): string {
  const works = Object.keys(KINDS_OF_WORK) as Work[]
  const [placement] = PLACEMENTS
  return picture(
    { width: WIDTH, height: HEIGHT },
    {
      title: 'How long acquire and transact take between regions',
      description:
        `${placement!.title}, used from eleven cities. Bars are medians, and the lines behind them reach to the 99th ` +
        'percentile. Local, moving and contended work have scales of their own. docs/regions.md has every figure.',
    },
    [
      text({ x: 20, y: 30 }, 'Between regions: milliseconds from the call to its answer', { strong: true }),
      text(
        { x: 20, y: 51 },
        'Three participants on three continents, clients in eleven cities. Bar: median. Line: up to the 99th percentile.',
        { small: true, tone: 'quiet' },
      ),
      text({ x: 20, y: PANEL.top - 8 }, 'acquire', { strong: true, small: true }),
      text({ x: 20, y: yOf(FIRST_TRANSACT) - 8 }, 'transact', { strong: true, small: true }),
      ...BARS.map(({ label, tone }, index) =>
        text({ x: 20, y: yOf(index) + 12 }, label, { small: true, strong: tone === 'accent' }),
      ),
      ...works.flatMap((work, index) => panel(measurements, work, index)),
    ],
  )
}

function panel({ rows }: Measurements, work: Work, index: number): string[] {
  const left = 20 + LABELS + index * (PANEL.width + PANEL.gap)
  const title = PLACEMENTS[0]!.title
  const bars = BARS.map(bar => {
    const row = rows.find(
      ({ placement, contender, work: done }) =>
        placement === title && contender === bar.contender && done === work,
    )!
    return { ...bar, distribution: row[bar.action]! }
  })
  const most = Math.max(...bars.map(({ distribution }) => distribution.p99))
  const x = (milliseconds: number): number => left + (milliseconds / most) * (PANEL.width - FIGURE)
  return [
    text({ x: left, y: 80 }, `${work} work`, { strong: true }),
    ...bars.flatMap(({ tone, distribution }, place) => drawn(distribution, tone, yOf(place), left, x)),
  ]
}

function drawn(
  { p50, p99 }: Distribution,
  tone: Tone,
  y: number,
  left: number,
  x: (milliseconds: number) => number,
): string[] {
  const figure = Math.round(p50).toLocaleString('en')
  const middle = y + BAR / 2
  const ends = x(p99)
  return [
    line(
      [
        { x: x(p50), y: middle },
        { x: ends, y: middle },
      ],
      { head: 'none' },
    ),
    line(
      [
        { x: ends, y: y + 3 },
        { x: ends, y: y + BAR - 3 },
      ],
      { head: 'none' },
    ),
    box({ x: left, y, width: Math.max(2, x(p50) - left), height: BAR }, [], { tone }),
    text({ x: ends + 6, y: y + 12 }, figure, { small: true, strong: tone === 'accent' }),
  ]
}
