/** How a client does each of its actions, and what it notes of the answers. */
import { BadRequestError, ConflictError, LockedError } from '../../../client/index.ts'
import type { Json } from '../../../shared/json.ts'
import type { Wanted } from './asked.ts'
import { copyLock } from './copy-action.ts'
import type { OperationCall } from './journal.ts'
import { lookAt } from './look-action.ts'
import type { Wish } from './plan.ts'
import type { Action } from './plan-actions.ts'
import { bodyOf, put } from './put-action.ts'
import { playSession } from './session-action.ts'
import type { Life, SimClient } from './sim-client.ts'

type ActionOf<Type extends Action['type']> = Extract<Action, { readonly type: Type }>

/** Grows by one with each operation. */
export const COUNTER = 'n'
/** A list of the ids of all operations, in order: an operation that was applied is in it once. */
export const LOG = 'log'
/** Written by operations with a condition. */
const SLOT = 'slot'

export function operationFor(opId: string, isConditional = false): Json[] {
  const ops: Json[] = [{ increment: COUNTER }, { append: LOG, value: opId }]
  return isConditional ? [{ put: SLOT, value: opId, ifRevision: 0 }, ...ops] : ops
}

export async function perform(client: SimClient, action: Action): Promise<void> {
  try {
    await dispatch(client, action)
  } catch (error) {
    if (!client.isExpected(error)) return
    if (error.code === 'locked') client.world.counts.refusedGrants++
    if (error instanceof LockedError && error.holder !== undefined)
      client.world.journal.toldHolder(action.lock, client.name, error.holder)
    client.note(`${action.type}: ${error.message}`)
  }
}

function dispatch(client: SimClient, action: Action): Promise<void> {
  switch (action.type) {
    case 'transact':
      return transact(client, action)
    case 'raw-transact':
      return rawTransact(client, action)
    case 'hold':
      return hold(client, action)
    case 'ticket':
      return ticket(client, action)
    case 'session':
      return playSession(client, action)
    case 'watch':
      return watch(client, action)
    case 'get':
      return read(client, action)
    case 'list':
      return list(client, action)
    case 'status':
      return status(client, action)
    case 'history':
      return history(client, action)
    case 'eject':
      return eject(client, action)
    case 'configure':
      return configure(client, action.lock, action.wish)
    case 'put':
      return put(client, action)
    case 'delete':
      return remove(client, action)
    case 'members':
      return changeMembers(client, action)
    case 'copy':
      return copyLock(client, action)
    case 'look':
      return lookAt(client, action)
  }
}

// ---------------------------------------------------------------- operations

async function transact(client: SimClient, action: ActionOf<'transact'>): Promise<void> {
  const { lock, waitMs, participant, abortAfterMs, again, conditional } = action
  const opId = `op-${action.id}`
  const ops = operationFor(opId, conditional)
  const at = participant === null ? {} : { at: participant }
  const signal = abortAfterMs === null ? {} : { signal: abortAfter(client, abortAfterMs) }
  const run = (options: object) =>
    client
      .connect()
      .lock(lock)
      .transact(ops as never, { opId, waitMs, ...options })
  await settle(
    client,
    client.world.journal.beginOperation(lock, client.name, opId, ops),
    run({ ...at, ...signal }),
  )
  if (!again) return
  client.world.counts.operationsAskedAgain++
  await client.sleep(client.random.logUniform(1, 2_000))
  await settle(client, client.world.journal.beginOperation(lock, client.name, opId, ops), run({}))
}

export async function settle(
  client: SimClient,
  call: OperationCall,
  answer: Promise<unknown>,
): Promise<void> {
  const { journal } = client.world
  try {
    const { applied, results, sequence, fence } = (await answer) as Applied
    const told = { condition: applied, results, sequence, ...(fence !== undefined && { fence }) }
    journal.endOperation(call, 'applied', told)
  } catch (error) {
    if (!client.isExpected(error)) return
    if (error.code === 'not_supported') journal.lockOnly.add(call.lock)
    client.note(`${call.opId}: ${error.message}`)
    journal.endOperation(call, error.outcome ?? 'unknown')
  }
}

