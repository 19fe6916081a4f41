/** The arrows of the diagram: one for each message, with a cross where it is lost. */
import type { Message, Tape } from '../engine/tape.ts'
import { messageName } from '../engine/words.ts'
import type { Axes } from './axes.ts'
import type { Frame } from './frame.ts'
import { Names } from './names.ts'
import { round, type Shape, shape } from './shape.ts'

/** The failure detector's, and others that say only that somebody is there. */
const QUIET = ['ping', 'alive', 'are-you-there', 'yes-i-am-here']
/** The end of an epoch, or the choice of a coordinator. */
const DECIDING = [
  'pre-vote',
  'pre-vote-reply',
  'new-epoch',
  'prepare',
  'promise',
  'accept',
  'accepted',
  'reject',
  'decision',
]
const HEAD = 6
/** How far the arrow of a message that is lost or on its way is drawn. */
const PART = 0.55
const STUB_WIDTH = 40

export const messageKind = (type: string): string =>
  QUIET.includes(type) ? 'quiet' : DECIDING.includes(type) ? 'deciding' : 'plain'

export function messageShapes(tape: Tape, axes: Axes, frame: Frame): Shape[] {
  const shapes: Shape[] = []
  const names = new Names()
  const last = tape.moments[frame.end - 1]?.sent ?? 0
  for (let number = 0; number < last; number++) {
    const message = tape.messages[number]!
    const isSeen = Math.max(message.sentIn, message.receivedIn ?? 0) >= frame.first
    if (isSeen) shapes.push(arrow(tape, message, axes, frame, names))
  }
  return shapes
}

function arrow(tape: Tape, message: Message, axes: Axes, { end }: Frame, names: Names): Shape {
  const { from, to, type, sentIn, receivedIn } = message
  const [x1, y1, y2] = [axes.x(sentIn), axes.y(from), axes.y(to)]
  const hasArrived = receivedIn !== null && receivedIn < end
  const title = `${messageName(type)} from ${from} to ${to}`
  if (hasArrived) {
    const kind = `message ${messageKind(type)}`
    const x2 = axes.x(receivedIn)
    const name = QUIET.includes(type) ? null : names.place(messageName(type), x1, y1, x2, y2)
    const parts = [shape('title', {}, title), ...pointing(x1, y1, x2, y2)]
    return shape('g', { class: kind }, ...parts, ...(name === null ? [] : [name]))
  }
  const isLost = isLostBy(tape, message, end)
  const x2 = x1 + STUB_WIDTH * PART
  const y = y1 + (y2 - y1) * PART
  const kind = `message ${messageKind(type)}${isLost ? ' lost' : ' flying'}`
  const tip = isLost ? cross(x2, y) : shape('circle', { class: 'tip', cx: round(x2), cy: round(y), r: 2.5 })
  const words = `${title}, ${isLost ? 'lost' : 'on its way'}`
  return shape('g', { class: kind }, shape('title', {}, words), shaft(x1, y1, x2, y), tip)
}

/** A message to a participant that is down arrives, and nobody is there. */
function isLostBy(tape: Tape, { arrivesAt, receivedIn }: Message, end: number): boolean {
  if (arrivesAt === null) return true
  return receivedIn === null && arrivesAt < (tape.moments[end - 1]?.at ?? 0)
}

const shaft = (x1: number, y1: number, x2: number, y2: number): Shape =>
  shape('line', { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2) })

function pointing(x1: number, y1: number, x2: number, y2: number): Shape[] {
  const length = Math.hypot(x2 - x1, y2 - y1)
  const [along, across] = [(x2 - x1) / length, (y2 - y1) / length]
  // The head ends where the line of the participant begins to be thick.
  const [tipX, tipY] = [x2 - along * 3, y2 - across * 3]
  const corner = (side: number) =>
    `${round(tipX - along * HEAD + side * across * HEAD * 0.45)} ${round(tipY - across * HEAD - side * along * HEAD * 0.45)}`
  const head = `M${round(tipX)} ${round(tipY)}L${corner(1)}L${corner(-1)}Z`
  return [shaft(x1, y1, tipX, tipY), shape('path', { class: 'head', d: head })]
}

const cross = (x: number, y: number): Shape =>
  shape('path', {
    class: 'cross',
    d: `M${round(x - 3.5)} ${round(y - 3.5)}l7 7m0 -7l-7 7`,
  })
