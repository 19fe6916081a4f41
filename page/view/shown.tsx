/** The first of a long list, and a button for the rest. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

export interface ShownProps<Item> {
  readonly items: readonly Item[]
  /** How many are shown at first. */
  readonly few: number
  /** How many are shown at most: more than this make a page slow, and nobody reads them. */
  readonly most: number
  readonly children: (shown: readonly Item[]) => ComponentChildren
}

export function Shown<Item>({ items, few, most, children }: ShownProps<Item>) {
  const [isWhole, setIsWhole] = useState(false)
  const number = isWhole ? most : few
  const hidden = items.length - most
  return (
    <>
      {children(items.slice(0, number))}
      {isWhole && hidden > 0 && <p class="soft">And {hidden} more.</p>}
      {items.length > few && (
        <button type="button" class="more" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show ${Math.min(items.length, most)}`}
        </button>
      )}
    </>
  )
}
