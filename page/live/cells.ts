/** The guarded state as far as the page keeps it. */
import type { Entry } from '../../client/types.ts'
import type { WatchChange } from '../../shared/api/watch.ts'
import type { CellPicture } from '../view/lock-picture.ts'

/** A lock may guard many more keys than a page can show. */
export const KEYS_KEPT = 1_000

export class Cells {
  readonly #cells = new Map<string, CellPicture>()
  #list: readonly CellPicture[] | null = null

  replace(entries: readonly Entry[]): void {
    this.#cells.clear()
    for (const { key, value, revision } of entries.slice(0, KEYS_KEPT))
      this.#cells.set(key, { key, value, revision })
    this.#list = null
  }

  change(changes: readonly WatchChange[]): void {
    for (const change of changes) {
      if ('deleted' in change) this.#cells.delete(change.key)
      else this.#set(change)
    }
    this.#list = null
  }

  /** What is known may be newer: the pages of a long listing are read one after the other. */
  #set({ key, value, revision }: CellPicture): void {
    const known = this.#cells.get(key)
    const isNews = known === undefined ? this.#cells.size < KEYS_KEPT : known.revision < revision
    if (isNews) this.#cells.set(key, { key, value, revision })
  }

  /** In the order of the keys. */
  list(): readonly CellPicture[] {
    this.#list ??= [...this.#cells.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
    return this.#list
  }
}
