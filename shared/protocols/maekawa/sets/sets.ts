/** The sets S_1, …, S_N for any number of nodes, made once for each. Every participant makes the same. */
import { assert } from '../../step.ts'
import { cyclicSets } from './degenerate.ts'
import { projectivePlane } from './projective-plane.ts'
import { type MemberSets, problemOf } from './verify.ts'

const made = new Map<number, MemberSets>()

export function memberSets(participants: number): MemberSets {
  const known = made.get(participants)
  if (known !== undefined) return known
  const sets = projectivePlane(participants) ?? cyclicSets(participants)
  assert(problemOf(sets) === null, `the sets for ${participants} nodes: ${problemOf(sets)}`)
  made.set(participants, sets)
  return sets
}
