/** What the participants of a lock recorded, read page by page. */
import { type Connection, pathOf } from './connection.ts'
import type { HistoryPage, LockHistory } from './types.ts'

export interface HistoryOptions {
  /** At most this many events of each participant on a page. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
  readonly signal?: AbortSignal | undefined
}

/** Ends with the last page, or with one on which nobody answered. */
export async function* historyPages(
  connection: Connection,
  lock: string,
  { limit, cursor: first, signal }: HistoryOptions,
): AsyncGenerator<HistoryPage, void, undefined> {
  const path = pathOf(lock, 'history')
  for (let cursor: string | null | undefined = first; cursor !== null; ) {
    const call = { method: 'GET', path, query: { limit, cursor } } as const
    const answer = await connection.traced('history', lock, traced =>
      traced.call(call, { repeat: 'always' }, signal),
    )
    const page = answer.body as unknown as HistoryPage
    yield page
    cursor = page.participants.some(({ reachable }) => reachable) ? page.cursor : null
  }
}

/** A participant of which a page is missing counts as one that was not reached. */
export async function wholeHistory(pages: AsyncIterable<HistoryPage>): Promise<LockHistory> {
  type Participant = LockHistory['participants'][number]
  const participants = new Map<number, Participant>()
  let last: HistoryPage | undefined
  for await (const page of pages) {
    last = page
    for (const { id, reachable, events } of page.participants) {
      participants.set(id, { id, reachable, events: [...(participants.get(id)?.events ?? []), ...events] })
    }
  }
  const { lock, protocol, resource } = last!
  return { lock, protocol, resource, participants: [...participants.values()] }
}
