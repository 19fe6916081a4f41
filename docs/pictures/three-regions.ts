/** Three regions and the token: the picture at the top of the README. */
import { box, line, picture, step, text } from './svg.ts'

const REGION = { y: 48, width: 222, height: 232 }
const REGIONS = [
  { x: 20, name: 'Eastern North America', participant: 'participant 2' },
  { x: 269, name: 'Western Europe', participant: 'participant 1' },
  { x: 518, name: 'Asia', participant: 'participant 3' },
] as const
const MIDDLE = 1

export function threeRegions(): string {
  const regions = REGIONS.flatMap(({ x, name, participant }, index) => [
    box({ x, ...REGION }, [name], { tone: 'quiet', titled: true, align: 'top' }),
    box({ x: x + 31, y: 84, width: 160, height: 46 }, ['your edge function'], {
      tone: index === MIDDLE ? 'plain' : 'quiet',
    }),
    box({ x: x + 31, y: 180, width: 160, height: 62 }, [participant, 'a copy of the state'], {
      titled: true,
    }),
  ])
  return picture(
    { width: 760, height: 388 },
    {
      title: 'One lock, three regions, one token',
      description:
        'Each region has a participant with a copy of the guarded state. The participant in Western Europe has the ' +
        'token. A function there takes the lock at once. Its operation is answered when two of the three ' +
        'participants have stored it.',
    },
    [
      text({ x: 380, y: 30 }, 'one lock, three regions, one token', { strong: true, anchor: 'middle' }),
      ...regions,
      box({ x: 345, y: 250, width: 70, height: 24 }, ['token'], { tone: 'accent', titled: true }),
      line([
        { x: 380, y: 130 },
        { x: 380, y: 178 },
      ]),
      step({ x: 398, y: 155 }, 1),
      line(
        [
          { x: 298, y: 211 },
          { x: 213, y: 211 },
        ],
        { head: 'both' },
      ),
      step({ x: 255, y: 193 }, 2),
      line(
        [
          { x: 462, y: 211 },
          { x: 547, y: 211 },
        ],
        { head: 'both' },
      ),
      step({ x: 505, y: 193 }, 2),
      line(
        [
          { x: 419, y: 262 },
          { x: 629, y: 262 },
          { x: 629, y: 246 },
        ],
        { tone: 'accent', dashed: true },
      ),
      step({ x: 505, y: 262 }, 3),
      step({ x: 34, y: 312 }, 1),
      text({ x: 52, y: 317 }, 'Where the token is, taking the lock asks nobody.'),
      step({ x: 34, y: 340 }, 2),
      text(
        { x: 52, y: 345 },
        'An operation is answered when most participants have stored it: here, two of three.',
      ),
      step({ x: 34, y: 368 }, 3),
      text(
        { x: 52, y: 373 },
        'When the work moves to Asia, the token goes there. If Europe dies, the others go on.',
      ),
    ],
  )
}
