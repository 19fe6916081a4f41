/**
 * After everything is healed: is each lock usable, do all its participants agree, and is what clients were
 * told true?
 */
import { BatonError, type Lock, NotFoundError } from '../../client/index.ts'
import { sleep } from '../service/eventually.ts'
import { clientAt } from './clients.ts'
import { judgeRecord, type Verdict } from './judge.ts'
import { type Machines, ROUTER } from './machines.ts'
import type { ChaosLock, Population } from './population.ts'
import type { FinalState } from './record.ts'

export interface LockVerdict extends Verdict {
  readonly lock: string
  /** Why the lock cannot be used; `null` if it can. */
  readonly bricked: string | null
  /** Participants that cannot be read from, or whose copy differs. */
  readonly stuck: readonly string[]
  /** A `PUT` was told something that is not so. */
  readonly misconfigured: readonly string[]
}

/**
 * From when a lock is first asked after the healing. Suspicion, an election and a catch-up take seconds;
 * births are retried after some more.
 */
export const USABLE_WITHIN_MS = 60_000
const AT_ONCE = 6

export async function checkAll(machines: Machines, population: Population): Promise<LockVerdict[]> {
  const verdicts: LockVerdict[] = []
  const left = [...population.locks]
  const check = async (): Promise<void> => {
    for (let lock = left.shift(); lock !== undefined; lock = left.shift())
      verdicts.push(await checkLock(machines, population, lock))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, check))
  return verdicts
}

const NOTHING: FinalState = { names: [], count: 0 }

/**
 * Each lock has its time from when it is asked first. With one limit for all, a busy machine would ask the
 * last locks only once, and one call that is not answered in time bricks nothing.
 */
async function checkLock(machines: Machines, population: Population, lock: ChaosLock): Promise<LockVerdict> {
  const until = Date.now() + USABLE_WITHIN_MS
  const found = { lock: lock.name, stuck: [] as string[], misconfigured: [] as string[] }
  const client = clientAt(machines, ROUTER, lock.name)
  const problem = await probe(population, lock, until)
  let state = problem === null ? await attempt(until, () => read(client, undefined)) : problem
  if (typeof state === 'string') return { ...found, ...judgeUnread(lock), bricked: `${lock.name}: ${state}` }
  for (const id of machines.ids) {
    const copy = await attempt(until, () => read(client, id))
    if (typeof copy === 'string') found.stuck.push(`${lock.name}: participant ${id}: ${copy}`)
    else if (continues(state, copy)) state = copy
    else found.stuck.push(`${lock.name}: the copy of participant ${id} differs: ${JSON.stringify(copy)}`)
  }
  for (const options of lock.configured) {
    const answer = await attempt(until, () => client.configure(options))
    if (typeof answer === 'string') found.misconfigured.push(`${lock.name}: ${answer}`)
  }
  return { ...found, ...judgeRecord(lock.recorder, state), bricked: null }
}

/** Nothing can be said of the operations of a lock that cannot be read; that it cannot is bad enough. */
function judgeUnread({ recorder }: ChaosLock): Verdict {
  return { ...judgeRecord(recorder, NOTHING), lost: [], twice: [], failedButApplied: [] }
}

/** Operations with names of their own, until one is acknowledged. */
async function probe(population: Population, lock: ChaosLock, until: number): Promise<string | null> {
  const random = population.stream()
  for (let round = 1; ; round++) {
    if (await population.use(lock, `${lock.name}/probe/${round}`, random)) return null
    if (Date.now() > until) return 'no operation was acknowledged any more'
    await sleep(200)
  }
}

/**
 * Whether `later` may have been read after `earlier`. An operation in doubt may still be applied between two
 * reads, and then it is behind all the others.
 */
export function continues(earlier: FinalState, later: FinalState): boolean {
  const more = later.names.length - earlier.names.length
  return (
    later.count - earlier.count === more && earlier.names.every((name, place) => later.names[place] === name)
  )
}

async function read(client: Lock, at: number | undefined): Promise<FinalState> {
  const options = { consistency: 'linearizable', ...(at !== undefined && { at }) } as const
  const [names, count] = [await client.get('names', options), await client.get('count', options)]
  return { names: (names.value ?? []) as string[], count: (count.value ?? 0) as number }
}

/** The answer, or why there was none. A lock is asked at least twice, however late it is. */
async function attempt<T>(until: number, action: () => Promise<T>): Promise<T | string> {
  for (let tries = 1; ; tries++) {
    try {
      return await action()
    } catch (error) {
      if (!(error instanceof BatonError)) throw error
      const isFinal = error.status >= 400 && error.status < 429 && !error.retryable
      if (isFinal || error instanceof NotFoundError || (tries >= 2 && Date.now() > until))
        return error.message
      await sleep(300)
    }
  }
}