interface Applied {
  readonly applied: boolean
  readonly results: Json
  readonly sequence: number
  readonly fence?: number
}

async function rawTransact(client: SimClient, action: ActionOf<'raw-transact'>): Promise<void> {
  const { lock, waitMs, participant } = action
  const opId = `op-${action.id}`
  const ops = operationFor(opId)
  const call = client.world.journal.beginOperation(lock, client.name, opId, ops)
  const body = { opId, ops, waitMs, ...(participant !== null && { at: participant }) }
  await settleRaw(client, call, `${lock}/transact`, body)
}

/** One request: nothing is known beyond what it says. */
async function settleRaw(client: SimClient, call: OperationCall, path: string, body: Json): Promise<void> {
  const { journal } = client.world
  let answer: Awaited<ReturnType<SimClient['request']>>
  try {
    answer = await client.request('POST', path, body)
  } catch {
    return journal.endOperation(call, 'unknown')
  }
  const told = answer.body as unknown as Applied & {
    outcome?: OperationCall['word']
    code?: string
    detail?: string
  }
  if (answer.status === 200) {
    const { applied, results, sequence, fence } = told
    const more = fence === undefined ? {} : { fence }
    return journal.endOperation(call, 'applied', { condition: applied, results, sequence, ...more })
  }
  client.note(`${call.opId}: ${answer.status} ${told.code} ${told.detail}`)
  if (told.code === 'not_supported') journal.lockOnly.add(call.lock)
  // Nothing was done where the request itself was wrong.
  const word = told.outcome ?? (answer.status === 400 ? 'not-applied' : 'unknown')
  journal.endOperation(call, word)
}

// ---------------------------------------------------------------- holding

async function hold(client: SimClient, action: ActionOf<'hold'>): Promise<void> {
  const { lock, waitMs, ttlMs, confirm, mode, operations, thinkMs, ending, participant } = action
  const { journal, counts } = client.world
  const life: Life = { isGone: false }
  const { abortAfterMs } = action
  const vanishes = abortAfterMs !== null && ending === 'vanish'
  const signal = abortAfterMs === null || vanishes ? undefined : abortAfter(client, abortAfterMs)
  const at = participant === null ? {} : { at: participant }
  const keepAlive = ending !== 'overstay'
  const owner = `${client.name} ${action.id}`
  const begunAt = client.world.loop.now
  const acquired = client
    .connect(life)
    .lock(lock)
    .acquire({ waitMs, ttlMs, confirm, mode, keepAlive, signal, hearLoss: confirm, ...at, owner })
  const held = vanishes ? await untilGone(client, life, acquired, abortAfterMs) : await acquired
  if (held === null) return
  journal.grant(lock, client.name, begunAt, held.fence, confirm)
  for (let count = 0; count < operations; count++) {
    const opId = `op-${action.id}.${count}`
    const ops = operationFor(opId)
    await settle(
      client,
      journal.beginOperation(lock, client.name, opId, ops),
      held.apply(ops as never, { opId }),
    )
    await client.sleep(thinkMs)
  }
  if (ending === 'vanish') {
    life.isGone = true
    counts.clientsVanished++
    return
  }
  if (ending === 'overstay') {
    await client.sleep(ttlMs * 1.2)
    const opId = `op-${action.id}.late`
    const ops = operationFor(opId)
    await settle(
      client,
      journal.beginOperation(lock, client.name, opId, ops),
      held.apply(ops as never, { opId }),
    )
  }
  await held.release()
  counts.releases++
}

