/** The state that may be lost at any moment: how it begins, and which parts do not outlive an epoch. */
import { createDetector } from '../../detector.ts'
import { endAsking, NOBODY_ASKED } from '../asking.ts'
import type { ParticipantConfig } from '../protocol.ts'
import type { Durable, Incarnations, Round, Soft } from './state.ts'
import type { Step } from './step.ts'

export function createSoft(config: ParticipantConfig, durable: Durable, length: number): Soft {
  const { participants } = config
  // What an epoch began with was decided and applied, though grants alone do not move the applied index.
  const committed = Math.max(durable.progress.applied, durable.epoch.start)
  return {
    committed,
    acknowledged: new Array(participants + 1).fill(0),
    claims: new Array(participants + 1).fill(null),
    // What was appended before a restart counts as sent; the repeats take care of what was not.
    sent: new Array(participants + 1).fill(length),
    requests: [],
    detector: createDetector(participants),
    watch: null,
    leaseUntil: 0,
    voters: {},
    preVote: null,
    life: 0,
    rounds: 0,
    newEpochs: new Array(participants + 1).fill(null),
    proposal: null,
    proposeAttempts: 0,
    highestBallot: 0,
    joins: {},
    ejects: [],
    reads: [],
    announced: null,
    ...NOBODY_ASKED,
    incoming: null,
    outgoing: null,
    repeatAttempts: 0,
    idleRepeats: 0,
    told: new Array(participants + 1).fill(committed),
    roundTrips: new Array(participants + 1).fill(null),
    awaited: new Array(participants + 1).fill(null),
    quick: [],
    timers: {},
  }
}

/** Each question gets a new name. */
export function nextRound(soft: Soft): Round {
  soft.rounds++
  return `${soft.life}.${soft.rounds}`
}

/**
 * Requests, suspicions, round trips, and what operators and wiped participants want stay; all else belonged
 * to the epoch that is over.
 */
export function resetForNewEpoch(step: Step, before: Incarnations): void {
  const { soft, durable } = step.state
  soft.acknowledged.fill(0)
  soft.claims.fill(null)
  soft.watch = null
  soft.voters = {}
  soft.preVote = null
  soft.newEpochs.fill(null)
  soft.proposal = null
  soft.proposeAttempts = 0
  soft.highestBallot = 0
  endAsking(soft)
  soft.repeatAttempts = 0
  soft.idleRepeats = 0
  soft.told.fill(durable.epoch.start)
  soft.awaited.fill(null)
  // A participant that was taken back in one life asks again if it has begun another one since.
  for (const participant of Object.keys(soft.joins)) {
    if (durable.epoch.incarnations[participant] !== before[participant]) delete soft.joins[participant]
  }
}
