/** Reading the guarded state, with or without holding the lock. */
import type { Json } from '../shared/json.ts'
import { type Connection, pathOf } from './connection.ts'
import { NotFoundError } from './errors.ts'
import type { Consistency, Entry, Page, Read } from './types.ts'

export interface GetOptions {
  /**
   * `linearizable` (the default) sees everything that was answered before; `local` is quicker and may be
   * older.
   */
  readonly consistency?: Consistency
  /** The participant to ask, instead of the nearest. */
  readonly at?: number
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions extends GetOptions {
  readonly prefix?: string
  /** At most this many entries on a page. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
}

/** As segments of a path these lead to another path, however they are written. */
const NOT_IN_A_PATH = new Set(['', '.', '..'])

export async function getKey<Value extends Json>(
  connection: Connection,
  lock: string,
  key: string,
  options: GetOptions,
): Promise<Read<Value>> {
  if (NOT_IN_A_PATH.has(key)) return getFirst(connection, lock, key, options)
  const { consistency, at, signal } = options
  try {
    const path = pathOf(lock, 'state', key)
    const call = { method: 'GET', path, query: { consistency, at } } as const
    const answer = await connection.call(call, { repeat: 'always' }, signal)
    return answer.body as unknown as Read<Value>
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'no_such_key')
      return { key, value: null, revision: 0 }
    throw error
  }
}

/** Of all keys that begin with this one, it is the first itself. */
async function getFirst<Value extends Json>(
  connection: Connection,
  lock: string,
  key: string,
  options: GetOptions,
): Promise<Read<Value>> {
  const { entries, sequence } = await listKeys<Value>(connection, lock, { ...options, prefix: key, limit: 1 })
  const first = entries[0]
  return first?.key === key ? { ...first, sequence } : { key, value: null, revision: 0 }
}

export async function listKeys<Value extends Json>(
  connection: Connection,
  lock: string,
  { prefix, limit, cursor, consistency, at, signal }: ListOptions,
): Promise<Page<Value>> {
  const query = { prefix, limit, cursor, consistency, at }
  const call = { method: 'GET', path: pathOf(lock, 'state'), query } as const
  const answer = await connection.call(call, { repeat: 'always' }, signal)
  return answer.body as unknown as Page<Value>
}

/** Each page is one moment of the state; from page to page it may change. */
export async function* listAll<Value extends Json>(
  connection: Connection,
  lock: string,
  options: ListOptions,
): AsyncGenerator<Entry<Value>, void, undefined> {
  let { cursor } = options
  do {
    const page = await listKeys<Value>(
      connection,
      lock,
      cursor === undefined ? options : { ...options, cursor },
    )
    yield* page.entries
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
}
