/**
 * One lock as a test uses it: a method for each call, and short forms that fail the test unless the call
 * succeeds.
 */
import type { AcquireRequest, ConfigureRequest, Grant, Ticket } from '../../shared/api/types.ts'
import type { Json } from '../../shared/json.ts'
import type { KeyValueOp } from '../../shared/resource/key-value.ts'
import { eventually } from './eventually.ts'
import { type Answer, type RequestOptions, request } from './http.ts'

export class TestLock {
  readonly name: string
  private readonly urlOf: () => string
  private operations = 0

  constructor(name: string, urlOf: () => string) {
    this.name = name
    this.urlOf = urlOf
  }

  get path(): string {
    return `/v1/locks/${this.name}`
  }

  get url(): string {
    return `${this.urlOf()}${this.path}`
  }

  send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    return request(this.urlOf(), method, `${this.path}${path}`, options)
  }

  /** An id that no other operation of this lock has. */
  newOpId(): string {
    return `${this.name}-${++this.operations}`
  }

  // ---- calls

  configure(body: ConfigureRequest = {}): Promise<Answer> {
    return this.send('PUT', '', { body })
  }

  status(): Promise<Answer> {
    return this.send('GET', '')
  }

  acquire(body: AcquireRequest = {}, signal?: AbortSignal): Promise<Answer> {
    return this.send('POST', '/acquire', { body, ...(signal && { signal }) })
  }

  ticket(id: string, waitMs?: number): Promise<Answer> {
    return this.send('GET', `/tickets/${id}${waitMs === undefined ? '' : `?waitMs=${waitMs}`}`)
  }

  withdraw(id: string): Promise<Answer> {
    return this.send('DELETE', `/tickets/${id}`)
  }

  ops(grant: Pick<Grant, 'id'>, ops: readonly KeyValueOp[], opId = this.newOpId()): Promise<Answer> {
    return this.send('POST', `/grants/${grant.id}/ops`, { body: { opId, ops } })
  }

  keepAlive(grant: Pick<Grant, 'id'>, body: { readonly ttlMs?: number } = {}): Promise<Answer> {
    return this.send('POST', `/grants/${grant.id}/keepalive`, { body })
  }

  release(grant: Pick<Grant, 'id'>): Promise<Answer> {
    return this.send('DELETE', `/grants/${grant.id}`)
  }

  transact(
    ops: readonly KeyValueOp[],
    options: { readonly opId?: string; readonly waitMs?: number; readonly at?: number } = {},
  ): Promise<Answer> {
    return this.send('POST', '/transact', { body: { opId: this.newOpId(), ...options, ops } })
  }

  get(key: string, query = ''): Promise<Answer> {
    return this.send('GET', `/state/${encodeURIComponent(key)}${query}`)
  }

  list(query = ''): Promise<Answer> {
    return this.send('GET', `/state${query}`)
  }

  eject(body: { readonly fence?: number } = {}): Promise<Answer> {
    return this.send('POST', '/eject', { body })
  }

  // ---- short forms

  /** The lock itself, once it exists. */
  async created(): Promise<this> {
    expectStatus(await this.configure(), 201)
    return this
  }

  async granted(body: AcquireRequest = {}): Promise<Grant> {
    return granted(await this.acquire(body))
  }

  /** A place in the queue behind the holder of the lock. */
  async queued(body: AcquireRequest = {}): Promise<Ticket> {
    const answer = await this.acquire({ waitMs: 0, ticket: true, ...body })
    return expectStatus(answer, 202).body.ticket
  }

  async released(grant: Pick<Grant, 'id'>): Promise<void> {
    expectStatus(await this.release(grant), 204)
  }

  async applied(
    grant: Pick<Grant, 'id'>,
    ops: readonly KeyValueOp[],
    opId?: string,
  ): Promise<Answer['body']> {
    return expectStatus(await this.ops(grant, ops, opId), 200).body
  }

  async transacted(
    ops: readonly KeyValueOp[],
    options: { readonly opId?: string; readonly at?: number } = {},
  ): Promise<Answer['body']> {
    return expectStatus(await this.transact(ops, options), 200).body
  }

  async value(key: string, query = ''): Promise<Json> {
    return expectStatus(await this.get(key, query), 200).body.value
  }

  /** How many users wait, at all participants together. */
  async queue(): Promise<number> {
    const { participants } = (await this.status()).body
    return participants.reduce((sum, { queue }) => sum + (queue ?? 0), 0)
  }

  async untilQueueIs(length: number): Promise<void> {
    await eventually(async () => {
      const queue = await this.queue()
      if (queue !== length) throw new Error(`${queue} users wait for ${this.name}, not ${length}`)
    })
  }

  /** Waits until nobody holds the lock any more, at any participant. */
  async untilFree(): Promise<void> {
    await eventually(async () => {
      const { holder } = (await this.status()).body
      if (holder !== null) throw new Error(`${this.name} is held: ${JSON.stringify(holder)}`)
    })
  }
}

export function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new Error(`${status} was expected, not ${answer.status} ${answer.text}`)
  return answer
}

export function granted(answer: Answer): Grant {
  return expectStatus(answer, 200).body.grant
}
