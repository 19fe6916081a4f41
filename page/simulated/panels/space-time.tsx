/** The space-time diagram, scrolled to where the reader is, with its legend and a button to save it. */
import { h, type VNode } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type Diagram, diagramOf, LABELS_WIDTH } from '../diagram/diagram.ts'
import { diagramFile } from '../diagram/file.ts'
import type { Shape } from '../diagram/shape.ts'
import type { Player } from '../player.ts'
import { save } from './save.ts'

/** How many moments are drawn before and after the one that is shown. */
const BEFORE = 260
const AFTER = 60

interface SpaceTimeProps {
  readonly player: Player
  readonly change: (action: (player: Player) => void) => void
}

export function SpaceTime({ player }: SpaceTimeProps) {
  const { tape, position } = player
  const end = Math.min(player.length, position + AFTER)
  const diagram = useMemo(
    () => diagramOf(tape, { first: Math.max(0, position - BEFORE), end, position }),
    [player, tape.moments, end, position],
  )
  return (
    <section class="panel space-time" aria-label="Space-time diagram">
      <div class="diagram">
        <svg class="labels" width={LABELS_WIDTH} height={diagram.height} aria-hidden="true">
          {diagram.labels.map(drawn)}
        </svg>
        <Scrolled diagram={diagram} protocol={tape.protocol} />
      </div>
      <div class="row below">
        <Legend guardsState={tape.guardsState} />
        <button
          type="button"
          onClick={() => save('baton-diagram.svg', 'image/svg+xml', diagramFile(tape, position))}
        >
          Save as SVG
        </button>
      </div>
    </section>
  )
}

function Scrolled({ diagram, protocol }: { readonly diagram: Diagram; readonly protocol: string }) {
  const element = useRef<HTMLElement>(null)
  const { cursor, left, width, height } = diagram
  useEffect(() => {
    const shown = element.current
    if (shown === null) return
    const margin = Math.min(120, shown.clientWidth / 3)
    const isSeen = cursor > shown.scrollLeft + 20 && cursor < shown.scrollLeft + shown.clientWidth - margin
    if (!isSeen) shown.scrollLeft = Math.max(0, cursor - shown.clientWidth + margin)
  }, [cursor, left])
  const label = `Space-time diagram of ${protocol}: the list of events below says the same in words.`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section class="scrolled" ref={element} tabIndex={0} aria-label="Diagram, scrolls sideways">
      <svg
        width={width}
        height={height}
        viewBox={`${left} 0 ${width} ${height}`}
        role="img"
        aria-label={label}
      >
        {diagram.shapes.map(drawn)}
      </svg>
    </section>
  )
}

function drawn({ tag, attributes, children = [] }: Shape): VNode {
  return h(
    tag as string,
    attributes as Record<string, unknown>,
    children.map(child => (typeof child === 'string' ? child : drawn(child))),
  )
}

function Legend({ guardsState }: { readonly guardsState: boolean }) {
  return (
    <ul class="legend">
      {guardsState && (
        <li>
          <svg width="34" height="14" aria-hidden="true">
            <line class="life epoch-0 owner" x1="2" x2="32" y1="7" y2="7" />
          </svg>
          has the token
        </li>
      )}
      {guardsState && (
        <li>
          <svg width="34" height="14" aria-hidden="true">
            <line class="life epoch-0" x1="0" x2="17" y1="7" y2="7" />
            <line class="life epoch-1" x1="17" x2="34" y1="7" y2="7" />
          </svg>
          a new epoch
        </li>
      )}
      <li>
        <svg width="34" height="18" aria-hidden="true">
          <g class="section epoch-0">
            <rect x="2" y="2" width="30" height="14" rx="3" />
          </g>
        </svg>
        inside
      </li>
      {guardsState && (
        <li>
          <svg width="14" height="14" aria-hidden="true">
            <circle class="sign applied" cx="7" cy="7" r="3" />
          </svg>
          applied
        </li>
      )}
      <li>
        <svg width="34" height="14" aria-hidden="true">
          <line class="life down" x1="2" x2="32" y1="7" y2="7" />
        </svg>
        down
      </li>
      <li>
        <svg width="34" height="14" aria-hidden="true">
          <g class="message lost">
            <line x1="2" x2="24" y1="7" y2="7" />
            <path class="cross" d="M24 3.5l7 7m0 -7l-7 7" />
          </g>
        </svg>
        lost
      </li>
    </ul>
  )
}
