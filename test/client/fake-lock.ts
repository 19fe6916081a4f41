/**
 * One lock in memory, with one participant: what the public contract says about grants, operations and
 * events.
 */

import type { Clock, Outcome } from '../../client/index.ts'
import type { Problem } from '../../shared/api/problems.ts'
import { problem } from '../../shared/api/problems.ts'
import type { Json } from '../../shared/json.ts'
import { keyOfCell, keyValue } from '../../shared/resource/key-value.ts'
import type { Cells } from '../../shared/resource/resource.ts'

export interface FakeUser {
  readonly user: string
  readonly ttlMs: number
  /** A grant that it had to wait for ends after this, unless it is used. */
  readonly confirmMs?: number
}

export interface FakeGrant extends FakeUser {
  readonly fence: number
  expiresAt: number
  /** When it ends unless somebody uses it; `null`: somebody has, or need not. */
  confirmBy: number | null
}

export interface FakeEvent {
  readonly type: 'op' | 'holder'
  readonly sequence: number
  readonly data: Json
}

export type Refused = { readonly refused: Problem }

export class FakeLock {
  readonly clock: Clock
  epoch = 1
  sequence = 0
  cells: Cells = {}
  holder: FakeGrant | null = null
  readonly queue: FakeUser[] = []
  readonly withdrawn = new Set<string>()
  readonly events: FakeEvent[] = []
  /** Every application, with repetitions: what the properties are about. */
  readonly applied: string[] = []
  /** What becomes of the operation during which the next ejection happens. */
  ejectsDuringNextOperation: Outcome | undefined
  readonly #granted = new Map<string, FakeGrant>()
  readonly #over = new Map<string, 'released' | 'expired' | 'ejected'>()
  readonly #results = new Map<string, { readonly ops: string; readonly answer: Json }>()
  readonly #listeners = new Set<() => void>()
  #fence = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  enqueue(user: FakeUser): void {
    this.queue.push(user)
    this.#grantNext(true)
  }

  /** Also gives back what has become a grant. */
  withdraw(user: string): void {
    const index = this.queue.findIndex(waiting => waiting.user === user)
    if (index !== -1) this.queue.splice(index, 1)
    if (this.holder?.user === user) this.end('released')
  }

  grantOf(user: string): FakeGrant | undefined {
    const grant = this.#granted.get(user)
    return grant !== undefined && this.holder === grant ? grant : undefined
  }

  /** Resolves at the next change. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const listener = () => {
        this.#listeners.delete(listener)
        resolve()
      }
      this.#listeners.add(listener)
      signal.addEventListener('abort', listener, { once: true })
    })
  }

  /** Why this grant can no longer be used, if so. */
  refusal(user: string): Refused | undefined {
    const over = this.#over.get(user)
    if (over !== undefined)
      return { refused: problem(over, `The grant is ${over}.`, { outcome: 'not-applied' }) }
    return this.holder?.user === user
      ? undefined
      : { refused: problem('expired', 'Nobody knows this grant.') }
  }

  keepAlive(ttlMs: number | undefined): number {
    const holder = this.holder!
    holder.confirmBy = null
    holder.expiresAt = this.clock.now() + (ttlMs ?? holder.ttlMs)
    return holder.expiresAt
  }

  end(how: 'released' | 'expired' | 'ejected'): void {
    if (this.holder === null) return
    this.#over.set(this.holder.user, how)
    this.holder = null
    this.#tell('holder', { sequence: this.sequence, participant: null })
    this.#grantNext()
  }

  operate(user: string, opId: string, ops: Json): Json | Refused {
    const text = JSON.stringify(ops)
    const before = this.#results.get(opId)
    if (before !== undefined) {
      return before.ops === text
        ? before.answer
        : { refused: problem('conflict', 'The opId was used for other ops.') }
    }
    const refusal = this.refusal(user)
    if (refusal !== undefined) return refusal
    this.holder!.confirmBy = null
    const outcome = this.ejectsDuringNextOperation
    this.ejectsDuringNextOperation = undefined
    const answer = outcome === 'not-applied' ? null : this.#apply(opId, ops, text)
    if (outcome === undefined) return answer
    this.end('ejected')
    return { refused: problem('ejected', 'The holder was forced out.', { outcome }) }
  }

  #apply(opId: string, ops: Json, text: string): Json {
    this.sequence++
    this.applied.push(opId)
    const { result, changes } = keyValue.apply(this.cells, ops, this.sequence)
    this.cells = { ...this.cells }
    for (const { cell, value } of changes) {
      if (value === null) delete this.cells[cell]
      else this.cells[cell] = value
    }
    const answer = { sequence: this.sequence, ...(result as object) } as Json
    this.#results.set(opId, { ops: text, answer })
    const told = changes.map(({ cell, value }) => {
      const key = keyOfCell(cell)
      return value === null ? { key, deleted: true } : { key, ...(value as object) }
    })
    this.#tell('op', { sequence: this.sequence, fence: this.holder!.fence, opId, changes: told as Json })
    return answer
  }

  #grantNext(isNew = false): void {
    const next = this.queue.shift()
    if (this.holder !== null || next === undefined) {
      if (next !== undefined) this.queue.unshift(next)
      return
    }
    const fence = ++this.#fence
    const now = this.clock.now()
    const confirmBy = isNew || next.confirmMs === undefined ? null : now + next.confirmMs
    const grant: FakeGrant = { ...next, fence, expiresAt: now + next.ttlMs, confirmBy }
    this.holder = grant
    this.#granted.set(next.user, grant)
    this.#tell('holder', { sequence: this.sequence, participant: 1, fence })
    this.#expire(grant)
  }

  async #expire(grant: FakeGrant): Promise<void> {
    const end = () => Math.min(grant.expiresAt, grant.confirmBy ?? grant.expiresAt)
    while (this.holder === grant && this.clock.now() < end()) {
      await this.clock.sleep(end() - this.clock.now(), { background: true })
    }
    if (this.holder === grant) this.end('expired')
  }

  #tell(type: FakeEvent['type'], data: Json): void {
    this.events.push({ type, sequence: this.sequence, data })
    for (const listener of [...this.#listeners]) listener()
  }
}
