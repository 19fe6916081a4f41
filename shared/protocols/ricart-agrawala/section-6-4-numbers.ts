/**
 * How sequence numbers are compared (2.1, 6.4) and chosen (2.2, 6.5).
 *
 * 6.4 keeps them modulo M >= 2N-1. Here a number has two parts: its residue, which is all that is compared,
 * and the lap, which is never compared. The lap is part of the request's name, because messages are repeated
 * and may come late, and of the fence, because a fence must grow forever. The paper's argument (all numbers
 * in use lie between x and x+N-1) rests on assumptions that we must therefore keep:
 *   - N never changes: with a modulus no node joins, leaves or is declared dead;
 *   - a number is not dropped before it is granted, or the next ones would run away from a lower one that
 *     waits: with a modulus a request that nobody needs any more is not given up, but entered and left
 *     (`mayGiveUp`);
 *   - nothing is granted while a lower number waits, which is not so for readers (6.6): with a modulus all
 *     are writers;
 *   - numbers grow by one: there are no increments (6.5);
 *   - a request comes once: one that is older than every number in use is left out (`isOutdated`).
 */
import type { ProtocolOptions } from '../protocol.ts'
import type { Step } from './step.ts'

/** Which of two residues is the earlier: the smaller one is increased by M if the difference is N or more. */
export function isEarlierModulo(a: number, b: number, modulus: number, participants: number): boolean {
  if (Math.abs(a - b) < participants) return a < b
  return (a < b ? a + modulus : a) < (b < a ? b + modulus : b)
}

export const sequenceOf = (request: number, { modulus }: ProtocolOptions): number =>
  modulus === undefined ? request : request % modulus

/** Whether the first number is lower than the second. */
export function isLower(step: Step, a: number, b: number): boolean {
  const { options } = step
  if (options.modulus === undefined) return a < b
  const { participants } = step.context.config
  return isEarlierModulo(sequenceOf(a, options), sequenceOf(b, options), options.modulus, participants)
}

/**
 * With a modulus: a number too old to be in use belongs to a repeat that comes late. Its residue would mean
 * nothing.
 */
export function isOutdated(step: Step, request: number): boolean {
  const { participants } = step.context.config
  return step.options.modulus !== undefined && request <= step.state.durable.highest.request - participants
}

export const mayGiveUp = (step: Step): boolean => step.options.modulus === undefined

export const nextNumber = (step: Step): number => step.state.durable.highest.request + incrementOf(step)

/**
 * 6.5: one; or a random number, against the advantage that low names have; or more for nodes with less
 * priority.
 */
function incrementOf(step: Step): number {
  const { increment } = step.options
  switch (increment?.type) {
    case 'random':
      return 1 + (scatter(step.state.durable.highest.request, step.self) % increment.most)
    case 'priority':
      return increment.by[step.self - 1] ?? 1
    default:
      return 1
  }
}

/**
 * A step has no randomness. This is a function of what is durable and of who asks, random-looking enough to
 * be fair.
 */
export function scatter(number: number, participant: number): number {
  let hash = (number ^ Math.imul(participant, 0x9e3779b1)) >>> 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) >>> 0
  return (hash ^ (hash >>> 16)) >>> 0
}
