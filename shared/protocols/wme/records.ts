/**
 * The durable state as records, each written on its own: a log entry, an acceptor's promise, one cell of the
 * replica. `recover` puts them together again. Everything that is not in a record is lost with the process.
 */
import type { Json } from '../../json.ts'
import { emptyReplica, type Replica, resultKey, type StoredResult } from '../../resource/replica.ts'
import type { Context, ParticipantConfig } from '../protocol.ts'
import { EMPTY_LOG } from '../running-digest.ts'
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
  const replica = emptyReplica(context.resource)
  const durable = initialDurable(context.config, replica)
  const results: StoredResult[] = []
  let isBlank = true
  for (const [key, value] of records) {
    if (isBlank) replica.cells = {}
    isBlank = false
    const slash = key.indexOf('/')
    const family = slash === -1 ? key : key.slice(0, slash)
    switch (family) {
      case 'stub':
        durable.stub = value as unknown as StubRecord
        durable.endings.push(...((value as { endings?: EndingRecord[] }).endings ?? []))
        break
      case 'ending':
        durable.endings.push(value as unknown as EndingRecord)
        break
      case 'membership':
      case 'epoch':
      case 'paxos':
      case 'base':
      case 'progress':
        Object.assign(durable, { [family]: value })
        break
      case 'log':
        durable.log.push(value as unknown as Entry)
        break
      case 'waiter':
        durable.waiters.push(value as unknown as Waiter)
        break
      case 'cell':
        replica.cells[key.slice(slash + 1)] = (value as { value: Json }).value
        break
      case 'result':
        results.push(value as unknown as StoredResult)
        break
    }
  }
  durable.log.sort((a, b) => a.sequence - b.sequence)
  durable.waiters.sort((a, b) => a.number - b.number)
  durable.endings.sort((a, b) => a.fence - b.fence)
  restoreResults(replica, results, durable.progress.droppedThrough)
  const soft = createSoft(context.config, durable, lengthOf(durable))
  const state: WmeState = { durable, derived: { owner: 0, granted: [], logWeight: 0 }, soft }
  derive(state)
  return state
}

function restoreResults(replica: Replica, results: StoredResult[], droppedThrough: number): void {
  results.sort((a, b) => a.sequence - b.sequence)
  for (const stored of results) {
    replica.results[resultKey(stored.opId)] = stored
    replica.order.push(stored.opId)
  }
  replica.droppedThrough = droppedThrough
}
