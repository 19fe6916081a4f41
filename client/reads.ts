/** Reading the guarded state, with or without holding the lock. */
import type { Json } from '../shared/json.ts'
import { type Connection, pathOf } from './connection.ts'
import { NotFoundError } from './errors.ts'
import type { ResourceTypes } from './ops.ts'
import type { Schemas } from './schemas.ts'
import type { KeyOf } from './state.ts'
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

/** How a key is read: by its name if the state is known, and otherwise as what the caller says that it is. */
export type Get<Resource extends ResourceTypes> = Resource extends { readonly state: infer State }
  ? <Key extends KeyOf<State>>(key: Key, options?: GetOptions) => Promise<Read<State[Key]>>
  : <Value extends Json = Json>(key: string, options?: GetOptions) => Promise<Read<Value>>

/** As segments of a path these lead to another path, however they are written. */
const NOT_IN_A_PATH = new Set(['', '.', '..'])

export async function getKey(
  connection: Connection,
  lock: string,
  key: string,
  options: GetOptions,
  schemas: Schemas | undefined,
): Promise<Read<unknown>> {
  const read = await readKey(connection, lock, key, options)
  return schemas === undefined ? read : schemas.read(read)
}

async function readKey(
  connection: Connection,
  lock: string,
  key: string,
  options: GetOptions,
): Promise<Read<unknown>> {
  if (NOT_IN_A_PATH.has(key)) return getFirst(connection, lock, key, options)
  const { consistency, at, signal } = options
  try {
    const path = pathOf(lock, 'state', key)
    const call = { method: 'GET', path, query: { consistency, at } } as const
    const answer = await connection.call(call, { repeat: 'always' }, signal)
    return answer.body as unknown as Read<unknown>
  } catch (error) {
    if (isAbsent(error)) return { key, value: null, revision: 0 }
    throw error
  }
}

/** A lock that nobody has used has no keys. */
const isAbsent = (error: unknown): boolean =>
  error instanceof NotFoundError && (error.code === 'no_such_key' || error.code === 'no_such_lock')

/** Such a key is read from the list of all keys that begin with it: it is the first of them. */
async function getFirst(
  connection: Connection,
  lock: string,
  key: string,
  options: GetOptions,
): Promise<Read<unknown>> {
  const one = { ...options, prefix: key, limit: 1 }
  const { entries, sequence } = await listKeys<unknown>(connection, lock, one, undefined)
  const first = entries[0]
  return first?.key === key ? { ...first, sequence } : { key, value: null, revision: 0 }
}

export async function listKeys<Value>(
  connection: Connection,
  lock: string,
  { prefix, limit, cursor, consistency, at, signal }: ListOptions,
  schemas: Schemas | undefined,
): Promise<Page<Value>> {
  const query = { prefix, limit, cursor, consistency, at }
  const call = { method: 'GET', path: pathOf(lock, 'state'), query } as const
  const page = await connection.call(call, { repeat: 'always' }, signal).then(
    answer => answer.body as unknown as Page<Value>,
    error => {
      if (isAbsent(error)) return { entries: [], cursor: null, sequence: 0 }
      throw error
    },
  )
  if (schemas === undefined) return page
  return { ...page, entries: await Promise.all(page.entries.map(entry => schemas.read(entry))) }
}

/** Each page is one moment of the state; from page to page it may change. */
export async function* listAll<Value>(
  list: (options: ListOptions) => Promise<Page<Value>>,
  options: ListOptions,
): AsyncGenerator<Entry<Value>, void, undefined> {
  let { cursor } = options
  do {
    const page = await list(cursor === undefined ? options : { ...options, cursor })
    yield* page.entries
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
}
