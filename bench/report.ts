/** The benchmark's table, chart and page. */
import { wrap } from './wrap.ts'

export interface Row {
  readonly protocol: string
  readonly participants: number
  readonly name: string
  readonly yardstick: string
  /** One value for each round. */
  readonly ratios: number[]
  readonly milliseconds: number[]
  readonly requests: number[]
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

export function table(rows: readonly Row[]): string {
  const head = [
    '| protocol | N | what | ratio (quartiles) | to | ms | requests between objects |',
    '|---|---|---|---|---|---|---|',
  ]
  const body = rows.map(({ protocol, participants, name, yardstick, ratios, milliseconds, requests }) => {
    const spread = `${quantile(ratios, 0.5).toFixed(2)} (${quantile(ratios, 0.25).toFixed(2)}-${quantile(ratios, 0.75).toFixed(2)})`
    const ms = quantile(milliseconds, 0.5).toFixed(2)
    return `| ${protocol} | ${participants} | ${name} | ${spread} | ${yardstick} | ${ms} | ${quantile(requests, 0.5).toFixed(1)} |`
  })
  return [...head, ...body].join('\n')
}

/** What the figures mean, as the page says it. */
export const EXPLANATION = [
  'Baton and the yardstick run side by side in one workerd process, in turns. A ratio compares the two within one ' +
    'round, and the table shows the median and the quartiles of all rounds. The yardstick (`bench/plain-lock.ts`) is ' +
    'one Durable Object behind a Worker of three lines. It has no validation, no keys, no fence and no queue, and ' +
    'nothing of it is left when its region is gone.',
  'In one process everything shares one thread, so this compares mostly processor time. For one operation with ' +
    'N = 3, the router, the owner and two more participants run on the thread on which the yardstick runs a Worker ' +
    'and one object. Deployed, each participant has a thread of its own, and the distance between regions counts ' +
    'instead: one round trip to the nearest majority.',
].map(paragraph => wrap(paragraph))

export function benchmarkPage(command: string, rows: readonly Row[]): string {
  return [
    '# The benchmark',
    `\`${command}\` wrote this page.`,
    ...EXPLANATION,
    table(rows),
    '## Aims',
    aims(rows),
    '![Time relative to a plain Durable Object](benchmark.svg)',
    '',
  ].join('\n\n')
}

interface Aim {
  readonly what: string
  readonly most: number
  measured(rows: readonly Row[]): number
}

const rowOf = (rows: readonly Row[], protocol: string, participants: number, name: string): Row =>
  rows.find(row => row.protocol === protocol && row.participants === participants && row.name === name)!

const AIMS: readonly Aim[] = [
  {
    what: "taking the lock again (acquire and release), to the plain object's",
    most: 1.2,
    measured: rows => quantile(rowOf(rows, 'wme-2', 3, 'acquire, token here').ratios, 0.5),
  },
  {
    what: "one operation, N = 3, to the plain object's durable write",
    most: 2,
    measured: rows => quantile(rowOf(rows, 'wme-2', 3, 'one operation').ratios, 0.5),
  },
  {
    what: 'requests between objects per operation, wme-2, N = 3, steady',
    most: 2,
    measured: rows => quantile(rowOf(rows, 'wme-2', 3, 'one operation').requests, 0.5),
  },
  {
    what: 'requests between objects per operation, wme-2, N = 5, steady',
    most: 4,
    measured: rows => quantile(rowOf(rows, 'wme-2', 5, 'one operation').requests, 0.5),
  },
]

/** Our aims, beside what was measured. */
export function aims(rows: readonly Row[]): string {
  const lines = AIMS.map(({ what, most, measured }) => {
    const value = measured(rows)
    return `| ${what} | ${most} | ${value.toFixed(2)} | ${value <= most ? 'met' : 'not met'} |`
  })
  return ['| aim | at most | measured | |', '|---|---|---|---|', ...lines].join('\n')
}

const BAR = 16
const LEFT = 300
const WIDTH = 760

const STYLE = `
  .page { fill: #ffffff; stroke: #d1d9e0 }
  text { fill: #1f2328; font: 12px system-ui, sans-serif }
  line { stroke: #1f2328; stroke-dasharray: 4 3 }
  .wme-1 { fill: #7a8fb8 }
  .wme-2 { fill: #d98c4a }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3 }
    line { stroke: #e6edf3 }
  }
`

/**
 * Horizontal bars of the median ratios, as the table prints them; the line at 1 is the plain object. It can
 * be read on a light and on a dark page.
 */
export function chart(rows: readonly Pick<Row, 'protocol' | 'participants' | 'name' | 'ratios'>[]): string {
  const ratios = rows.map(row => Number(quantile(row.ratios, 0.5).toFixed(2)))
  const scale = (WIDTH - LEFT - 60) / Math.max(...ratios, 2)
  const height = rows.length * (BAR + 6) + 50
  const bars = rows.map((row, index) => {
    const y = 30 + index * (BAR + 6)
    const width = ratios[index]! * scale
    const label = `${row.protocol}, N = ${row.participants}: ${row.name}`
    const end = (LEFT + Math.max(width, scale) + 4).toFixed(1)
    return `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${label}</text>
<rect class="${row.protocol}" x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}"/>
<text x="${end}" y="${y + 12}">${ratios[index]!.toFixed(2)}</text>`
  })
  const one = (LEFT + scale).toFixed(1)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>Time relative to a plain Durable Object</title>
<style>${STYLE}</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<text x="${LEFT}" y="18">time relative to a plain Durable Object (the line)</text>
${bars.join('\n')}
<line x1="${one}" x2="${one}" y1="24" y2="${height - 10}"/>
</svg>
`
}
