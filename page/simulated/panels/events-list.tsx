/** What happened, moment by moment, in words: all that the diagram shows, for whoever cannot see it. */
import type { Player } from '../player.ts'

const SHOWN = 150

export function EventsList({ player }: { readonly player: Player }) {
  const { tape, position } = player
  const first = Math.max(0, position - SHOWN)
  const shown = tape.moments.slice(first, position).reverse()
  return (
    <section class="panel events" aria-label="Events">
      <h2>
        Events <small>newest first</small>
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <ol class="news" tabIndex={0} aria-label="Events, newest first" reversed start={position}>
        {shown.map(({ at, text, marks }, index) => (
          <li key={position - index}>
            <time>{Math.round(at)} ms</time>
            <span>{[text, ...marks.map(mark => mark.text).filter(words => words !== text)].join(' · ')}</span>
          </li>
        ))}
      </ol>
      {first > 0 && <p class="soft">And {first} before these: go back to see them.</p>}
    </section>
  )
}
