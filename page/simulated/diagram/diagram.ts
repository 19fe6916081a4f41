/**
 * The space-time diagram: a line for each participant, arrows, critical sections as bars, epochs in colour.
 */
import type { Tape } from '../engine/tape.ts'
import { Axes, LABELS_WIDTH, TOP } from './axes.ts'
import type { Frame } from './frame.ts'
import { lineShapes } from './lines.ts'
import { markShapes, sectionShapes } from './marks.ts'
import { messageShapes } from './messages.ts'
import { round, type Shape, shape } from './shape.ts'

export interface Diagram {
  readonly shapes: readonly Shape[]
  readonly labels: readonly Shape[]
  readonly left: number
  readonly width: number
  readonly height: number
  /** Where the reader is, from the left edge. */
  readonly cursor: number
}

const RIGHT = 46
/** Between two times that are written. */
const TIME_APART = 90

export function diagramOf(tape: Tape, frame: Frame): Diagram {
  const axes = new Axes(tape)
  const left = frame.first === 0 ? 0 : axes.x(frame.first) - 10
  const width = axes.x(frame.end - 1) - left + RIGHT
  const cursor = axes.x(frame.position - 1)
  const sections = sectionShapes(tape, axes, frame)
  return {
    shapes: [
      ...timeShapes(tape, axes, frame),
      ...sections.bars,
      ...lineShapes(tape, axes, frame),
      ...messageShapes(tape, axes, frame),
      ...markShapes(tape, axes, frame),
      ...sections.names,
      ...veilShapes(axes, frame, cursor),
    ],
    labels: axes.participants.flatMap(id => labelShapes(id, axes.y(id))),
    left: round(left),
    width: Math.ceil(width),
    height: axes.height,
    cursor: round(cursor - left),
  }
}

function labelShapes(id: number, y: number): Shape[] {
  const x = LABELS_WIDTH / 2 - 2
  return [
    shape('circle', { class: 'label-body', cx: x, cy: y, r: 12 }),
    shape('text', { class: 'label', x, y: y + 4 }, String(id)),
  ]
}

/** Where the reader is, and what is still to come, veiled. */
function veilShapes(axes: Axes, { end, position }: Frame, x: number): Shape[] {
  const y1 = TOP - 12
  const line = shape('line', { class: 'cursor', x1: round(x), x2: round(x), y1, y2: axes.height })
  if (position >= end) return [line]
  const width = round(axes.x(end - 1) - x + RIGHT)
  return [shape('rect', { class: 'veil', x: round(x), y: y1, width, height: axes.height - y1 }), line]
}

function timeShapes(tape: Tape, axes: Axes, { first, end }: Frame): Shape[] {
  const shapes: Shape[] = []
  let written = Number.NEGATIVE_INFINITY
  for (let moment = first; moment < end; moment++) {
    const x = axes.x(moment)
    if (axes.isShortened(tape, moment)) shapes.push(pauseShape(x))
    if (x - written < TIME_APART) continue
    written = x
    const [x1, x2] = [round(x), round(x)]
    shapes.push(shape('line', { class: 'grid', x1, x2, y1: TOP - 8, y2: axes.height }))
    shapes.push(
      shape(
        'text',
        { class: 'time', x: round(x + 3), y: TOP - 16 },
        `${Math.round(tape.moments[moment]!.at)} ms`,
      ),
    )
  }
  return shapes
}

/** Here more time passed than is drawn. */
function pauseShape(x: number): Shape {
  return shape('path', { class: 'pause', d: `M${round(x - 34)} ${TOP - 6}l4 -8m3 0l-4 8` })
}

export { LABELS_WIDTH }
