/**
 * A transfer between two locks, each of which guards a balance, without deadlock: no process ever holds both.
 * It is a saga of three steps, and each is one operation:
 *
 * 1. at the giver: the amount is taken, and the transfer is written down as open;
 * 2. at the taker: the amount is added, and the transfer noted;
 * 3. at the giver: the transfer is finished.
 *
 * Between the steps the amount is on its way: in no balance, but written down. A process may die after any of
 * them. Then anybody goes on: with `recoverTransfers`, or by repeating the transfer with the same id.
 *
 * What keeps a process that comes late from adding twice is a fence. Whoever goes on with a transfer claims
 * it at the giver first, and so has a fence of the giver's. Only the last claim can finish it. The taker
 * keeps the highest fence of each giver and refuses lower ones, so it may forget a transfer that was finished
 * before.
 */
import { randomId } from '../client/clock.ts'
import { BatonError, ConflictError, type Json, type Lock, systemClock } from '../client/index.ts'
import { change, changeAll } from './change.ts'
import { text, wholeNumber } from './options.ts'
import { full } from './refusals.ts'

export interface TransferOptions {
  readonly from: Lock
  readonly to: Lock
  /** A whole number from 1. */
  readonly amount: number
  /** Names the transfer, up to 64 characters: the same one again is the same transfer. */
  readonly id: string
  readonly signal?: AbortSignal
}

export type TransferOutcome =
  | { readonly done: true }
  /** `too-little`: nothing was taken. `refused`: the taker has no room for it, and it was given back. */
  | { readonly done: false; readonly because: 'too-little' | 'refused' }

type Open = { readonly to: string; readonly amount: number; readonly claim: string }
/** At the giver. */
type Transfers = {
  readonly open: { readonly [id: string]: Open }
  /** How the last ones ended, the newest last. */
  readonly finished: readonly (readonly [id: string, end: 'done' | 'refused'])[]
}
/** At the taker, for one giver: which of its transfers that may still be open were added. */
type Received = { readonly fence: number; readonly ids: readonly string[] }

interface Claimed {
  readonly id: string
  readonly claim: string
  readonly amount: number
  readonly fence: number
  /** All that were open when it was claimed. */
  readonly open: readonly string[]
}

/** Where each lock keeps its number. */
export const BALANCE = 'balance'
const TRANSFERS = 'transfers'
const MOST_OPEN = 100
const REMEMBERED = 100
const LONGEST_PAUSE_MS = 500

/**
 * Resolves when the transfer is over. If it rejects, the transfer may be on its way: repeat it with the same
 * id, or leave it to `recoverTransfers`. A giver remembers how its last 100 transfers ended. Whoever stood
 * still meanwhile gets a `ConflictError` whose outcome is `unknown`.
 *
 * @example
 * await transfer({ from: baton.lock('account:1'), to: baton.lock('account:2'), amount: 100, id: 'rent-may' })
 */
export async function transfer({ from, to, amount, id, signal }: TransferOptions): Promise<TransferOutcome> {
  text('id', id, 64)
  wholeNumber('amount', amount, 1, Number.MAX_SAFE_INTEGER)
  if (from.name === to.name) throw new RangeError('a transfer needs two locks')
  const begun = await claim(from, id, { to: to.name, amount }, 'begin', signal)
  const outcome = begun === null || 'done' in begun ? begun : await finish(from, to, begun, signal)
  if (outcome === null) throw forgotten(from, id)
  return outcome
}

/** `null`: others have finished it, so long ago that the giver no longer knows how. */
async function finish(
  from: Lock,
  to: Lock,
  begun: Claimed,
  signal: AbortSignal | undefined,
): Promise<TransferOutcome | null> {
  const { id, amount } = begun
  for (let claimed = begun; ; ) {
    const outcome = await goOn(from, to, claimed, signal)
    if (outcome !== null) return outcome
    // Somebody else goes on with it, or with another one of the same giver.
    await systemClock.sleep(Math.random() * LONGEST_PAUSE_MS, { signal })
    const again = await claim(from, id, { to: to.name, amount }, 'go on', signal)
    if (again === null || 'done' in again) return again
    claimed = again
  }
}

/**
 * Finishes what others have begun and left, such as processes that died: anybody may, at any time. Returns
 * how many there were.
 */
