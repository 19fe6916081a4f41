/** The names of all locks, which the service keeps apart from the locks themselves. */
import type { Connection } from './connection.ts'

export interface ListLocksOptions {
  /** Only names that begin with this. */
  readonly prefix?: string
  /** At most this many locks on a page. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
  readonly signal?: AbortSignal | undefined
}

export interface ListedLock {
  readonly lock: string
  readonly protocol: string
  /** How many it has. */
  readonly participants: number
  /** 1 for the first lock of this name; one more for each that was deleted before. */
  readonly generation: number
}

export interface LocksPage {
  readonly locks: readonly ListedLock[]
  /** `null` on the last page; any other page may have fewer locks than its limit. */
  readonly cursor: string | null
}

export function listLocks(connection: Connection, options: ListLocksOptions): Promise<LocksPage> {
  const { prefix, limit, cursor, signal } = options
  const call = { method: 'GET', path: '', query: { prefix, limit, cursor } } as const
  return connection.traced('locks', '', async traced => {
    const answer = await traced.call(call, { repeat: 'always' }, signal)
    return answer.body as unknown as LocksPage
  })
}

export async function* eachLock(
  connection: Connection,
  options: ListLocksOptions,
): AsyncGenerator<ListedLock, void, undefined> {
  for (let { cursor } = options; ; ) {
    const page = await listLocks(connection, cursor === undefined ? options : { ...options, cursor })
    yield* page.locks
    if (page.cursor === null) return
    cursor = page.cursor
  }
}