/** The client is gone after so long, if it still waits then: `null`. */
function untilGone<Held>(
  client: SimClient,
  life: Life,
  acquired: Promise<Held>,
  afterMs: number,
): Promise<Held | null> {
  return new Promise((resolve, reject) => {
    const timer = client.world.loop.after(afterMs, () => {
      life.isGone = true
      client.world.counts.waitersVanished++
      client.note('is gone while it waits')
      resolve(null)
    })
    acquired.finally(() => timer.cancel()).then(resolve, reject)
  })
}

// ---------------------------------------------------------------- tickets

async function ticket(client: SimClient, action: ActionOf<'ticket'>): Promise<void> {
  const { lock, ttlMs, polls, pollMs, ending, participant } = action
  const { counts, loop } = client.world
  const begunAt = loop.now
  try {
    let answer = await client.request('POST', `${lock}/acquire`, {
      ...{ waitMs: 0, ttlMs, ticket: true, owner: `${client.name} ${action.id}` },
      ...(participant !== null && { at: participant }),
    })
    for (let poll = 0; answer.status === 202 && poll < polls; poll++) {
      counts.tickets++
      const { id } = (answer.body as { ticket: { id: string } }).ticket
      if (ending === 'withdraw') {
        await client.request('DELETE', `${lock}/tickets/${id}`)
        return
      }
      await client.sleep(pollMs / 2)
      answer = await client.request('GET', `${lock}/tickets/${id}?waitMs=${pollMs}`)
    }
    if (answer.status !== 200) return
    const { grant } = answer.body as { grant: { id: string; fence: number } }
    client.world.journal.grant(lock, client.name, begunAt, grant.fence)
    if (ending === 'vanish') return
    const opId = `op-${action.id}`
    const ops = operationFor(opId)
    const call = client.world.journal.beginOperation(lock, client.name, opId, ops)
    await settleRaw(client, call, `${lock}/grants/${grant.id}/ops`, { opId, ops })
    const kept = await client.request('POST', `${lock}/grants/${grant.id}/keepalive`, { ttlMs })
    if (kept.status === 200) counts.keepAlives++
    const released = await client.request('DELETE', `${lock}/grants/${grant.id}`)
    if (released.status === 204) counts.releases++
  } catch {
    client.note(`ticket: no answer`)
  }
}

// ---------------------------------------------------------------- looking

async function read(client: SimClient, { lock, consistency, participant }: ActionOf<'get'>): Promise<void> {
  const begunAt = client.world.loop.now
  const options = { consistency, ...(participant !== null && { at: participant }) }
  const { value, revision, sequence } = await client.connect().lock(lock).get(COUNTER, options)
  const by = client.name
  client.world.journal.read({
    ...{ lock, key: COUNTER, consistency, by, begunAt, value, revision },
    sequence: sequence ?? null,
  })
}

async function list(client: SimClient, { lock }: ActionOf<'list'>): Promise<void> {
  await client.connect().lock(lock).list({ limit: 2 })
}

async function status(client: SimClient, { lock }: ActionOf<'status'>): Promise<void> {
  const { holder } = await client.connect().lock(lock).status()
  if (holder !== null) client.world.journal.toldHolder(lock, client.name, holder)
  client.world.counts.statuses++
}

async function history(client: SimClient, { lock }: ActionOf<'history'>): Promise<void> {
  await client.connect().lock(lock).history()
  client.world.counts.histories++
}

async function watch(client: SimClient, action: ActionOf<'watch'>): Promise<void> {
  const { id, lock, forMs, since, participant } = action
  const signal = abortAfter(client, forMs)
  const at = participant === null ? {} : { at: participant }
  const options = since === null ? { signal, ...at } : { signal, since, ...at }
  for await (const event of client.connect().lock(lock).watch(options)) {
    const by = `${client.name}, watching since ${id}`
    if (event.type === 'op') client.world.journal.watch(lock, by, event.sequence, event.opId)
    if (event.type === 'snapshot') client.world.journal.watch(lock, by, event.sequence, null)
    if (event.type === 'holder') client.world.journal.watchHolder(lock, by, event)
  }
}

// ---------------------------------------------------------------- operators

