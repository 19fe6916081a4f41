/**
 * The line of each participant: its epoch in colour, thick while it has the token, broken while it is down.
 */
import { type Seat, seatsAt, type Tape } from '../engine/tape.ts'
import type { Axes } from './axes.ts'
import type { Frame } from './frame.ts'
import { round, type Shape, shape } from './shape.ts'

const EPOCH_COLOURS = 6

export const epochClass = (epoch: number): string => `epoch-${epoch % EPOCH_COLOURS}`

export function lineShapes(tape: Tape, axes: Axes, { first, end }: Frame): Shape[] {
  const shapes: Shape[] = []
  const looks = new Map<number, { readonly look: string; readonly from: number }>()
  const change = (seat: Seat, moment: number) => {
    const earlier = looks.get(seat.id)
    const look = lookOf(seat)
    if (earlier?.look === look) return
    if (earlier !== undefined) shapes.push(line(axes, seat.id, earlier.look, earlier.from, moment))
    looks.set(seat.id, { look, from: moment })
  }
  for (const seat of seatsAt(tape, first + 1)) change(seat, first)
  for (let moment = first + 1; moment < end; moment++)
    for (const seat of tape.moments[moment]!.seats) change(seat, moment)
  for (const [id, { look, from }] of looks) shapes.push(line(axes, id, look, from, end - 1))
  return shapes
}

function lookOf(seat: Seat): string {
  if (seat.condition === 'down' || seat.condition === 'off') return 'life down'
  if (!seat.isMember) return 'life outside'
  const owns = seat.owner === seat.id ? ' owner' : ''
  const still = seat.condition === 'paused' ? ' paused' : ''
  return `life ${epochClass(seat.epoch)}${owns}${still}`
}

function line(axes: Axes, id: number, look: string, from: number, to: number): Shape {
  const y = axes.y(id)
  return shape('line', { class: look, x1: round(axes.x(from)), x2: round(axes.x(to)), y1: y, y2: y })
}
