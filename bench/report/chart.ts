/**
 * docs/benchmark.svg: horizontal bars of the median ratios, as the table prints them; the line at 1 is the
 * plain object. It can be read on a light and on a dark page.
 */
import { CASES } from '../case.ts'
import type { Row } from '../measure.ts'
import type { Result } from '../result.ts'
import { subjectOf } from './tables.ts'

const BAR = 16
const STEP = BAR + 6
const LEFT = 330
const WIDTH = 800

const STYLE = `
  .page { fill: #ffffff; stroke: #d1d9e0 }
  text { fill: #1f2328; font: 12px system-ui, sans-serif }
  .head { font-weight: 600 }
  line { stroke: #1f2328; stroke-dasharray: 4 3 }
  .baton { fill: #d98c4a }
  .other { fill: #7a8fb8 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3 }
    line { stroke: #e6edf3 }
  }
`

interface Bar {
  readonly label: string
  readonly ratio: number
  readonly kind: 'baton' | 'other'
}

/** One group of bars for each case, of what has three participants. */
function groupsOf(rows: readonly Row[]): { readonly title: string; readonly bars: readonly Bar[] }[] {
  return CASES.flatMap(name => {
    const bars = rows
      .filter(row => row.case === name && row.participants === 3 && row.ratio !== null)
      .map(
        (row): Bar => ({
          label: subjectOf(row),
          ratio: Number(row.ratio!.median.toFixed(2)),
          kind: row.subject.startsWith('wme') ? 'baton' : 'other',
        }),
      )
    return bars.length === 0 ? [] : [{ title: name, bars }]
  })
}

export function chart({ rows }: Pick<Result, 'rows'>): string {
  const groups = groupsOf(rows)
  const all = groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio))
  const scale = (WIDTH - LEFT - 60) / Math.max(...all, 2)
  const lines = groups.flatMap(({ title, bars }) => [title, ...bars])
  const height = lines.length * STEP + 50
  const drawn = lines.map((line, index) => {
    const y = 30 + index * STEP
    return typeof line === 'string'
      ? `<text class="head" x="12" y="${y + 12}">${line}</text>`
      : drawBar(line, y, scale)
  })
  const one = (LEFT + scale).toFixed(1)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>Time relative to a plain Durable Object</title>
<style>${STYLE}</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<text x="${LEFT}" y="18">time relative to a plain Durable Object (the line); shorter is quicker</text>
${drawn.join('\n')}
<line x1="${one}" x2="${one}" y1="24" y2="${height - 10}"/>
</svg>
`
}

function drawBar({ label, ratio, kind }: Bar, y: number, scale: number): string {
  const width = ratio * scale
  const end = (LEFT + Math.max(width, scale) + 4).toFixed(1)
  return `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${label}</text>
<rect class="${kind}" x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}"/>
<text x="${end}" y="${y + 12}">${ratio.toFixed(2)}</text>`
}
