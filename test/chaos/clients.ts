/**
 * One operation of one client, from its first call to its last: by `transact`, under a grant, or in a
 * session; through the router or at a participant's own process; sometimes aborted, sometimes left behind
 * without a word. All of it goes through the project's own client.
 */
import { BatonError, createBaton, type Lock } from '../../client/index.ts'
import { sleep } from '../service/eventually.ts'
import type { Random } from '../simulator/random.ts'
import { type Machines, ROUTER } from './machines.ts'
import type { OperationRecord, Recorder } from './record.ts'

export interface Operation {
  readonly lock: Lock
  readonly recorder: Recorder
  readonly record: OperationRecord
  readonly random: Random
  readonly signal: AbortSignal | undefined
}

type Way = (operation: Operation) => Promise<void>

const WAIT_MS = 4_000
const TIMEOUT_MS = 4_000
const TTL_MS = 2_000
const RETRY = { attempts: 3, firstPauseMs: 50, longestPauseMs: 500, totalMs: 5_000 }
/** After this a session that says nothing is closed: its process may stand still. */
const SESSION_MS = 6_000

export const opsOf = (opId: string) => [{ increment: 'count' }, { append: 'names', value: opId }] as const

export function clientAt(machines: Machines, entry: number | typeof ROUTER, lock: string): Lock {
  return createBaton({ url: machines.urlFor(entry), timeoutMs: TIMEOUT_MS, retry: RETRY }).lock(lock)
}

const byTransact: Way = async ({ lock, recorder, record, signal }) => {
  const { opId } = record
  const { fence, results } = await lock.transact(opsOf(opId), { opId, waitMs: WAIT_MS, signal })
  recorder.grant({ fence, opId, grant: null })
  acknowledge(recorder, record, results, fence)
}

const byGrant: Way = async ({ lock, recorder, record, random, signal }) => {
  const { opId } = record
  const vanishes = random.chance(0.15)
  const options = { waitMs: WAIT_MS, ttlMs: TTL_MS, keepAlive: !vanishes, signal }
  const held = await lock.acquire(options).catch(() => null)
  // Nothing was sent under the operation's name.
  if (held === null) return
  recorder.grant({ fence: held.fence, opId, grant: held.grant.id })
  try {
    if (random.chance(0.3)) await sleep(random.between(1, 100))
    const { results } = await held.apply(opsOf(opId), { opId, signal })
    acknowledge(recorder, record, results, ownFence(record, held.fence))
  } finally {
    if (!vanishes) await held.release().catch(() => {})
  }
}

const bySession: Way = async ({ lock, recorder, record, random }) => {
  const { opId, attempts } = record
  let fence = 0
  const session = lock.session({})
  const timer = setTimeout(() => session.close(), SESSION_MS)
  let isPending = false
  try {
    session.try({ waitMs: WAIT_MS, ttlMs: TTL_MS })
    for await (const event of session) {
      if (event.type === 'crit') {
        fence = event.fence
        recorder.grant({ fence, opId, grant: `session ${attempts}` })
        // A client that goes away in the middle of its critical section.
        if (random.chance(0.1)) return
        isPending = true
        session.issue(opsOf(opId), { opId })
      } else if (event.type === 'outcome') {
        isPending = false
        acknowledge(recorder, record, event.results, ownFence(record, fence))
        session.exit()
      } else {
        if (isPending && event.type === 'ejected') recorder.refuse(record, event.pending?.outcome)
        isPending &&= event.type !== 'ejected'
        return
      }
    }
  } catch (error) {
    if (isPending || !(error instanceof BatonError)) throw error
  } finally {
    if (isPending) recorder.refuse(record, undefined)
    clearTimeout(timer)
    session.close()
  }
}

const WAYS: readonly Way[] = [byTransact, byTransact, byTransact, byGrant, byGrant, bySession]

/**
 * Tries until it is acknowledged, given up, or over. A doubt is mostly cleared by asking again under the same
 * name.
 */
export async function operate(
  machines: Machines,
  recorder: Recorder,
  opId: string,
  random: Random,
  isOver: () => boolean,
): Promise<OperationRecord> {
  const record = recorder.begin(opId)
  for (let attempt = 0; record.told !== 'acknowledged'; attempt++) {
    if (attempt > 0 && (isOver() || random.chance(0.2))) break
    if (attempt > 0) await sleep(random.between(20, 200))
    const entry = random.chance(0.5) ? ROUTER : random.pick(machines.ids)
    const lock = clientAt(machines, entry, recorder.lock)
    const signal = random.chance(0.1) ? AbortSignal.timeout(random.between(2, 300)) : undefined
    record.attempts++
    try {
      await random.pick(WAYS)({ lock, recorder, record, random, signal })
    } catch (error) {
      recorder.refuse(record, error instanceof BatonError ? error.outcome : undefined)
    }
  }
  return record
}

/** An operation that was tried before may have been applied under the grant of that time. */
function ownFence({ attempts }: OperationRecord, fence: number): number | null {
  return attempts === 1 ? fence : null
}

function acknowledge(
  recorder: Recorder,
  record: OperationRecord,
  results: readonly unknown[],
  fence: number | null,
): void {
  const [counted] = results as readonly [{ readonly value?: number }]
  // Both ops of the batch can always be done: whatever else is answered is no acknowledgement.
  if (typeof counted.value !== 'number') throw new Error(`${record.opId}: ${JSON.stringify(results)}`)
  recorder.acknowledge(record, counted.value, fence)
}
