/**
 * The sets S_1, …, S_N for any number of nodes, computed once for each. Every participant computes the same
 * sets.
 */
import { assert } from '../../step.ts'
import { cyclicSets } from './degenerate.ts'
import { projectivePlane } from './projective-plane.ts'
import { truncatedPlane } from './truncated-plane.ts'
import { type MemberSets, measure, problemOf } from './verify.ts'

const made = new Map<number, MemberSets>()

export function memberSets(participants: number): MemberSets {
  const known = made.get(participants)
  if (known !== undefined) return known
  const sets = projectivePlane(participants) ?? bestOfOthers(participants)
  const problem = problemOf(sets)
  assert(problem === null, `the sets for ${participants} nodes: ${problem}`)
  made.set(participants, sets)
  return sets
}

/** The sets that need fewer messages; among equals, those that share the work more evenly. */
function bestOfOthers(participants: number): MemberSets {
  const cyclic = cyclicSets(participants)
  const truncated = truncatedPlane(participants, memberSets)
  return truncated !== null && measure(truncated).mean < measure(cyclic).mean ? truncated : cyclic
}
