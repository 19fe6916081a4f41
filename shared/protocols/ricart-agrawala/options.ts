/** Which of the paper's modifications (6, 7) go together. */
import type { ProtocolOptions } from '../protocol.ts'
import { NAMES } from './fence.ts'

/** Bounded so that the numbers of a lock last. */
export const LARGEST_INCREMENT = 1_024

const isWithin = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most

const isDuration = (value: unknown): boolean => isWithin(value, 1, Number.MAX_SAFE_INTEGER)

/** Returns a sentence that says what is wrong, or `null`. */
export function checkOptions(options: ProtocolOptions, participants: number): string | null {
  const checks = [
    checkKnown,
    checkImplicitReply,
    checkRing,
    checkModulus,
    checkIncrement,
    checkNames,
    checkDead,
  ]
  for (const check of checks) {
    const problem = check(options, participants)
    if (problem !== null) return problem
  }
  return null
}

type Check = (options: ProtocolOptions, participants: number) => string | null

const checkKnown: Check = ({ consensus }, participants) => {
  if (consensus !== undefined) return 'ricart-agrawala has no consensus to choose.'
  return participants < NAMES ? null : `ricart-agrawala has fewer than ${NAMES} participants.`
}

const checkImplicitReply: Check = ({ implicitReply, ring, declareDeadAfterMs }) => {
  if (implicitReply === undefined) return null
  if (!isDuration(implicitReply.roundTripMs))
    return 'implicitReply.roundTripMs must be a whole number of milliseconds, at least 1.'
  if (implicitReply.assumeNothingIsLostOrLate !== true)
    return 'implicitReply is unsafe when a message is lost or late: it needs assumeNothingIsLostOrLate: true.'
  if (ring !== undefined) return 'implicitReply and ring exclude each other: on a ring nobody replies.'
  if (declareDeadAfterMs !== undefined)
    return 'implicitReply and declareDeadAfterMs exclude each other: silence cannot mean both.'
  return null
}

const checkRing: Check = ({ ring }) =>
  ring === undefined || ring === 'waiting' || ring === 'marking' ? null : 'ring must be waiting or marking.'

const checkModulus: Check = ({ modulus, increment, declareDeadAfterMs }, participants) => {
  if (modulus === undefined) return null
  const least = 2 * participants - 1
  if (!isWithin(modulus, least, Number.MAX_SAFE_INTEGER))
    return `modulus must be a whole number, at least 2N-1 = ${least}.`
  if (increment !== undefined) return 'modulus and increment exclude each other: bounded numbers grow by one.'
  if (declareDeadAfterMs !== undefined)
    return 'modulus and declareDeadAfterMs exclude each other: bounded numbers need an N that stands still.'
  return null
}

const checkIncrement: Check = ({ increment }, participants) => {
  if (increment === undefined) return null
  const range = `a whole number from 1 to ${LARGEST_INCREMENT}`
  if (increment.type === 'random')
    return isWithin(increment.most, 1, LARGEST_INCREMENT) ? null : `increment.most must be ${range}.`
  if (increment.type !== 'priority') return 'increment.type must be random or priority.'
  if (increment.by.length !== participants) return 'increment.by must have one number for each participant.'
  return increment.by.every(by => isWithin(by, 1, LARGEST_INCREMENT))
    ? null
    : `each number of increment.by must be ${range}.`
}

const checkNames: Check = ({ names }, participants) => {
  if (names === undefined) return null
  if (names.length !== participants) return 'names must have one number for each participant.'
  if (new Set(names).size !== names.length) return 'names must differ from each other.'
  return names.every(name => isWithin(name, 1, NAMES - 1))
    ? null
    : `each of names must be a whole number from 1 to ${NAMES - 1}.`
}

const checkDead: Check = ({ declareDeadAfterMs }) =>
  declareDeadAfterMs === undefined || isDuration(declareDeadAfterMs)
    ? null
    : 'declareDeadAfterMs must be a whole number of milliseconds, at least 1.'
