/**
 * Ballots: pairs (round, participant), written as one whole number that can be compared, stored and sent. Of
 * two ballots the one of the later round is higher, and no two participants ever have the same one.
 *
 * A ballot is 256 · round + digit. In every round each participant whose number is below 256 has a ballot:
 * its number is the digit. The digit 0 is for all larger numbers, which a lock gets in time when its members
 * come and go, because no number is used twice. They take turns: round r is the turn of the participant whose
 * number is r modulo 2^21. Even if they outbid only each other, the whole numbers last for 2^24 ballots.
 *
 * Earlier versions wrote 256 · round + number, or 1,024 · round + number in births, and no number was above
 * 13. By the rule above these are ballots of the same participants. So a ballot in storage, or from a peer
 * that still runs such a version, is compared and outbid like any other, and never means somebody else.
 */
import type { ParticipantId } from './protocol.ts'
import { assert } from './step.ts'

const DIGITS = 256
const TURNS = 2 ** 21

export const LARGEST_NUMBER: ParticipantId = TURNS - 1

/** 0 until somebody outbids a first ballot. */
export const roundOf = (ballot: number): number => Math.floor(ballot / DIGITS)

/** Whose ballot it is. */
export function proposerOf(ballot: number): ParticipantId {
  const digit = ballot % DIGITS
  return digit === 0 ? roundOf(ballot) % TURNS : digit
}

/** This participant's ballot in the first round after `highest` in which it has one. */
export function ballotAbove(highest: number, participant: ParticipantId): number {
  assert(participant >= 1 && participant <= LARGEST_NUMBER, 'the ballots have no room for this participant')
  const next = roundOf(highest) + 1
  const ballot =
    participant < DIGITS ? next * DIGITS + participant : (next + roundsUntilTurn(participant, next)) * DIGITS
  assert(Number.isSafeInteger(ballot), 'there is no higher ballot')
  return ballot
}

function roundsUntilTurn(participant: ParticipantId, round: number): number {
  return (((participant - round) % TURNS) + TURNS) % TURNS
}

/** The lowest ballot of this participant. */
export const firstBallot = (participant: ParticipantId): number => ballotAbove(-1, participant)
