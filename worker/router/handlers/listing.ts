/** `GET /v1/locks`: the names of all locks, from the objects of the index. */
import { formatCursor, parseCursor } from '../../../shared/api/ids.ts'
import {
  INDEX_SHARDS,
  type IndexPage,
  indexName,
  type MergedPage,
  mergePages,
} from '../../../shared/api/lock-index.ts'
import type { LocksAnswer } from '../../../shared/api/types.ts'
import { json, malformed, problemResponse } from '../answers.ts'
import { mayDo } from '../authentication.ts'
import type { Handlers, Services } from '../context.ts'
import { bodyOf } from '../routing.ts'
import { mapLimited } from '../time-limit.ts'

/** As many requests as may wait at once. */
const MAX_AT_ONCE = 6

const NOBODY = 'No object of the index that lists a part of the locks answers.'

export const listingHandlers = {
  /** A key that is good for some locks is told of those, and of no others. */
  locks: async ({ c, services, query: { prefix, limit, cursor } }) => {
    const after = cursor === undefined ? '' : parseCursor(cursor)
    if (after === null) {
      return malformed(c, [{ in: 'query', path: 'cursor', message: 'is not the cursor of an earlier page' }])
    }
    const page = await pageOf(services, prefix, after, limit)
    if (page === null) return problemResponse(c, 'no_quorum', NOBODY)
    const allowed = page.locks.filter(({ name }) => mayDo(c, 'read', name))
    const answer: LocksAnswer = {
      locks: allowed.map(({ name, entry: { generation, lock } }) => ({ lock: name, generation, ...lock! })),
      cursor: page.through === null ? null : formatCursor(page.through),
    }
    return json(c, 200, answer)
  },
} satisfies Partial<Handlers>

/**
 * Every default participant has objects of its own. They are all asked, because each may have missed what
 * another one has heard of; but one for each part of the names is enough.
 */
async function pageOf(
  { caller, defaults, times }: Services,
  prefix: string,
  after: string,
  limit: number,
): Promise<MergedPage | null> {
  const places = defaults(indexName(0)).participants
  const asked = Array.from({ length: INDEX_SHARDS }, (_, shard) =>
    places.map(place => ({ shard, place })),
  ).flat()
  const pages = new Map<number, IndexPage[]>()
  await mapLimited(asked, MAX_AT_ONCE, async ({ shard, place }) => {
    const call = { type: 'locks', prefix, after, limit } as const
    const result = await caller.call(indexName(shard), place, call, { limitMs: times.statusMs })
    if (result.type !== 'answered' || result.answer.type !== 'done') return
    pages.set(shard, [...(pages.get(shard) ?? []), bodyOf<IndexPage>(result.answer)])
  })
  return pages.size < INDEX_SHARDS ? null : mergePages([...pages.values()].flat(), limit)
}
