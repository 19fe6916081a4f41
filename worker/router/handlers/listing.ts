/** `GET /v1/locks`: the names of all locks, from the objects of the index. */
import { formatCursor, parseCursor } from '../../../shared/api/ids.ts'
import {
  INDEX_SHARDS,
  type IndexPage,
  indexName,
  type MergedPage,
  mergePages,
} from '../../../shared/api/lock-index.ts'
import { commonBeginning, matches, patternsBelow } from '../../../shared/api/name-patterns.ts'
import type { LocksAnswer } from '../../../shared/api/types.ts'
import { json, malformed, problemResponse } from '../answers.ts'
import { patternsFor } from '../authentication.ts'
import type { Handlers, Services } from '../context.ts'
import { bodyOf } from '../routing.ts'
import { mapLimited } from '../time-limit.ts'

/** As many requests as may wait at once. */
const MAX_AT_ONCE = 6

const NOTHING: MergedPage = { locks: [], through: null }
const NOBODY = 'No object of the index that lists a part of the locks answers.'

export const listingHandlers = {
  /** A key that is good for some locks is told of those, and of no others: also not by a cursor. */
  locks: async ({ c, services, query: { prefix, limit, cursor } }) => {
    const after = cursor === undefined ? '' : parseCursor(cursor)
    if (after === null) {
      return malformed(c, [{ in: 'query', path: 'cursor', message: 'is not the cursor of an earlier page' }])
    }
    const patterns = patternsBelow(patternsFor(c, 'read'), prefix)
    const page = patterns.length === 0 ? NOTHING : await pageOf(services, patterns, after, limit)
    if (page === null) return problemResponse(c, 'no_quorum', NOBODY)
    const answer: LocksAnswer = {
      locks: page.locks.map(({ name, entry: { generation, lock } }) => ({
        lock: name,
        generation,
        ...lock!,
      })),
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
  patterns: readonly string[],
  after: string,
  limit: number,
): Promise<MergedPage | null> {
  const prefix = commonBeginning(patterns)
  const call = { type: 'locks', prefix, within: patterns, after, limit } as const
  const places = defaults(indexName(0)).participants
  const asked = Array.from({ length: INDEX_SHARDS }, (_, shard) =>
    places.map(place => ({ shard, place })),
  ).flat()
  const pages = new Map<number, IndexPage[]>()
  await mapLimited(asked, MAX_AT_ONCE, async ({ shard, place }) => {
    const result = await caller.call(indexName(shard), place, call, { limitMs: times.statusMs })
    if (result.type !== 'answered' || result.answer.type !== 'done') return
    const page = withoutOthers(bodyOf<IndexPage>(result.answer), patterns)
    if (page !== null) pages.set(shard, [...(pages.get(shard) ?? []), page])
  })
  return pages.size < INDEX_SHARDS ? null : mergePages([...pages.values()].flat(), limit)
}

/**
 * An object of an earlier build knows no patterns, and says all names with the prefix. `null`: its page has
 * none that fits, and ends at a name that nobody may be told.
 */
function withoutOthers({ entries, isLast }: IndexPage, patterns: readonly string[]): IndexPage | null {
  const fitting = entries.filter(([name]) => patterns.some(pattern => matches(pattern, name)))
  return fitting.length === 0 && !isLast ? null : { entries: fitting, isLast }
}
