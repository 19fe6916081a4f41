/** What the checker says about the history so far. */
import type { Judgement, PropertyVerdict } from '../../../shared/history/verdict.ts'
import type { Player } from '../player.ts'
import { save } from './save.ts'

interface VerdictPanelProps {
  readonly judgement: Judgement | null
  readonly player: Player
}

const SAFETY = {
  valid: 'Safe so far: the history keeps every promise.',
  invalid: 'Not safe: the history breaks a promise.',
  unknown: 'The history does not say enough to be judged.',
} as const

export function VerdictPanel({ judgement, player }: VerdictPanelProps) {
  return (
    <section class="panel verdict" aria-label="The checker's verdict">
      <h2>The checker’s verdict</h2>
      {judgement === null ? (
        <p>The history is about a resource that this page does not have, so it cannot be judged here.</p>
      ) : (
        <>
          <p class={`safety is-${judgement.safety}`}>{SAFETY[judgement.safety]}</p>
          <ul class="properties">
            {judgement.properties.map(property => (
              <Property key={property.name} property={property} />
            ))}
          </ul>
        </>
      )}
      <button
        type="button"
        onClick={() => save('baton-history.jsonl', 'application/jsonl', historyText(player))}
      >
        Save the history
      </button>
    </section>
  )
}

const SIGNS = { valid: '✓', invalid: '✗', unknown: '–' } as const
const WORDS = { valid: 'kept', invalid: 'broken', unknown: 'not judged' } as const

function Property({ property: { name, verdict, evidence } }: { readonly property: PropertyVerdict }) {
  return (
    <li class={`is-${verdict}`}>
      <span aria-hidden="true">{SIGNS[verdict]}</span> {name} <small>{WORDS[verdict]}</small>
      {verdict === 'invalid' && <p>{evidence[0]?.message}</p>}
    </li>
  )
}

/** As `GET /v1/locks/{lock}/history` writes it: `npm run check-history` reads it. */
function historyText({ tape, position }: Player): string {
  const { header, events } = tape.history
  const shown = events.slice(0, tape.moments[position - 1]?.recorded ?? 0)
  return `${[header, ...shown].map(line => JSON.stringify(line)).join('\n')}\n`
}
