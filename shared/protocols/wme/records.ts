/**
 * The durable state as records, each written on its own: a log entry, an acceptor's promise, one cell of the
 * replica. `recover` puts them together again. Everything that is not in a record is lost with the process.
 */
import type { Json } from '../../json.ts'
import type { Replica } from '../../resource/replica.ts'
import { beginRecovery, endRecovery, replicaRestorers } from '../guarded/replica-records.ts'
import type { Context, ParticipantConfig } from '../protocol.ts'
import { parts, restoreAll } from '../records.ts'
import { EMPTY_LOG } from '../running-digest.ts'
import { sortWaiters } from '../waiting-users.ts'
import { FENCE_GAP } from './fence.ts'
import { derive, lengthOf } from './log.ts'
import { INITIAL_PAXOS } from './paxos.ts'
import { createSoft } from './soft.ts'
import type { Durable, EndingRecord, Entry, StubRecord, Waiter, WmeState } from './state.ts'
import { assert } from './step.ts'

/**
 * The state before anything was written: the first owner has the token, nobody wants it, and nothing has
 * happened.
 */
export function initialDurable(config: ParticipantConfig, replica: Replica): Durable {
  const owner = config.firstOwner ?? 1
  const start = config.startSequence ?? 0
  return {
    membership: { status: 'blank' },
    epoch: { epoch: config.startEpoch ?? 0, owner, start, sealed: false, incarnations: {} },
    stub: { phase: 'idle', requestId: 0, grant: null, pendingOperation: null, handoffs: 0 },
    paxos: INITIAL_PAXOS,
    base: {
      sequence: start,
      owner,
      granted: new Array(config.participants + 1).fill(0),
      digest: EMPTY_LOG,
    },
    progress: { applied: start, droppedThrough: 0 },
    log: [],
    waiters: [],
    endings: [],
    replica,
  }
}

export function recover(context: Context, records: Iterable<readonly [string, Json]>): WmeState {
  assert(
    context.config.limits.uncommitted <= FENCE_GAP,
    'the fences need a smaller limit of uncommitted entries',
  )
  const recovery = beginRecovery(context.resource)
  const durable = initialDurable(context.config, recovery.replica)
  const hasRecords = restoreAll(records, {
    ...parts(durable, 'membership', 'epoch', 'paxos', 'base', 'progress'),
    stub(value) {
      durable.stub = value as unknown as StubRecord
      // Older versions had them there.
      durable.endings.push(...((value as { endings?: EndingRecord[] }).endings ?? []))
    },
    ending: value => durable.endings.push(value as unknown as EndingRecord),
    log: value => durable.log.push(value as unknown as Entry),
    waiter: value => durable.waiters.push(value as unknown as Waiter),
    ...replicaRestorers(recovery),
  })
  durable.log.sort((a, b) => a.sequence - b.sequence)
  sortWaiters(durable.waiters)
  durable.endings.sort((a, b) => a.fence - b.fence)
  endRecovery(recovery, hasRecords, durable.progress.droppedThrough)
  const soft = createSoft(context.config, durable, lengthOf(durable))
  const derived = { members: [], owner: 0, granted: [], logWeight: 0, lastNews: 0, lastHandover: 0 }
  const state: WmeState = { durable, derived, soft }
  derive(context.config, state)
  return state
}
