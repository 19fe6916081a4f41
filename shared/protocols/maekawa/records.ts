/** The durable state as records (K5), and back. All that is not in a record is lost with the process. */
import type { Json } from '../../json.ts'
import { emptyLocalQueue, localQueueRestorers, sortLocalQueue } from '../lock-only/local-queue.ts'
import { noOperators } from '../lock-only/operators.ts'
import type { Context, ParticipantConfig, ParticipantId } from '../protocol.ts'
import { parts, restoreAll } from '../records.ts'
import { startFence } from '../start-fence.ts'
import { compareRequests, type Request } from './precedence.ts'
import { memberSets } from './sets/sets.ts'
import type { Durable, MaekawaState, Soft } from './state.ts'

export const waitingKey = (node: ParticipantId): string => `waiting/${node}`
export const endedKey = (node: ParticipantId): string => `ended/${node}`

/** The state before anything was written: nobody has asked for anything. */
function initialDurable(config: ParticipantConfig): Durable {
  return {
    membership: { status: 'blank' },
    own: { phase: 'idle', sequence: 0, relinquished: {}, handoffs: 0 },
    arbiter: { round: 0, locker: null },
    waiting: [],
    ended: {},
    fence: { fence: startFence(config) },
    observed: { sequence: 0 },
    localQueue: emptyLocalQueue(),
  }
}

export function recover(context: Context, records: Iterable<readonly [string, Json]>): MaekawaState {
  const durable = initialDurable(context.config)
  restoreAll(records, {
    ...parts(durable, 'membership', 'own', 'arbiter', 'fence', 'observed'),
    waiting: value => durable.waiting.push(value as unknown as Request),
    ended(value, name) {
      durable.ended[name] = (value as { sequence: number }).sequence
    },
    ...localQueueRestorers(durable.localQueue),
  })
  durable.waiting.sort(compareRequests)
  sortLocalQueue(durable.localQueue)
  const { participants, self } = context.config
  const members = memberSets(participants)[self - 1]!
  return { durable, derived: { members, highest: highestSequence(durable) }, soft: createSoft() }
}

/**
 * A request leaves the lock and the queue only for one another or for `ended`, so the highest number is never
 * lost.
 */
function highestSequence({ own, arbiter, waiting, ended, observed }: Durable): number {
  const received = [arbiter.locker?.sequence ?? 0, ...waiting.map(({ sequence }) => sequence)]
  return Math.max(own.sequence, observed.sequence, ...received, ...Object.values(ended))
}

function createSoft(): Soft {
  return {
    locked: {},
    failed: {},
    inquired: {},
    isWaitedFor: false,
    inquiredRound: 0,
    operators: noOperators(),
    repeatAttempts: 0,
    timers: {},
  }
}
