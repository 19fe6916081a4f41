/** A failover as a timeline: the region with the token dies while somebody waits elsewhere. */
import { type BoxOptions, box, line, picture, step, text } from './svg.ts'

const LEFT = 128
const LANES = [
  { y: 58, name: 'Europe' },
  { y: 122, name: 'America' },
  { y: 186, name: 'Asia' },
] as const
const HEIGHT = 44

const [EUROPE, AMERICA, ASIA] = [0, 1, 2]
/** When things happen, from left to right. */
const TIMES = {
  start: LEFT,
  wait: 176,
  death: 236,
  silent: 404,
  sealed: 540,
  decided: 610,
  back: 640,
  end: 744,
}
type Time = keyof typeof TIMES

function span(lane: number, from: Time, to: Time, words: readonly string[], options: BoxOptions): string {
  const [left, right] = [TIMES[from], TIMES[to]]
  const area = { x: left + 1, y: LANES[lane]!.y, width: right - left - 2, height: HEIGHT }
  return box(area, words, { small: true, ...options })
}

const moment = (time: Time, number: number): string =>
  [
    line(
      [
        { x: TIMES[time], y: 44 },
        { x: TIMES[time], y: 244 },
      ],
      { tone: 'quiet', head: 'none', dashed: true },
    ),
    step({ x: TIMES[time], y: 34 }, number),
  ].join('\n')

export function failover(): string {
  const legend = [
    'The region that holds the token dies. A client in America is waiting.',
    'The owner is silent for longer than its answers take, or its connection failed. America asks Asia.',
    'Asia gets no answer either. Both seal the epoch: nothing of it can be stored any more.',
    'Both agree on what was stored and on the next owner. The client gets a higher fence.',
    'Europe comes back and catches up. Its old holder hears that it was ejected.',
  ]
  return picture(
    { width: 760, height: 400 },
    {
      title: 'A failover',
      description: legend.join(' '),
    },
    [
      ...LANES.map(({ y, name }) => text({ x: 20, y: y + 27 }, name, { strong: true })),
      moment('death', 1),
      moment('silent', 2),
      moment('sealed', 3),
      moment('decided', 4),
      moment('back', 5),
      span(EUROPE!, 'start', 'death', ['has the token'], { tone: 'good' }),
      span(EUROPE!, 'death', 'back', ['is gone'], { tone: 'bad' }),
      span(EUROPE!, 'back', 'end', ['catches up'], { tone: 'plain' }),
      span(AMERICA!, 'wait', 'silent', ['waits, and asks the owner'], { tone: 'plain' }),
      span(AMERICA!, 'silent', 'sealed', ['suspects'], { tone: 'bad' }),
      span(AMERICA!, 'sealed', 'decided', ['agrees'], { tone: 'accent' }),
      span(AMERICA!, 'decided', 'end', ['has the token'], { tone: 'good' }),
      span(ASIA!, 'start', 'silent', ['has a copy'], { tone: 'quiet' }),
      span(ASIA!, 'silent', 'sealed', ['no answer either'], { tone: 'bad' }),
      span(ASIA!, 'sealed', 'decided', ['agrees'], { tone: 'accent' }),
      span(ASIA!, 'decided', 'end', ['has a copy'], { tone: 'quiet' }),
      ...legend.flatMap((words, index) => [
        step({ x: 34, y: 272 + index * 26 }, index + 1),
        text({ x: 52, y: 277 + index * 26 }, words, { small: true }),
      ]),
    ],
  )
}
