/** The state that may be lost at any moment: how it begins, and which parts do not outlive an epoch. */

import { createDetector, growDetector } from '../../detector.ts'
import { endAsking, NOBODY_ASKED } from '../asking.ts'
import type { Incarnations } from '../members/changes.ts'
import { slots } from '../members/sets.ts'
import type { ParticipantConfig } from '../protocol.ts'
import { isMember } from './members.ts'
import type { Durable, Round, Soft } from './state.ts'
import type { Step } from './step.ts'

export function createSoft(config: ParticipantConfig, durable: Durable, length: number): Soft {
  const size = slots(config, durable.epoch)
  // What an epoch began with was decided and applied, though grants alone do not move the applied index.
  const committed = Math.max(durable.progress.applied, durable.epoch.start)
  return {
    committed,
    acknowledged: new Array(size).fill(0),
    claims: new Array(size).fill(null),
    // What was appended before a restart counts as sent; the repeats take care of what was not.
    sent: new Array(size).fill(length),
    requests: [],
    detector: createDetector(size - 1),
    watch: null,
    leaseUntil: 0,
    voters: {},
    preVote: null,
    life: 0,
    rounds: 0,
    newEpochs: new Array(size).fill(null),
    proposal: null,
    proposeAttempts: 0,
    highestBallot: 0,
    joins: {},
    ejects: [],
    forcedOut: {},
    changes: [],
    proposed: null,
    installed: [],
    hint: null,
    reads: [],
    announced: null,
    ...NOBODY_ASKED,
    incoming: null,
    outgoing: null,
    repeatAttempts: 0,
    idleRepeats: 0,
    told: new Array(size).fill(committed),
    roundTrips: new Array(size).fill(null),
    awaited: new Array(size).fill(null),
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
  makeRoom(step)
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
  soft.proposed = null
  soft.installed = []
  soft.requests = soft.requests.filter(({ participant }) => isMember(step, participant))
  // A participant that was taken back in one life asks again if it has begun another one since.
  for (const participant of Object.keys(soft.joins)) {
    const isTaken = durable.epoch.incarnations[participant] !== before[participant]
    if (isTaken || !isMember(step, Number(participant))) delete soft.joins[participant]
  }
}

/** Members that come later have higher numbers. */
function makeRoom({ state: { soft, durable }, context: { config } }: Step): void {
  const size = slots(config, durable.epoch)
  const { acknowledged, claims, sent, newEpochs, told, awaited, roundTrips } = soft
  for (const list of [acknowledged, claims, sent, newEpochs, told, awaited])
    if (list.length < size) list.length = size
  while (roundTrips.length < size) roundTrips.push(null)
  growDetector(soft.detector, size - 1)
}
