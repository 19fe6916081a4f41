/** K7, sections 2 and 3: what the sets S_1, …, S_N must satisfy, and how close they come to the best. */
import type { ParticipantId } from '../../protocol.ts'

/** S_i at index i - 1, in increasing order. */
export type MemberSets = readonly (readonly ParticipantId[])[]

/**
 * Returns why these sets do not exclude each other, or `null`: checks properties (a) and (b), and that they
 * are sets of nodes.
 */
export function problemOf(sets: MemberSets): string | null {
  const nodes = sets.length
  /**
   * By node: the sets that it is in, so that the sets that meet S_i are found without looking at all pairs.
   */
  const containing: number[][] = Array.from({ length: nodes + 1 }, () => [])
  for (const [index, set] of sets.entries()) {
    const node = index + 1
    const isSet = set.every((member, at) => Number.isInteger(member) && member > (set[at - 1] ?? 0))
    if (!isSet || (set.at(-1) ?? 0) > nodes) return `S_${node} is no increasing list of nodes`
    if (!set.includes(node)) return `S_${node} does not contain ${node}`
    for (const member of set) containing[member]!.push(index)
  }
  for (const [index, set] of sets.entries()) {
    const meets = new Uint8Array(nodes)
    for (const member of set) for (const other of containing[member]!) meets[other] = 1
    const apart = meets.indexOf(0)
    if (apart !== -1) return `S_${index + 1} and S_${apart + 1} have no member in common`
  }
  return null
}

export interface Measures {
  readonly participants: number
  readonly smallest: number
  readonly largest: number
  readonly mean: number
  /** The mean size, relative to √N. */
  readonly perRoot: number
  /** How many sets a node is in, that is, for how many nodes it arbitrates. */
  readonly leastLoad: number
  readonly greatestLoad: number
  /** No sets with properties (a)-(d) are smaller: N ≤ K(K - 1) + 1. */
  readonly bound: number
}

export function measure(sets: MemberSets): Measures {
  const participants = sets.length
  const sizes = sets.map(set => set.length)
  const loads: number[] = new Array(participants).fill(0)
  for (const set of sets) for (const member of set) loads[member - 1]!++
  const mean = sizes.reduce((sum, size) => sum + size, 0) / participants
  return {
    participants,
    smallest: Math.min(...sizes),
    largest: Math.max(...sizes),
    mean,
    perRoot: mean / Math.sqrt(participants),
    leastLoad: Math.min(...loads),
    greatestLoad: Math.max(...loads),
    bound: Math.ceil((1 + Math.sqrt(4 * participants - 3)) / 2),
  }
}
