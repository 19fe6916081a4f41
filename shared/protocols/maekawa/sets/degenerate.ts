/**
 * Sets for numbers of nodes that no projective plane has. The paper relaxes (c) and (d) for them; this
 * construction need not. Put the nodes in a circle and choose a few steps d_1, …, d_K such that every
 * distance around the circle is the difference of two of them. The sets i + {d_1, …, d_K} all have K members,
 * and every node is in K of them. Any two of them meet: the distance j - i is some d - e, so i + d and j + e
 * are the same node. Only K is larger than that of a plane would be.
 */
import { COVERS } from './covers.ts'
import type { MemberSets } from './verify.ts'

export function cyclicSets(participants: number): MemberSets {
  const steps = COVERS[participants] ?? twoScales(participants)
  return Array.from({ length: participants }, (_, node) =>
    steps.map(step => ((node + step) % participants) + 1).sort((a, b) => a - b),
  )
}

/**
 * Every distance up to half the circle is a multiple of `unit` minus one of 0, …, unit - 1: about √(2N)
 * steps, for any N.
 */
export function twoScales(participants: number): number[] {
  const half = Math.floor(participants / 2)
  const unit = Math.max(1, Math.round(Math.sqrt(half)))
  const steps = new Set<number>()
  for (let small = 0; small < unit; small++) steps.add(small)
  for (let large = unit; large < half + unit; large += unit) steps.add(large % participants)
  return [...steps]
}
