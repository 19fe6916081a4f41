/**
 * The durable state as records, each written on its own. `recover` puts them together again; all else is lost
 * with the process.
 */
import type { Json } from '../../json.ts'
import { emptyLocalQueue, localQueueRestorers, sortLocalQueue } from '../lock-only/local-queue.ts'
import { noOperators } from '../lock-only/operators.ts'
import type { Context } from '../protocol.ts'
import { parts, restoreAll } from '../records.ts'
import { startFence } from '../start-fence.ts'
import { requestBelow } from './fence.ts'
import type { Deferred, Durable, RicartAgrawalaState, Soft } from './state.ts'

export const deferredKey = (participant: number): string => `deferred/${participant}`

/** The state before anything was written. */
function initialDurable({ config }: Context): Durable {
  return {
    membership: { status: 'blank' },
    group: { number: 0, members: {}, gone: {} },
    own: { phase: 'idle', request: 0, mode: 'exclusive', asked: [], grants: 0, handoffs: 0 },
    highest: { request: requestBelow(startFence(config)) },
    deferred: {},
    sponsoring: null,
    localQueue: emptyLocalQueue(),
  }
}

function createSoft(): Soft {
  return {
    replies: {},
    isSilenceCounted: false,
    explicit: {},
    silentSince: {},
    dead: {},
    wishes: [],
    acknowledged: {},
    joiners: [],
    sponsorsTried: 0,
    hint: null,
    changes: [],
    calls: 0,
    welcomes: 0,
    callRepeats: 0,
    operators: noOperators(),
    repeatAttempts: 0,
    timers: {},
  }
}

export function recover(context: Context, records: Iterable<readonly [string, Json]>): RicartAgrawalaState {
  const durable = initialDurable(context)
  restoreAll(records, {
    ...parts(durable, 'membership', 'group', 'own', 'highest', 'sponsoring'),
    deferred(value, name) {
      durable.deferred[name] = value as unknown as Deferred
    },
    ...localQueueRestorers(durable.localQueue),
  })
  sortLocalQueue(durable.localQueue)
  return { durable, soft: createSoft() }
}
