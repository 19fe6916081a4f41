/**
 * Sets for a few nodes less than a projective plane has points. From the plane of order k we take away the
 * points 1, …, r (where the vertical lines meet, and where the lines of the slopes 0, …, r - 2 meet), and as
 * many lines: the one through all of these points, and the verticals of the columns 0, …, r - 2. That leaves
 * each node with a line through it.
 *
 * Lines that met in a point that is gone must meet elsewhere. They are the sets of a small group of nodes, so
 * they get what a small group needs: of the k nodes of column s, whose lines had the slope s, the y-th gets
 * the nodes of S_y among k in the same column; and so do the lowest nodes of the columns that have kept their
 * verticals.
 */
import { columnPoint, planeOf, pointsOf, slopePoint } from './projective-plane.ts'
import type { MemberSets } from './verify.ts'

/**
 * `setsFor` makes the sets of the small groups. Returns `null` unless k² ≤ N ≤ k² + k for some k that is a
 * power of a prime.
 */
export function truncatedPlane(
  participants: number,
  setsFor: (participants: number) => MemberSets,
): MemberSets | null {
  const order = Math.floor(Math.sqrt(participants))
  const removed = pointsOf(order) - participants
  const plane = order > 1 && removed > 0 ? planeOf(order) : null
  if (plane === null) return null

  const lines = [...plane]
  const columns = removed - 1
  /** The nodes of a group whose lines no longer meet; each of them is on its own line. */
  const join = (group: readonly number[]): void => {
    const sets = group.length > 0 ? setsFor(group.length) : []
    for (const [index, node] of group.entries()) {
      const others = sets[index]!.map(member => group[member - 1]!)
      lines[node - 1] = [...lines[node - 1]!, ...others]
    }
  }
  for (let s = 0; s < columns; s++) {
    // The line of slope s that was the set of the removed point now serves the node whose vertical line is
    // gone.
    lines[columnPoint(order, s, 0) - 1] = lines[slopePoint(s) - 1]!
    join(Array.from({ length: order }, (_, y) => columnPoint(order, s, y)))
  }
  join(Array.from({ length: order - columns }, (_, x) => columnPoint(order, columns + x, 0)))
  return lines.slice(removed).map(line => {
    const members = new Set(line.filter(point => point > removed).map(point => point - removed))
    return [...members].sort((a, b) => a - b)
  })
}
