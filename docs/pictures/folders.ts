/** The folders and what imports what. */
import { box, line, picture, text } from './svg.ts'

export function folders(): string {
  return picture(
    { width: 760, height: 424 },
    {
      title: 'The folders, and what imports what',
      description:
        'shared has the protocols and everything else that is pure. worker, client, cli, page, test and bench import it, and it ' +
        'imports none of them. The client imports nothing but types from shared.',
    },
    [
      text({ x: 20, y: 32 }, 'what users run', { small: true, tone: 'quiet' }),
      box({ x: 20, y: 44, width: 160, height: 64 }, ['cli/ · page/', 'shell and browser'], { titled: true }),
      box({ x: 220, y: 44, width: 160, height: 64 }, ['client/', 'fetch and nothing else'], {
        titled: true,
        small: true,
      }),
      box({ x: 420, y: 44, width: 320, height: 64 }, ['worker/', 'router · participant · local launchers'], {
        titled: true,
      }),
      line([
        { x: 182, y: 76 },
        { x: 218, y: 76 },
      ]),
      line(
        [
          { x: 382, y: 76 },
          { x: 418, y: 76 },
        ],
        { dashed: true },
      ),
      text({ x: 400, y: 68 }, 'HTTP', { small: true, tone: 'quiet', anchor: 'middle' }),
      line(
        [
          { x: 300, y: 110 },
          { x: 300, y: 178 },
        ],
        { dashed: true },
      ),
      text({ x: 310, y: 150 }, 'types', { small: true, tone: 'quiet' }),
      line([
        { x: 580, y: 110 },
        { x: 580, y: 178 },
      ]),
      box(
        { x: 20, y: 180, width: 720, height: 112 },
        ['shared/', 'no clock, no randomness, no I/O, no await'],
        {
          tone: 'accent',
          titled: true,
          align: 'top',
        },
      ),
      ...['protocols/', 'birth/', 'resource/', 'history/', 'api/'].map((name, index) =>
        box({ x: 36 + index * 140, y: 238, width: 128, height: 40 }, [name], {}),
      ),
      line([
        { x: 200, y: 332 },
        { x: 200, y: 294 },
      ]),
      line([
        { x: 560, y: 332 },
        { x: 560, y: 294 },
      ]),
      box(
        { x: 20, y: 334, width: 350, height: 64 },
        ['test/', 'suites · simulator · explorer · chaos · mutants'],
        {
          titled: true,
          small: true,
        },
      ),
      box(
        { x: 390, y: 334, width: 350, height: 64 },
        ['bench/ · docs/ · examples/', 'figures, prose, a whole edge function'],
        {
          titled: true,
          small: true,
        },
      ),
    ],
  )
}
