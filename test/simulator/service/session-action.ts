/** A session: `try`, some operations, and an end. A client may also stand still with its socket open. */
import type { Session, SessionEvent } from '../../../client/index.ts'
import { BatonError } from '../../../client/index.ts'
import { COUNTER, operationFor, settle } from './client-actions.ts'
import type { OperationCall } from './journal.ts'
import type { Action } from './plan-actions.ts'
import type { Life, SimClient } from './sim-client.ts'

type SessionAction = Extract<Action, { readonly type: 'session' }>

/** Longer than any answer takes that comes at all. */
const PATIENCE_MS = 30_000

export async function playSession(client: SimClient, action: SessionAction): Promise<void> {
  const life: Life = { isGone: false }
  const session = client
    .connect(life)
    .lock(action.lock)
    .session(action.participant === null ? {} : { at: action.participant })
  const player = new Player(client, action, session)
  let isDeaf = false
  try {
    isDeaf = (await player.play()) === 'deaf'
  } catch (error) {
    if (client.isExpected(error)) client.note(`session: ${error.message}`)
  }
  player.abandon()
  if (!isDeaf) return session.close()
  client.world.counts.deafSessions++
  life.isGone = true
  if (life.socket !== undefined) life.socket.isDeaf = true
}

class Player {
  readonly #client: SimClient
  readonly #action: SessionAction
  readonly #session: Session
  readonly #events: AsyncIterator<SessionEvent>
  #next: Promise<IteratorResult<SessionEvent>> | null = null
  #pending: OperationCall | null = null

  constructor(client: SimClient, action: SessionAction, session: Session) {
    this.#client = client
    this.#action = action
    this.#session = session
    this.#events = session[Symbol.asyncIterator]()
  }

  async play(): Promise<'over' | 'deaf'> {
    const { lock, waitMs, ttlMs, operations, thinkMs, ending } = this.#action
    const { journal, counts, loop } = this.#client.world
    await this.#call()
    const begunAt = loop.now
    this.#session.try({ waitMs, ttlMs })
    const first = await this.#event(waitMs + PATIENCE_MS)
    if (first?.type !== 'crit') {
      this.#client.note(`session: ${JSON.stringify(first)}`)
      return 'over'
    }
    counts.sessions++
    journal.grant(lock, this.#client.name, begunAt, first.fence)
    for (let count = 0; count < operations; count++) {
      if (!(await this.#operate(count))) return 'over'
      await this.#client.sleep(thinkMs)
    }
    if (ending === 'exit') {
      this.#session.exit()
      const last = await this.#event(PATIENCE_MS)
      if (last?.type === 'rem') counts.releases++
    }
    return ending === 'deaf' ? 'deaf' : 'over'
  }

  /** What the session asks as calls: some at once, so that answers overtake each other, each with a read. */
  async #call(): Promise<void> {
    const { calls } = this.#action
    await Promise.all(Array.from({ length: calls }, (_, count) => this.#transactAndRead(count)))
  }

  async #transactAndRead(count: number): Promise<void> {
    const { lock, id, waitMs } = this.#action
    const { journal, counts, loop } = this.#client.world
    const opId = `op-${id}.call-${count}`
    const ops = operationFor(opId)
    const call = journal.beginOperation(lock, this.#client.name, opId, ops)
    const answer = this.#session.transact(ops, { opId, waitMs })
    await settle(this.#client, call, answer)
    if (call.word === 'applied') counts.sessionTransacts++
    if (call.word === 'unknown') return
    const consistency = count % 2 === 0 ? 'linearizable' : 'local'
    const begunAt = loop.now
    try {
      const { value, revision, sequence = null } = await this.#session.get(COUNTER, { consistency })
      const by = this.#client.name
      journal.read({ lock, key: COUNTER, consistency, by, begunAt, value, revision, sequence })
      counts.sessionReads++
    } catch (error) {
      if (this.#client.isExpected(error)) this.#client.note(`session read: ${error.message}`)
    }
  }

  /** Whether the session goes on. */
  async #operate(count: number): Promise<boolean> {
    const { journal, counts } = this.#client.world
    const opId = `op-${this.#action.id}.${count}`
    const ops = operationFor(opId)
    const call = journal.beginOperation(this.#action.lock, this.#client.name, opId, ops)
    this.#pending = call
    this.#session.issue(ops, { opId })
    const event = await this.#event(PATIENCE_MS)
    this.#pending = null
    if (event?.type === 'outcome' && event.opId === opId) {
      counts.sessionOutcomes++
      const { sequence, applied, results } = event
      journal.endOperation(call, 'applied', { sequence, condition: applied, results: results as never })
      return true
    }
    const pending = event?.type === 'ejected' ? event.pending : undefined
    this.#client.note(`session: ${JSON.stringify(event)}`)
    journal.endOperation(call, pending?.opId === opId ? pending.outcome : 'unknown')
    return false
  }

  async #event(withinMs: number): Promise<SessionEvent | null> {
    this.#next ??= this.#events.next()
    const timeout = this.#client.sleep(withinMs).then(() => null)
    const result = await Promise.race([this.#next, timeout])
    if (result === null) return null
    this.#next = null
    return result.done ? null : result.value
  }

  /** Whatever was not answered never will be, as far as this client knows. */
  abandon(): void {
    if (this.#pending !== null) this.#client.world.journal.endOperation(this.#pending, 'unknown')
    this.#next?.catch(error => {
      if (!(error instanceof BatonError)) this.#client.world.escaped(this.#client.name, error)
    })
  }
}
