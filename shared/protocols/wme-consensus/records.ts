/**
 * The durable state as records, each written on its own: an accepted instance, a promise, one cell of the
 * replica. `recover` puts them together again. Everything that is not in a record is lost with the process.
 *
 * Durable before it is said: a command before its request, an accepted instance before its acknowledgement, a
 * promise before it is given, a ballot before its prepare, what is applied together with its result before
 * any outcome.
 */

import { createDetector } from '../../detector.ts'
import type { Json } from '../../json.ts'
import type { Replica } from '../../resource/replica.ts'
import { NOBODY_ASKED } from '../asking.ts'
import { firstBallot } from '../ballots.ts'
import { beginRecovery, endRecovery, replicaRestorers } from '../guarded/replica-records.ts'
import { slots } from '../members/sets.ts'
import type { Context, ParticipantConfig } from '../protocol.ts'
import { parts, restoreAll } from '../records.ts'
import { EMPTY_LOG } from '../running-digest.ts'
import { sortWaiters } from '../waiting-users.ts'
import { lengthOf, weightOf } from './log.ts'
import type { ConsensusState, Durable, Entry, OwnLane, Soft, Waiter } from './state.ts'

/**
 * The state before anything was written: the first coordinator may propose, nobody wants anything, nothing
 * has happened.
 */
export function initialDurable(config: ParticipantConfig, replica: Replica): Durable {
  const first = config.firstOwner ?? 1
  const ballot = firstBallot(first)
  const zeros: readonly number[] = new Array(config.participants + 1).fill(0)
  const idle: OwnLane = { number: 0, command: null }
  return {
    membership: { status: 'blank' },
    acceptor: { promised: ballot, prepared: first === config.self ? ballot : -1 },
    log: [],
    machine: {
      applied: config.startSequence ?? 0,
      digest: EMPTY_LOG,
      holder: null,
      latestFence: -1,
      queue: [],
      numbers: { asking: zeros, inside: zeros, reading: zeros },
      droppedThrough: 0,
    },
    stub: { phase: 'outside', usedFence: 0, grant: null, pendingOperation: null, endings: [] },
    lanes: { asking: idle, inside: idle, reading: idle },
    handover: { config: 0 },
    waiters: [],
    replica,
  }
}

export function recover(context: Context, records: Iterable<readonly [string, Json]>): ConsensusState {
  const recovery = beginRecovery(context.resource)
  const durable = initialDurable(context.config, recovery.replica)
  const hasRecords = restoreAll(records, {
    ...parts(durable, 'membership', 'acceptor', 'machine', 'stub', 'handover'),
    lane: (value, name) => Object.assign(durable.lanes, { [name]: value }),
    log: value => durable.log.push(value as unknown as Entry),
    waiter: value => durable.waiters.push(value as unknown as Waiter),
    ...replicaRestorers(recovery),
  })
  durable.log.sort((a, b) => a.position - b.position)
  sortWaiters(durable.waiters)
  endRecovery(recovery, hasRecords, durable.machine.droppedThrough)
  return { durable, soft: createSoft(context.config, durable) }
}

function createSoft(config: ParticipantConfig, durable: Durable): Soft {
  const size = slots(config, durable.machine)
  return {
    acknowledged: {
      ballot: durable.acceptor.promised,
      through: new Array(size).fill(0),
      claims: new Array(size).fill(null),
    },
    logWeight: durable.log.reduce((total, entry) => total + weightOf(entry), 0),
    // What was proposed before a restart counts as sent; the repeats take care of what was not.
    sent: new Array(size).fill(lengthOf(durable)),
    told: durable.machine.applied,
    candidacy: null,
    requested: [],
    changes: [],
    asked: [],
    installed: [],
    hint: null,
    calls: 0,
    ejection: null,
    ejects: [],
    reads: [],
    detector: createDetector(size - 1),
    watched: [],
    silent: [],
    beat: { dueAt: 0, isExcused: false, repeatedAt: null },
    leaseUntil: 0,
    inquiries: {},
    voters: {},
    life: 0,
    rounds: 0,
    ...NOBODY_ASKED,
    incoming: null,
    outgoing: null,
    guesses: -1,
    repeatAttempts: 0,
    idleRepeats: 0,
    timers: {},
  }
}
