/** docs/messages.svg: messages of a cycle against the number of participants. */
import type { MeasuredCycle } from './cost.ts'

interface Series {
  readonly title: string
  readonly label: string
  /** For a line that is covered by another one. */
  readonly isWide?: true
  /** For a light and for a dark background. */
  readonly colours: readonly [light: string, dark: string]
}

/** By the titles of the cycles. Those without an operation are dashed. */
const SERIES: readonly Series[] = [
  {
    title: 'wme-consensus, latency-optimal',
    label: 'wme-consensus, latency-optimal',
    colours: ['#8b5a00', '#e0a84a'],
  },
  {
    title: 'wme-1, where it was last used',
    label: 'wme-1, where last used',
    colours: ['#a3195b', '#ff7eb6'],
  },
  {
    title: 'wme-consensus, message-optimal',
    label: 'wme-consensus, message-optimal',
    colours: ['#b3541e', '#ff9d6c'],
  },
  {
    title: 'wme-2, elsewhere each time',
    label: 'wme-2, elsewhere each time',
    colours: ['#0b5cad', '#7cc0ff'],
  },
  {
    title: 'wme-2, where it was last used, in a row',
    label: 'wme-2, where last used',
    colours: ['#2f7fd0', '#4a94dc'],
    isWide: true,
  },
  { title: 'ricart-agrawala', label: 'ricart-agrawala', colours: ['#4b4b4b', '#d0d0d0'] },
  { title: 'ricart-agrawala, ring', label: 'ricart-agrawala, ring', colours: ['#5f3dc4', '#b8a1ff'] },
  { title: 'maekawa', label: 'maekawa', colours: ['#1f7a3a', '#6fd18b'] },
]

const LOCK_ONLY = /^(ricart-agrawala|maekawa)/

const WIDTH = 860
const HEIGHT = 480
const PLOT = { left: 56, right: 540, top: 56, bottom: 424 }
const Y_MOST = 2_000
const Y_LEAST = 2
const Y_TICKS = [2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]
const LABEL_GAP = 17

export function chart(cycles: readonly MeasuredCycle[]): string {
  const sizes = cycles[0]!.costs.map(({ participants }) => participants)
  const [first, last] = [sizes[0]!, sizes.at(-1)!]
  const x = (participants: number): number =>
    PLOT.left + ((participants - first) / (last - first)) * (PLOT.right - PLOT.left)
  const y = (messages: number): number =>
    PLOT.bottom - (Math.log(messages / Y_LEAST) / Math.log(Y_MOST / Y_LEAST)) * (PLOT.bottom - PLOT.top)

  const drawn = SERIES.map((series, index) => {
    const points = cycles.find(({ title }) => title === series.title)!.costs
    return { ...series, index, points, end: y(points.at(-1)!.messages) }
  })
  const places = spread(drawn.map(({ end }) => end))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title">`,
    '<title id="title">Messages of a lock cycle against the number of participants, logarithmic</title>',
    style(),
    text(PLOT.left, 24, 'Messages of a cycle: acquire, one operation, release', 'start', 'head'),
    text(
      PLOT.left,
      42,
      'Nice runs. Dashed: guards no state, so no operation. The scale is logarithmic.',
      'start',
    ),
    ...Y_TICKS.flatMap(tick => [
      `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${round(y(tick))}" y2="${round(y(tick))}"/>`,
      text(PLOT.left - 8, y(tick) + 4, tick.toLocaleString('en'), 'end'),
    ]),
    ...sizes.map(size => text(x(size), PLOT.bottom + 20, String(size), 'middle')),
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 42, 'participants', 'middle'),
    ...drawn.flatMap(({ points, index, label, end, isWide }) => {
      const path = points.map(
        ({ participants, messages }) => `${round(x(participants))},${round(y(messages))}`,
      )
      const isLockOnly = LOCK_ONLY.test(label)
      const place = places[index]!
      return [
        `<polyline class="line c${index}${isLockOnly ? ' dashed' : ''}${isWide ? ' wide' : ''}" points="${path.join(' ')}"/>`,
        ...points.map(
          ({ participants, messages }) =>
            `<circle class="dot c${index}" cx="${round(x(participants))}" cy="${round(y(messages))}" r="2.5"/>`,
        ),
        `<line class="leader c${index}" x1="${PLOT.right + 4}" y1="${round(end)}" x2="${PLOT.right + 18}" y2="${round(place)}"/>`,
        text(
          PLOT.right + 22,
          place + 4,
          `${label}: ${Math.round(points.at(-1)!.messages)}`,
          'start',
          `label c${index}`,
        ),
      ]
    }),
    '</svg>',
    '',
  ].join('\n')
}

/** Moves labels apart that would cover each other. */
function spread(wanted: readonly number[]): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => wanted[a]! - wanted[b]! || a - b)
  const places = [...wanted]
  for (let round = 0; round < 50; round++) {
    for (let at = 1; at < order.length; at++) {
      const [above, below] = [order[at - 1]!, order[at]!]
      const overlap = LABEL_GAP - (places[below]! - places[above]!)
      if (overlap <= 0) continue
      places[above]! -= overlap / 2
      places[below]! += overlap / 2
    }
  }
  return places
}

function style(): string {
  const colours = (scheme: 0 | 1): string =>
    SERIES.map(({ colours }, index) => {
      const colour = colours[scheme]
      return `.line.c${index},.leader.c${index}{stroke:${colour}}.dot.c${index},.label.c${index}{fill:${colour}}`
    }).join('')
  return (
    '<style>text{font:13px system-ui,sans-serif;fill:#333}.head{font-weight:600;font-size:15px}.label{font-weight:600}' +
    '.grid{stroke:#ddd}.line{fill:none;stroke-width:2}.leader{stroke-width:1}.wide{stroke-width:5}.dashed{stroke-dasharray:6 4}' +
    `${colours(0)}@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}${colours(1)}}</style>`
  )
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', kind = ''): string {
  const className = kind === '' ? '' : ` class="${kind}"`
  return `<text${className} x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${content}</text>`
}

const round = (value: number): number => Number(value.toFixed(1))
