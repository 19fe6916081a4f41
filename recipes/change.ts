/**
 * The step that most recipes are made of: read, decide, and write only if nobody has changed it meanwhile. A
 * client that dies on the way has either done all of it or nothing, and holds up nobody.
 *
 * If others are quicker several times, it takes the lock, so that its turn comes. What it writes is bound to
 * the revision that it read in any case. So a request that arrives late, or twice, changes nothing.
 */
import {
  GrantOverError,
  type Held,
  type Json,
  type KeyValueOp,
  type Lock,
  LockedError,
} from '../client/index.ts'
import { failedOp, isNothingDone, notApplied } from './refusals.ts'

export interface Decision<Value, Result> {
  /** What the key is to hold; `undefined` leaves it as it is. */
  readonly value?: Value | undefined
  /** More ops of the same batch: all of them are applied with the key, or none. */
  readonly also?: readonly KeyValueOp[]
  readonly result: Result
}

export interface ChangeOptions {
  /** How long to wait for the lock. Default: 10 s. */
  readonly waitMs?: number
  readonly owner?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Changed<Result> {
  readonly result: Result
  /** Of the grant under which it was written; 0 if nothing was. */
  readonly fence: number
  /** The state is what was decided about at this sequence, or newer. */
  readonly sequence: number
}

interface Read<Value> {
  readonly value: Value | null
  readonly revision: number
  readonly sequence: number
}

const OPTIMISTIC_ROUNDS = 3
const ROUNDS = 6
/** Long enough for a lock's token to come from another region. */
const SHORTEST_WAIT_MS = 1_000
/** Long enough for three requests, and short enough if the process ends in between. */
const TTL_MS = 10_000

/** `decide` may be called several times, and must not do anything but decide. */
export function change<Value extends Json, Result>(
  lock: Lock,
  key: string,
  decide: (value: Value | null) => Decision<Value, Result>,
  options: ChangeOptions = {},
): Promise<Changed<Result>> {
  return changeAll(
    lock,
    [key],
    ([value]) => {
      const decision = decide((value ?? null) as Value | null)
      return { ...decision, value: decision.value === undefined ? undefined : [decision.value] }
    },
    options,
  )
}

/**
 * The same for whoever waits its turn: `null` if others have held the lock for all this time. An answer may
 * have got lost before, so `decide` must find out by itself whether its change was made already.
 */
export async function changeIfFree<Value extends Json, Result>(
  lock: Lock,
  key: string,
  decide: (value: Value | null) => Decision<Value, Result>,
  options: ChangeOptions & { readonly waitMs: number },
): Promise<Changed<Result> | null> {
  try {
    const waitMs = Math.max(SHORTEST_WAIT_MS, options.waitMs)
    return await change(lock, key, decide, { ...options, waitMs })
  } catch (error) {
    if (error instanceof LockedError) return null
    throw error
  }
}

/** The same as `change` with several keys, which are written together: one value for each. */
export async function changeAll<Result>(
  lock: Lock,
  keys: readonly string[],
  decide: (values: readonly Json[]) => Decision<readonly Json[], Result>,
  options: ChangeOptions = {},
): Promise<Changed<Result>> {
  const plan = { keys, decide }
  for (let round = 1; ; round++) {
    const changed = await (round <= OPTIMISTIC_ROUNDS
      ? inPassing(lock, plan, options)
      : holding(lock, plan, options, round === ROUNDS))
    if (changed !== null) return changed
  }
}

interface Plan<Result> {
  readonly keys: readonly string[]
  readonly decide: (values: readonly Json[]) => Decision<readonly Json[], Result>
}

/** A key with the sequence at which it was read, also if there is no such key. */
export async function read<Value extends Json>(
  lock: Lock,
  key: string,
  signal?: AbortSignal,
): Promise<Read<Value>> {
  // The key itself is the first of those that begin with it.
  const { entries, sequence } = await lock.list<Value>({ prefix: key, limit: 1, signal })
  const [first] = entries
  const found = first?.key === key ? first : { value: null, revision: 0 }
  return { value: found.value, revision: found.revision, sequence }
}

async function inPassing<Result>(
  lock: Lock,
  { keys, decide }: Plan<Result>,
  options: ChangeOptions,
): Promise<Changed<Result> | null> {
  const reads = await Promise.all(keys.map(key => read<Json>(lock, key, options.signal)))
  const decision = decide(reads.map(({ value }) => value))
  const { result, value: values } = decision
  if (values === undefined) {
    const sequence = Math.min(...reads.map(one => one.sequence))
    // What was read at different moments may never have been there together: only what is written is checked.
    return reads.every(one => one.sequence === sequence) ? { result, fence: 0, sequence } : null
  }
  const answer = await lock.transact(batchOf(keys, reads, values, decision.also), transactOptions(options))
  if (answer.applied) return { result, fence: answer.fence, sequence: answer.sequence }
  return mustBeOutdated(answer.results, keys.length)
}

async function holding<Result>(
  lock: Lock,
  plan: Plan<Result>,
  options: ChangeOptions,
  isLast: boolean,
): Promise<Changed<Result> | null> {
  try {
    return await lock.run({ ...transactOptions(options), ttlMs: TTL_MS }, held => changeHeld(held, plan))
  } catch (error) {
    // The lock was lost before anything was written: the next round begins anew.
    const isHarmless = error instanceof GrantOverError && isNothingDone(error)
    if (!isHarmless || isLast) throw error
    return null
  }
}

async function changeHeld<Result>(
  held: Held,
  { keys, decide }: Plan<Result>,
): Promise<Changed<Result> | null> {
  const reads = await Promise.all(keys.map(key => held.get(key)))
  const decision = decide(reads.map(({ value }) => value))
  const { result, value: values } = decision
  if (values === undefined) return { result, fence: 0, sequence: reads[0]?.sequence ?? 0 }
  const answer = await held.apply(batchOf(keys, reads, values, decision.also))
  if (answer.applied) return { result, fence: held.fence, sequence: answer.sequence }
  return mustBeOutdated(answer.results, keys.length)
}

function batchOf(
  keys: readonly string[],
  reads: readonly { readonly revision: number }[],
  values: readonly Json[],
  also: readonly KeyValueOp[] = [],
): readonly KeyValueOp[] {
  const puts = keys.map((key, index) => {
    return { put: key, value: values[index]!, ifRevision: reads[index]!.revision }
  })
  return [...puts, ...also]
}

function transactOptions({ waitMs, owner, signal }: ChangeOptions) {
  return { signal, ...(waitMs !== undefined && { waitMs }), ...(owner !== undefined && { owner }) }
}

/** `null`: somebody else was quicker. Anything else that went wrong would go wrong again. */
function mustBeOutdated(results: readonly object[], keys: number): null {
  const { index, code } = failedOp(results)
  if (index < keys && code === 'revision_mismatch') return null
  throw notApplied(results)
}
