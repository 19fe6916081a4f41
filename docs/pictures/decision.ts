/** Plain object or Baton? A decision tree. */
import { box, line, picture, text } from './svg.ts'

const QUESTION_WIDTH = 376
const LEFT = 20
const ANSWER_LEFT = 462

interface Question {
  readonly asked: readonly string[]
  /** What to take if the answer is the one on the right. */
  readonly otherwise: readonly string[]
  readonly turn: 'yes' | 'no'
}

const QUESTIONS: readonly Question[] = [
  {
    asked: ['Must two clients never do this', 'at the same time?'],
    turn: 'no',
    otherwise: ['No lock', 'a queue, a database, or nothing'],
  },
  {
    asked: ['May it stop while one region of your', 'provider is down?'],
    turn: 'yes',
    otherwise: ['A plain Durable Object', 'one place, cheaper, simpler'],
  },
  {
    asked: ['Can a write wait for a round trip', 'between regions?'],
    turn: 'no',
    otherwise: ['A plain Durable Object', 'near the users, without replicas'],
  },
  {
    asked: ['Does the state fit into 8 MB, or can what the', 'lock protects check a fence?'],
    turn: 'no',
    otherwise: ['A database with transactions', 'no lock service can help there'],
  },
]

const ROW = 92
const HEIGHT = 58

export function decision(): string {
  const rows = QUESTIONS.flatMap(({ asked, otherwise, turn }, index) => {
    const y = 24 + index * ROW
    const middle = LEFT + QUESTION_WIDTH / 2
    return [
      box({ x: LEFT, y, width: QUESTION_WIDTH, height: HEIGHT }, asked),
      line([
        { x: LEFT + QUESTION_WIDTH + 2, y: y + HEIGHT / 2 },
        { x: ANSWER_LEFT - 2, y: y + HEIGHT / 2 },
      ]),
      text({ x: (LEFT + QUESTION_WIDTH + ANSWER_LEFT) / 2 - 4, y: y + HEIGHT / 2 - 7 }, turn, {
        anchor: 'middle',
        small: true,
        tone: 'quiet',
      }),
      box({ x: ANSWER_LEFT, y, width: 278, height: HEIGHT }, otherwise, { titled: true }),
      line([
        { x: middle, y: y + HEIGHT + 2 },
        { x: middle, y: y + ROW - 2 },
      ]),
      text({ x: middle + 10, y: y + HEIGHT + 21 }, turn === 'no' ? 'yes' : 'no', {
        small: true,
        tone: 'quiet',
      }),
    ]
  })
  const y = 24 + QUESTIONS.length * ROW
  return picture(
    { width: 760, height: y + HEIGHT + 24 },
    {
      title: 'Plain object or Baton?',
      description: [
        ...QUESTIONS.map(
          ({ asked, otherwise, turn }) => `${asked.join(' ')} If ${turn}: ${otherwise.join(', ')}.`,
        ),
        'Otherwise: Baton.',
      ].join(' '),
    },
    [
      ...rows,
      box(
        { x: LEFT, y, width: QUESTION_WIDTH, height: HEIGHT },
        ['Baton', 'keep the state in the lock, or use its fence'],
        {
          tone: 'good',
          titled: true,
        },
      ),
    ],
  )
}
