/**
 * Section 3: a finite projective plane of order k = K - 1 has N = k(k + 1) + 1 points and as many lines; each
 * line has K points, each point lies on K lines, and any two lines meet in one point. Its lines are sets with
 * all the properties (a)-(d).
 *
 * The points are numbered as in Figure 1, and each line is the set of the node that Figure 1 gives it to:
 *   point 1               where the vertical lines meet;
 *   point 2 + s           where the lines of slope s meet, for each element s of the field;
 *   point K + 1 + kx + y  of column x and height y. The abscissa of column x is -1/x, and 0 for x = 0.
 */
import { type FiniteField, finiteField } from './finite-field.ts'
import type { MemberSets } from './verify.ts'

/** `null` unless N = k(k + 1) + 1 for some k that is 1 or a power of a prime. */
export function projectivePlane(participants: number): MemberSets | null {
  const order = Math.round((Math.sqrt(4 * participants - 3) - 1) / 2)
  return order >= 1 && pointsOf(order) === participants ? planeOf(order) : null
}

/** `null` unless the order is 1 or a power of a prime. */
export function planeOf(order: number): MemberSets | null {
  const field = order === 1 ? ONLY_ZERO : finiteField(order)
  return field === null ? null : linesOf(field)
}

export const pointsOf = (order: number): number => order * (order + 1) + 1

export const slopePoint = (s: number): number => 2 + s

export const columnPoint = (order: number, x: number, y: number): number => order + 2 + order * x + y

/** Figure 1(a) is a triangle. There is no field of one element, but this much arithmetic works. */
const ONLY_ZERO: FiniteField = { order: 1, add: () => 0, negate: () => 0, multiply: () => 0, invert: () => 0 }

function linesOf(field: FiniteField): MemberSets {
  const { order } = field
  const elements = Array.from({ length: order }, (_, element) => element)
  const point = (x: number, y: number): number => columnPoint(order, x, y)
  const abscissas = elements.map(x => (x === 0 ? 0 : field.negate(field.invert(x))))

  const sets: number[][] = new Array(pointsOf(order))
  const give = (node: number, line: number[]): void => {
    sets[node - 1] = line
  }
  give(1, [1, ...elements.map(slopePoint)])
  for (const x of elements) give(point(x, 0), [1, ...elements.map(y => point(x, y))])
  for (const s of elements) {
    const rises = abscissas.map(abscissa => field.multiply(s, abscissa))
    for (const b of elements) {
      const heights = rises.map(rise => field.add(rise, b))
      // Each node has a line through it (property (b)): one line of slope s goes through each point of column
      // s. The lowest of these points has the vertical line already.
      const node = heights[s] === 0 ? slopePoint(s) : point(s, heights[s]!)
      give(node, [slopePoint(s), ...heights.map((y, x) => point(x, y))])
    }
  }
  return sets
}
