/**
 * Clients that count. Each operation has an `opId` of its own, increments a counter and appends its name to a
 * list. In the end the counter must equal the number of names, and each name must be there once: all
 * acknowledged ones among them, and none that was reported as not applied.
 */
import { expect, onTestFinished } from 'vitest'
import { sleep } from './eventually.ts'
import type { Answer } from './http.ts'
import type { TestLock } from './lock.ts'
import { openSession } from './session-socket.ts'

/** How the lock is used. Returns what was answered; throws if the connection broke. */
export type Way = (lock: TestLock, opId: string, round: number) => Promise<Answer>

const opsOf = (opId: string) => [{ increment: 'count' }, { append: 'names', value: opId }]

export const byTransact =
  (participants?: number): Way =>
  (lock, opId, round) =>
    lock.transact(opsOf(opId), { opId, ...(participants && { at: (round % participants) + 1 }) })

/** Three calls, any of which may fail; a grant that could not be given back expires by itself. */
export const byGrant: Way = async (lock, opId) => {
  const acquired = await lock.acquire({ waitMs: 5_000, ttlMs: 1_000 })
  if (acquired.status !== 200) return acquired
  const applied = await lock.ops(acquired.body.grant, opsOf(opId), opId)
  await lock.release(acquired.body.grant).catch(() => {})
  return applied
}

/** Waits with a ticket, which outlives the participant that it was asked through. */
export const byTicket: Way = async (lock, opId) => {
  const acquired = await lock.acquire({ waitMs: 0, ttlMs: 1_000, ticket: true })
  let answer = acquired
  for (let asked = 0; answer.status === 202 && asked < 10; asked++) {
    answer = await lock.ticket(acquired.body.ticket.id, 2_000)
  }
  if (answer.status !== 200) return answer
  const applied = await lock.ops(answer.body.grant, opsOf(opId), opId)
  await lock.release(answer.body.grant).catch(() => {})
  return applied
}

/**
 * What its session says is reported as the answer of a call. A session that breaks off is a broken
 * connection.
 */
export const bySession: Way = async (lock, opId) => {
  const session = await openSession(`${lock.url}/session`).catch(() => {
    throw new TypeError('the session was refused')
  })
  try {
    session.send({ type: 'try', waitMs: 5_000, ttlMs: 1_000 })
    for (;;) {
      const event = await session.next().catch(error => {
        throw new TypeError(String(error))
      })
      if (event.type === 'crit') session.send({ type: 'issue', opId, ops: opsOf(opId) })
      if (event.type === 'outcome') return told(200, { applied: event.applied, results: event.results })
      if (event.type === 'error') return told(409, { code: event.code })
      if (event.type === 'ejected') return told(410, { code: 'ejected', outcome: event.pending?.outcome })
    }
  } finally {
    session.close()
  }
}

function told(status: number, body: object): Answer {
  return { status, headers: new Headers(), text: JSON.stringify(body), body: body as Answer['body'] }
}

/** Each operation in another way than the one before; a repetition goes the same way. */
export const byTurns =
  (...ways: readonly Way[]): Way =>
  (lock, opId, round) =>
    ways[round % ways.length]!(lock, opId, round)

/** What became of one attempt. `not-applied` is a promise; `in-doubt` is none. */
type Attempt = 'acknowledged' | 'not-applied' | 'in-doubt'

export interface LoadOptions {
  /** How many of the operations that failed are not repeated: 0 for none, 1 for all. */
  readonly givenUp?: number
}

export class Load {
  /** The operations that were acknowledged, with the count that the answer gave. */
  readonly acknowledged = new Map<string, number>()
  /**
   * Those that were given up, and whether every attempt was answered with the promise that it was not
   * applied.
   */
  readonly givenUp = new Map<string, boolean>()
  /** Answers other than success, by status, code and outcome. */
  readonly refusals = new Map<string, number>()
  broken = 0
  private readonly lock: TestLock
  private readonly options: LoadOptions
  private readonly clients: Promise<void>[]
  private isOver = false
  private isAbandoned = false

  constructor(lock: TestLock, clients: number, way: Way, options: LoadOptions = {}) {
    this.lock = lock
    this.options = options
    // The clients of a test that failed must not go on in the next one.
    onTestFinished(() => {
      this.isOver = true
      this.isAbandoned = true
    })
    this.clients = Array.from({ length: clients }, (_, index) => this.client(`client${index + 1}`, way))
  }

  private async client(name: string, way: Way): Promise<void> {
    for (let round = 1; !this.isOver; round++) await this.operation(way, `${name}/${round}`, round)
  }

  private async operation(way: Way, opId: string, round: number): Promise<void> {
    let isPromised = true
    while (!this.isAbandoned) {
      const attempt = await this.attempt(way, opId, round)
      if (attempt === 'acknowledged') return
      if (attempt === 'in-doubt') isPromised = false
      if (Math.random() < (this.options.givenUp ?? 0)) {
        this.givenUp.set(opId, isPromised)
        return
      }
      await sleep(20 + Math.random() * 80)
    }
  }

  private async attempt(way: Way, opId: string, round: number): Promise<Attempt> {
    let answer: Answer
    try {
      answer = await way(this.lock, opId, round)
    } catch (error) {
      // An answer that contradicts the contract is a failure; a broken connection is what the test is about.
      if (!(error instanceof TypeError)) throw error
      this.broken++
      return 'in-doubt'
    }
    const { status, body } = answer
    if (status === 200) {
      expect(body.applied).toBe(true)
      this.acknowledged.set(opId, body.results[0]!.value as number)
      return 'acknowledged'
    }
    const refusal = `${status} ${body.code} ${body.outcome ?? ''}`
    this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1)
    return body.outcome === 'not-applied' ? 'not-applied' : 'in-doubt'
  }

  async untilAcknowledged(count: number): Promise<void> {
    while (this.acknowledged.size < count) await Promise.race([sleep(20), this.failure()])
  }

  /** Rejects if a client has failed. */
  private failure(): Promise<void> {
    return Promise.all(this.clients).then(() => {})
  }

  /** Every client finishes its present operation. */
  async finish(): Promise<void> {
    this.isOver = true
    await Promise.all(this.clients)
  }

  /**
   * Must be called after `finish`. The list shows which of the operations in doubt were applied after all.
   */
  async expectEachOnce(): Promise<void> {
    const names = (await this.lock.value('names')) as readonly string[]
    expect(new Set(names).size, 'nothing is applied twice').toBe(names.length)
    expect(await this.lock.value('count')).toBe(names.length)
    // Each was told its own count, which is its place in the list: so each that was acknowledged is there.
    for (const [opId, count] of this.acknowledged) expect(names[count - 1]).toBe(opId)
    for (const name of names) {
      const isPromised = this.acknowledged.has(name) ? false : this.givenUp.get(name)
      expect(isPromised, `${name} was applied, but nobody knows of it or it was said not to be`).toBe(false)
    }
  }
}