export async function recoverTransfers(
  from: Lock,
  lockNamed: (name: string) => Lock,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<number> {
  const { open } = transfersIn((await from.get(TRANSFERS, { signal })).value)
  const left = Object.entries(open)
  for (const [id, { to, amount }] of left) {
    const claimed = await claim(from, id, { to, amount }, 'go on', signal)
    if (claimed !== null && !('done' in claimed)) await finish(from, lockNamed(to), claimed, signal)
  }
  return left.length
}

/** What is on its way from a lock, and to where. */
export async function openTransfers(from: Lock): Promise<{ id: string; to: string; amount: number }[]> {
  const { open } = transfersIn((await from.get(TRANSFERS)).value)
  return Object.entries(open).map(([id, { to, amount }]) => ({ id, to, amount }))
}

/**
 * Step 1, or a new claim on a transfer that is open. Whoever is to go on with one that is neither open nor
 * remembered gets `null`: it was begun before, and is over.
 */
async function claim(
  from: Lock,
  id: string,
  { to, amount }: { readonly to: string; readonly amount: number },
  how: 'begin' | 'go on',
  signal: AbortSignal | undefined,
): Promise<TransferOutcome | Claimed | null> {
  const token = randomId()
  const { result, fence } = await changeAll<TransferOutcome | Omit<Claimed, 'fence'> | null>(
    from,
    [TRANSFERS, BALANCE],
    ([value, before]) => {
      const { open, finished } = transfersIn(value!)
      const ended = finished.find(([known]) => known === id)
      if (ended !== undefined) return { result: outcomeOf(ended[1]) }
      const balance = balanceIn(from, before!)
      const known = open[id]
      if (known !== undefined && (known.to !== to || known.amount !== amount)) throw otherTransfer(id)
      if (known === undefined && how === 'go on') return { result: null }
      if (known === undefined && balance < amount) return { result: { done: false, because: 'too-little' } }
      if (known === undefined && Object.keys(open).length >= MOST_OPEN)
        throw full(`${MOST_OPEN} transfers of ${from.name} are on their way`)
      const now = { ...open, [id]: { to, amount, claim: token } }
      return {
        value: [{ open: now, finished }, known === undefined ? balance - amount : balance],
        result: { id, claim: token, amount, open: Object.keys(now) },
      }
    },
    { signal },
  )
  return result === null || 'done' in result ? result : { ...result, fence }
}

/** Steps 2 and 3. `null`: another process has claimed it since. */
async function goOn(
  from: Lock,
  to: Lock,
  claimed: Claimed,
  signal: AbortSignal | undefined,
): Promise<TransferOutcome | null> {
  const added = await add(from, to, claimed, signal)
  if (added === 'late') return null
  const { id } = claimed
  const { result } = await changeAll<TransferOutcome | null>(
    from,
    [TRANSFERS, BALANCE],
    ([value, before]) => {
      const { open, finished } = transfersIn(value!)
      const ended = finished.find(([known]) => known === id)
      if (ended !== undefined) return { result: outcomeOf(ended[1]) }
      const { [id]: mine, ...others } = open
      if (mine?.claim !== claimed.claim) return { result: null }
      const balance = balanceIn(from, before!) + (added === 'refused' ? claimed.amount : 0)
      const last = [...finished, [id, added] as const].slice(-REMEMBERED)
      return { value: [{ open: others, finished: last }, balance], result: outcomeOf(added) }
    },
    { signal },
  )
  return result
}

async function add(
  from: Lock,
  to: Lock,
  claimed: Claimed,
  signal: AbortSignal | undefined,
): Promise<'done' | 'refused' | 'late'> {
  const { amount } = claimed
  try {
    return await note(from, to, claimed, 'done', [{ increment: BALANCE, by: amount }], signal)
  } catch (error) {
    const isRefused = error instanceof BatonError && /^(not_a_number|out_of_range)$/.test(error.code)
    if (!isRefused) throw error
    // From now on nobody with an older claim can add it, so it can be given back.
    return note(from, to, claimed, 'refused', [], signal)
  }
}

async function note<End extends 'done' | 'refused'>(
  from: Lock,
  to: Lock,
  { id, fence, open }: Claimed,
  end: End,
  also: readonly { readonly increment: string; readonly by: number }[],
  signal: AbortSignal | undefined,
): Promise<End | 'done' | 'late'> {
  const { result } = await change<Received, End | 'done' | 'late'>(
    to,
    `received/${from.name}`,
    received => {
      const before = received ?? { fence: 0, ids: [] }
      if (before.fence > fence) return { result: 'late' }
      // Those that are no longer open were finished, and every claim on them had a lower fence than this one.
      const ids = before.ids.filter(one => open.includes(one))
      if (ids.includes(id)) return { value: { fence, ids }, result: 'done' }
      return { value: { fence, ids: end === 'done' ? [...ids, id] : ids }, also, result: end }
    },
    { signal },
  )
  return result
}

const outcomeOf = (end: 'done' | 'refused'): TransferOutcome =>
  end === 'done' ? { done: true } : { done: false, because: 'refused' }

const transfersIn = (value: Json): Transfers => (value as Transfers | null) ?? { open: {}, finished: [] }

function balanceIn({ name }: Lock, value: Json): number {
  const balance = value ?? 0
  if (typeof balance === 'number') return balance
  throw new RangeError(`${name} has no number at its key '${BALANCE}'`)
}

function otherTransfer(id: string): ConflictError {
  const detail = `the id '${id}' is that of another transfer`
  return new ConflictError({ code: 'conflict', status: 409, detail, retryable: false })
}

function forgotten({ name }: Lock, id: string): ConflictError {
  const detail = `others have finished the transfer '${id}', and ${name} no longer knows how it ended`
  return new ConflictError({ code: 'conflict', status: 409, detail, retryable: false, outcome: 'unknown' })
}
