/** A holder that stood still too long is refused by its fence. Time runs from top to bottom. */
import { box, line, type Point, picture, type Tone, text } from './svg.ts'

const LANES = { a: 110, lock: 300, b: 490, database: 660 } as const
type Lane = keyof typeof LANES
const TOP = 64
const BOTTOM = 452

const at = (lane: Lane, y: number): Point => ({ x: LANES[lane], y })

/** An arrow from one lane to another, with its words above it. */
function message(from: Lane, to: Lane, y: number, words: string, tone: Tone = 'plain'): string {
  const direction = LANES[to] > LANES[from] ? 1 : -1
  const shift = 7 * direction
  const middle = (LANES[from] + LANES[to]) / 2
  return [
    line(
      [
        { x: LANES[from] + shift, y },
        { x: LANES[to] - shift, y },
      ],
      { tone },
    ),
    text({ x: middle, y: y - 7 }, words, {
      small: true,
      anchor: 'middle',
      ...(tone === 'plain' ? {} : { tone }),
    }),
  ].join('\n')
}

const bar = (lane: Lane, from: number, to: number, tone: Tone): string =>
  box({ x: LANES[lane] - 6, y: from, width: 12, height: to - from }, [], { tone })

export function staleHolder(): string {
  const heads = [
    box({ x: 50, y: 22, width: 120, height: 36 }, ['client A'], { titled: true }),
    box({ x: 240, y: 22, width: 120, height: 36 }, ['the lock'], { titled: true, tone: 'accent' }),
    box({ x: 430, y: 22, width: 120, height: 36 }, ['client B'], { titled: true }),
    box({ x: 590, y: 22, width: 140, height: 36 }, ['your database'], { titled: true }),
  ]
  const lanes = (Object.keys(LANES) as Lane[]).map(lane =>
    line([at(lane, TOP), at(lane, BOTTOM)], { tone: 'quiet', head: 'none' }),
  )
  return picture(
    { width: 760, height: 476 },
    {
      title: 'A stale holder is refused by its fence',
      description:
        'Client A gets the lock with fence 7 and stands still. Its grant ends, and client B gets fence 8 and writes ' +
        'to the database with it. When A wakes up, the lock refuses its operation with status 410, and the database ' +
        'refuses its write, because 7 is lower than 8.',
    },
    [
      ...heads,
      ...lanes,
      bar('a', 118, 168, 'good'),
      message('a', 'lock', 92, 'acquire'),
      message('lock', 'a', 118, 'granted, fence 7', 'good'),
      bar('a', 168, 330, 'bad'),
      text({ x: 94, y: 240 }, 'A stands', { small: true, tone: 'bad', anchor: 'end' }),
      text({ x: 94, y: 257 }, 'still', { small: true, tone: 'bad', anchor: 'end' }),
      message('b', 'lock', 158, 'acquire, and wait'),
      box({ x: 210, y: 178, width: 180, height: 30 }, ['the grant of A is over'], {
        tone: 'bad',
        small: true,
      }),
      message('lock', 'b', 238, 'granted, fence 8', 'good'),
      bar('b', 238, 440, 'good'),
      message('b', 'database', 276, 'write, fence 8', 'good'),
      text({ x: 672, y: 280 }, 'keeps 8', { small: true, tone: 'good' }),
      text({ x: 94, y: 335 }, 'A wakes up', { small: true, anchor: 'end' }),
      message('a', 'lock', 338, 'apply, under fence 7'),
      message('lock', 'a', 368, '410: it is over', 'bad'),
      message('a', 'database', 416, ''),
      text({ x: 205, y: 409 }, 'write, fence 7', { small: true, anchor: 'middle' }),
      text({ x: 672, y: 412 }, 'refuses:', { small: true, tone: 'bad' }),
      text({ x: 672, y: 429 }, '7 < 8', { small: true, tone: 'bad' }),
    ],
  )
}
