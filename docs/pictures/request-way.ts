/** The way of one request through the service: `transact` of a client whose region has no token. */
import { box, line, picture, step, text } from './svg.ts'

export function requestWay(): string {
  const legend = [
    'The client sends one HTTPS request. It is answered by the Worker nearest to it.',
    'The router checks the key and the request, and calls the participant nearest to the client.',
    'The participant asks for the token if it is elsewhere, and stores its own log entry.',
    'It sends the entry to the other participants. Each stores it and acknowledges.',
    'When most of them have it, the operation is applied and the client gets its result.',
  ]
  return picture(
    { width: 760, height: 424 },
    { title: 'The way of a request', description: legend.join(' ') },
    [
      box({ x: 20, y: 86, width: 100, height: 60 }, ['client', 'any fetch'], { titled: true }),
      box(
        { x: 182, y: 66, width: 170, height: 100 },
        ['router', 'a stateless Worker', 'keys, schemas,', 'routing'],
        {
          titled: true,
        },
      ),
      box({ x: 420, y: 24, width: 150, height: 184 }, [], { tone: 'accent' }),
      text({ x: 495, y: 46 }, 'participant', { strong: true, anchor: 'middle' }),
      text({ x: 495, y: 64 }, 'a Durable Object', { small: true, anchor: 'middle' }),
      box({ x: 434, y: 78, width: 122, height: 52 }, ['protocol', 'pure function'], {
        small: true,
        titled: true,
      }),
      box({ x: 434, y: 146, width: 122, height: 52 }, ['SQLite', 'log and state'], {
        small: true,
        titled: true,
      }),
      line([
        { x: 495, y: 130 },
        { x: 495, y: 144 },
      ]),
      box({ x: 620, y: 34, width: 120, height: 66 }, ['participant', 'region 2'], { titled: true }),
      box({ x: 620, y: 130, width: 120, height: 66 }, ['participant', 'region 3'], { titled: true }),
      line(
        [
          { x: 122, y: 116 },
          { x: 180, y: 116 },
        ],
        { head: 'both' },
      ),
      step({ x: 151, y: 98 }, 1),
      line(
        [
          { x: 354, y: 116 },
          { x: 418, y: 116 },
        ],
        { head: 'both' },
      ),
      step({ x: 386, y: 98 }, 2),
      step({ x: 434, y: 138 }, 3),
      line(
        [
          { x: 572, y: 90 },
          { x: 618, y: 70 },
        ],
        { head: 'both' },
      ),
      line(
        [
          { x: 572, y: 142 },
          { x: 618, y: 160 },
        ],
        { head: 'both' },
      ),
      step({ x: 596, y: 116 }, 4),
      step({ x: 151, y: 134 }, 5),
      text({ x: 20, y: 248 }, 'One transact:', { strong: true }),
      ...legend.flatMap((words, index) => [
        step({ x: 34, y: 276 + index * 30 }, index + 1),
        text({ x: 52, y: 281 + index * 30 }, words),
      ]),
    ],
  )
}
