/**
 * A grant by its id alone, for whoever did not acquire it itself: another process that was told the id, or an
 * earlier one.
 */
import { type Connection, pathOf } from './connection.ts'
import { ReleasedError } from './errors.ts'
import { type ApplyOptions, applyUnderGrant, outcomeOf } from './operations.ts'
import type { BatchResult, KeyValue, ResourceTypes } from './ops.ts'
import { writeJson } from './write-json.ts'

/**
 * Nothing keeps this grant alive but what is called here. Every call rejects with a `GrantOverError` once it
 * is over.
 */
export class GrantById<Resource extends ResourceTypes = KeyValue> {
  readonly id: string
  readonly #connection: Connection
  readonly #lock: string
  readonly #path: string

  constructor(connection: Connection, lock: string, id: string) {
    this.id = id
    this.#connection = connection
    this.#lock = lock
    this.#path = pathOf(lock, 'grants', id)
  }

  /** Applies the ops as one atomic operation. */
  async apply<const Batch extends readonly Resource['op'][]>(
    ops: Batch,
    { opId = this.#connection.newId(), signal }: ApplyOptions = {},
  ): Promise<BatchResult<Batch, Resource>> {
    const request = { opId, body: writeJson({ opId, ops }), signal }
    const answer = await this.#connection.traced('apply', this.#lock, async (connection, note) => {
      const answer = await applyUnderGrant(connection, this.#path, request)
      note({ 'baton.outcome': outcomeOf(answer) })
      return answer
    })
    return answer as unknown as BatchResult<Batch, Resource>
  }

  async keepAlive(ttlMs?: number): Promise<{ readonly expiresAt: string }> {
    const call = { method: 'POST', path: `${this.#path}/keepalive`, body: writeJson({ ttlMs }) } as const
    const { body } = await this.#connection.traced('keepAlive', this.#lock, connection =>
      connection.call(call, { repeat: 'always' }),
    )
    return body as unknown as { readonly expiresAt: string }
  }

  async release(): Promise<void> {
    const call = { method: 'DELETE', path: this.#path } as const
    await this.#connection.traced('release', this.#lock, connection =>
      connection.attempts({ repeat: 'always' }, undefined, async before => {
        try {
          await connection.transport.request(call)
        } catch (error) {
          // That it is released already may be the answer to a second request: the first has released it.
          if (before === 0 || !(error instanceof ReleasedError)) throw error
        }
      }),
    )
  }
}
