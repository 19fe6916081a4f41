/**
 * The index of locks: which names there are. It is no part of any lock: a lock works when its index is down,
 * and an index that has missed something is told again.
 *
 * It is kept by objects of its own. Every default participant has one object for each of a few shards, by the
 * lock's name, and tells it what becomes of the lock: so no object is on the way of every birth, and what one
 * region or process does not know the others do. A listing asks all of them and puts their pages together;
 * of what they say about one name, the latest generation counts.
 */
import { hashText } from '../resource/canonical.ts'

export const INDEX_SHARDS = 8

/** Locks that one of the objects lists. */
export const INDEX_LIMIT = 50_000

const NAME = '.index.'

/** No lock has such a name. */
export const indexName = (shard: number): string => `${NAME}${shard}`

export const isIndexName = (name: string): boolean => {
  const shard = name.startsWith(NAME) ? Number(name.slice(NAME.length)) : Number.NaN
  return Number.isInteger(shard) && shard >= 0 && shard < INDEX_SHARDS && name === indexName(shard)
}

export const shardOf = (lock: string): number =>
  Number.parseInt(hashText(lock).slice(8, 16), 16) % INDEX_SHARDS

/** What an object of the index knows of one name. */
export interface IndexEntry {
  readonly generation: number
  /** `null`: it was deleted, and this is the generation that comes after it. */
  readonly lock: { readonly protocol: string; readonly participants: number } | null
}

export interface IndexPage {
  /** In the order of the names. */
  readonly entries: readonly (readonly [name: string, entry: IndexEntry])[]
  readonly isLast: boolean
}

/** Whether the second says more than the first: a late telling must not bring back what was deleted. */
export function isNews(known: IndexEntry | undefined, told: IndexEntry): boolean {
  if (known === undefined || told.generation > known.generation) return true
  return told.generation === known.generation && known.lock === null && told.lock !== null
}

export interface MergedPage {
  readonly locks: readonly { readonly name: string; readonly entry: IndexEntry }[]
  /** The name up to which everything is here; `null`: to the end. */
  readonly through: string | null
}

/**
 * Pages that begin at the same name, as one. A page that is not the last says nothing of what comes after it,
 * so the merged page ends where the shortest of them does.
 */
export function mergePages(pages: readonly IndexPage[], limit: number): MergedPage {
  const ends = pages.flatMap(({ entries, isLast }) => (isLast ? [] : [entries.at(-1)![0]]))
  const end = ends.length === 0 ? null : ends.reduce((first, other) => (other < first ? other : first))
  const latest = new Map<string, IndexEntry>()
  for (const { entries } of pages) {
    for (const [name, entry] of entries) {
      if (end !== null && name > end) continue
      if (isNews(latest.get(name), entry)) latest.set(name, entry)
    }
  }
  const names = [...latest.keys()].sort()
  const locks = names.flatMap(name =>
    latest.get(name)!.lock === null ? [] : [{ name, entry: latest.get(name)! }],
  )
  if (locks.length <= limit) return { locks, through: end }
  return { locks: locks.slice(0, limit), through: locks[limit - 1]!.name }
}
