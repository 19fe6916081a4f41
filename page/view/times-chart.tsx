/** A small chart of how long something took: one bar for each range of times. */
import { quantile, type TimesBucket, trimmed } from './times.ts'
import { plural } from './words.ts'

export interface TimesChartProps {
  readonly title: string
  readonly buckets: readonly TimesBucket[]
}

const WIDTH = 240
const HEIGHT = 64

export function TimesChart({ title, buckets }: TimesChartProps) {
  const shown = trimmed(buckets)
  const total = shown.reduce((sum, { count }) => sum + count, 0)
  const highest = Math.max(1, ...shown.map(({ count }) => count))
  const step = WIDTH / Math.max(6, shown.length)
  const words =
    total === 0
      ? 'none yet'
      : `${plural(total, 'time')}, half ${within(quantile(buckets, 0.5))}, 95 % ${within(quantile(buckets, 0.95))}`
  return (
    <figure class="times">
      <figcaption>
        <strong>{title}</strong> <span class="soft">{words}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 16}`} role="img" aria-label={`${title}: ${words}`}>
        <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {shown.map(({ upToMs, count }, index) => {
          const height = (count / highest) * (HEIGHT - 4)
          return (
            <g key={upToMs}>
              <title>{`${within(upToMs)}: ${count}`}</title>
              <rect x={index * step + 1} y={HEIGHT - height} width={step - 2} height={height} rx="1.5" />
              {isLabelled(index, shown) && (
                <text x={index * step + step / 2} y={HEIGHT + 12}>
                  {upToMs === Number.POSITIVE_INFINITY ? 'more' : shortTime(upToMs)}
                </text>
              )}
            </g>
          )
        })}
      </svg>
    </figure>
  )
}

const within = (upToMs: number): string =>
  upToMs === Number.POSITIVE_INFINITY ? 'longer than measured' : `within ${shortTime(upToMs)}`

function shortTime(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  return ms < 60_000 ? `${ms / 1_000} s` : `${ms / 60_000} min`
}

/** Every label would not fit. */
function isLabelled(index: number, shown: readonly TimesBucket[]): boolean {
  return shown.length <= 5 || (index - 1) % Math.ceil(shown.length / 5) === 0
}
