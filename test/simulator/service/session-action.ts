/** A session: `try`, some operations, and an end. A client may also stand still with its socket open. */
import type { Session, SessionEvent } from '../../../shared/client/index.ts'
import { BatonError } from '../../../shared/client/index.ts'
import { operationFor } from './client-actions.ts'
import type { OperationCall } from './journal.ts'
import type { Action } from './plan-actions.ts'
import type { SimClient } from './sim-client.ts'

type SessionAction = Extract<Action, { readonly type: 'session' }>

/** Longer than any answer takes that comes at all. */
const PATIENCE_MS = 30_000

export async function playSession(client: SimClient, action: SessionAction): Promise<void> {
  const session = client.connect().lock(action.lock).session()
  const events = session[Symbol.asyncIterator]()
  const player = new Player(client, action, session, events)
  try {
    await player.play()
  } catch (error) {
    if (client.isExpected(error)) client.note(`session: ${error.message}`)
  }
  player.abandon()
}

class Player {
  readonly #client: SimClient
  readonly #action: SessionAction
  readonly #session: Session
  readonly #events: AsyncIterator<SessionEvent>
  #next: Promise<IteratorResult<SessionEvent>> | null = null
  #pending: OperationCall | null = null

  constructor(client: SimClient, action: SessionAction, session: Session, events: AsyncIterator<SessionEvent>) {
    this.#client = client
    this.#action = action
    this.#session = session
    this.#events = events
  }

  async play(): Promise<void> {
    const { lock, waitMs, ttlMs, operations, thinkMs, ending } = this.#action
    const { journal, counts, loop } = this.#client.world
    const begunAt = loop.now
    this.#session.try({ waitMs, ttlMs })
    const first = await this.#event(waitMs + PATIENCE_MS)
    if (first?.type !== 'crit') return this.#client.note(`session: ${JSON.stringify(first)}`)
    counts.sessions++
    journal.grant(lock, this.#client.name, begunAt, first.fence, 0)
    for (let count = 0; count < operations; count++) {
      if (!(await this.#operate(count))) return
      await this.#client.sleep(thinkMs)
    }
    if (ending === 'deaf') {
      counts.deafSessions++
      return
    }
    if (ending === 'exit') {
      this.#session.exit()
      const last = await this.#event(PATIENCE_MS)
      if (last?.type === 'rem') counts.releases++
    }
    this.#session.close()
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