async function eject(client: SimClient, { lock: name, byFence }: ActionOf<'eject'>): Promise<void> {
  const lock = client.connect().lock(name)
  const { journal, counts } = client.world
  // One of before, whose holder may be gone, or the present one.
  const before = journal.grants.findLast(grant => grant.lock === name)?.fence
  const isBefore = counts.ejections % 2 === 0 && before !== undefined
  const present = async () => (isBefore ? before : (await lock.status()).holder?.fence)
  const fence = byFence ? await present() : undefined
  if (byFence && fence === undefined) return
  journal.eject(name, fence ?? null)
  counts.ejections++
  const isMeant = fence !== undefined
  await noteRefusal(client, 'eject', name, isMeant, lock.eject(isMeant ? { fence } : {}))
}

/** Notes if the library says that nothing was done. A holder that is another one stays. */
async function noteRefusal<Value>(
  client: SimClient,
  wanted: Wanted,
  lock: string,
  isMeant: boolean,
  call: Promise<Value>,
): Promise<Value> {
  const begunAt = client.world.loop.now
  try {
    return await call
  } catch (error) {
    const { outcome } = error as { readonly outcome?: string }
    const isAnother = isMeant && error instanceof ConflictError && outcome === undefined
    const endedAt = client.world.loop.now
    if (outcome === 'not-applied' || isAnother)
      client.world.journal.callsRefused.push({ wanted, lock, by: client.name, begunAt, endedAt })
    throw error
  }
}

async function changeMembers(client: SimClient, action: ActionOf<'members'>): Promise<void> {
  const { counts } = client.world
  for (let time = 0; time < (action.again ? 2 : 1); time++) {
    try {
      const answer = await client.request(
        'POST',
        `${action.lock}/participants`,
        action.change as unknown as Json,
      )
      client.note(`members: ${answer.status} ${JSON.stringify(answer.body)}`)
      if (answer.status === 200) counts.membersChanged++
      if (answer.status === 202) counts.membersPending++
      if (answer.status === 409) counts.membersConflicts++
      if (answer.status === 400) counts.membersImpossible++
    } catch {
      client.note('members: no answer')
    }
  }
}

export async function configure(client: SimClient, name: string, wish: Wish): Promise<void> {
  try {
    const asked = client.connect().lock(name).configure(bodyOf(wish))
    const configuration = await noteRefusal(client, 'configure', name, false, asked)
    client.world.journal.configured(name, client.name, 'set', configuration as unknown as Json)
  } catch (error) {
    if (error instanceof BadRequestError) client.world.counts.configurationsRefused++
    const { configuration } = error instanceof ConflictError ? error.more : {}
    if (configuration === undefined) throw error
    client.world.journal.configured(name, client.name, 'conflict', configuration)
  }
}

/** The lock that is there now, and no other, however often it is said. */
async function remove(client: SimClient, { lock, force, again }: ActionOf<'delete'>): Promise<void> {
  const { generation } = await client.connect().lock(lock).status()
  await removeOnce(client, lock, force, generation)
  if (!again) return
  await client.sleep(client.random.logUniform(1, 3_000))
  await removeOnce(client, lock, force, generation)
}

async function removeOnce(
  client: SimClient,
  lock: string,
  force: boolean,
  generation: number,
): Promise<void> {
  const { journal, counts, loop } = client.world
  const begunAt = loop.now
  const note = (isDone: boolean) => journal.delete({ lock, by: client.name, generation, begunAt, isDone })
  try {
    const { status } = await client.request('DELETE', `${lock}?force=${force}&generation=${generation}`)
    if (status !== 204) counts.deletesRefused++
    note(status === 204)
  } catch {
    note(false)
  }
}

// ---------------------------------------------------------------- helpers

export function abortAfter(client: SimClient, ms: number): AbortSignal {
  const controller = new AbortController()
  client.world.loop.after(ms, () => controller.abort(new Error('the client gives up')))
  return controller.signal
}
