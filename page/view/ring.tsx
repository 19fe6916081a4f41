/**
 * The participants of a lock on a ring, with what each is doing, whom it suspects, the messages between them,
 * and the token. What is drawn here stands in the table of participants too, for whoever cannot see it.
 */
import type { LockPicture, MessagePicture, ParticipantPicture } from './lock-picture.ts'
import { between, edgeToEdge, layOut, type Point, type RingLayout, tokenPlace } from './ring-layout.ts'
import { useWidth } from './use-width.ts'
import { meaningOf, participantName, plural, regionName, toneOf } from './words.ts'

export interface RingProps {
  readonly picture: LockPicture
  /** Participants become buttons. */
  readonly onChoose?: (participant: number) => void
  readonly chosen?: number | null
}

export function Ring({ picture, onChoose, chosen = null }: RingProps) {
  const [element, width] = useWidth<HTMLDivElement>()
  const layout = layOut(picture.participants.length, width)
  const placeOf = new Map(picture.participants.map(({ id }, index) => [id, layout.places[index]!]))
  return (
    <div class="ring" ref={element}>
      <svg
        width={layout.width}
        height={layout.height}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        role={onChoose === undefined ? 'img' : 'group'}
        aria-label={summaryOf(picture)}
      >
        <defs>
          <marker
            id="suspicion-end"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8Z" class="suspicion-end" />
          </marker>
        </defs>
        {layout.places.length > 1 && (
          <ellipse
            class="orbit"
            cx={layout.centre.x}
            cy={layout.centre.y}
            rx={layout.radii.x}
            ry={layout.radii.y}
          />
        )}
        {suspicionsOf(picture, placeOf).map(([key, from, to]) => (
          <Suspicion key={key} from={from} to={to} radius={layout.radius} />
        ))}
        {picture.participants.map(participant => (
          <Participant
            key={participant.id}
            participant={participant}
            place={placeOf.get(participant.id)!}
            layout={layout}
            isHolder={picture.holder?.participant === participant.id}
            isChosen={chosen === participant.id}
            onChoose={onChoose}
          />
        ))}
        {picture.messages.map(message => (
          <Message key={message.id} message={message} placeOf={placeOf} />
        ))}
        <Token picture={picture} layout={layout} placeOf={placeOf} />
      </svg>
    </div>
  )
}

type Places = ReadonlyMap<number, Point>

function summaryOf({ participants, token, holder, lock }: LockPicture): string {
  const at = participants.find(({ id }) => id === token?.at)
  const where =
    at === undefined ? 'nobody is known to have the token' : `the token is at ${participantName(at)}`
  const held = holder === null ? 'nobody holds the lock' : `held by ${holder.owner ?? 'somebody'}`
  return `Lock ${lock}: ${plural(participants.length, 'participant')}, ${where}, ${held}.`
}

// ---------------------------------------------------------------- participants

interface ParticipantProps {
  readonly participant: ParticipantPicture
  readonly place: Point
  readonly layout: RingLayout
  readonly isHolder: boolean
  readonly isChosen: boolean
  readonly onChoose: ((participant: number) => void) | undefined
}

function Participant({ participant, place, layout, isHolder, isChosen, onChoose }: ParticipantProps) {
  const { id, location, phase, condition, epoch, sequence, queue } = participant
  const isUp = condition === 'up'
  const { radius } = layout
  // Nobody may have said where it is.
  const first = radius + (location === null ? 2 : 17)
  const words = `${participantName(participant)}: ${isUp ? phase : condition}`
  const buttonProps =
    onChoose === undefined
      ? {}
      : {
          role: 'button' as const,
          tabIndex: 0,
          'aria-pressed': isChosen,
          onClick: () => onChoose(id),
          onKeyDown: (event: KeyboardEvent) => {
            if (event.key !== 'Enter' && event.key !== ' ') return
            event.preventDefault()
            onChoose(id)
          },
        }
  const classes = [
    'participant',
    isUp ? `tone-${toneOf(phase)}` : `condition-${condition}`,
    isHolder ? 'is-holder' : '',
    isChosen ? 'is-chosen' : '',
  ]
  return (
    <g class={classes.join(' ')} transform={`translate(${place.x} ${place.y})`} {...buttonProps}>
      <title>{isUp ? `${words}, ${meaningOf(phase)}` : words}</title>
      {isHolder && <circle class="halo" r={radius + 6} />}
      <circle class="body" r={radius} />
      <text class="number" dy="0.35em">
        {id}
      </text>
      {queue > 0 && (
        <g class="queue" transform={`translate(${-radius * 0.8} ${-radius * 0.8})`}>
          <rect x="-13" y="-9" width="26" height="18" rx="9" />
          <text dy="0.35em">+{queue}</text>
        </g>
      )}
      {location !== null && (
        <text class="place" y={radius + 17}>
          {layout.isRoomy ? regionName(location) : location}
        </text>
      )}
      <text class="phase" y={first + 15}>
        {isUp ? phase : condition}
      </text>
      {isUp && (
        <text class="progress" y={first + 29}>
          {layout.isRoomy ? `epoch ${epoch} · log ${sequence}` : `${epoch} · ${sequence}`}
        </text>
      )}
    </g>
  )
}

// ---------------------------------------------------------------- between them

function suspicionsOf({ participants }: LockPicture, placeOf: Places): (readonly [string, Point, Point])[] {
  return participants.flatMap(({ id, suspects }) =>
    suspects.flatMap(suspect => {
      const to = placeOf.get(suspect)
      return to === undefined ? [] : [[`${id}-${suspect}`, placeOf.get(id)!, to] as const]
    }),
  )
}

function Suspicion({
  from,
  to,
  radius,
}: {
  readonly from: Point
  readonly to: Point
  readonly radius: number
}) {
  const [start, end] = edgeToEdge(from, to, radius)
  return (
    <line
      class="suspicion"
      x1={start.x}
      y1={start.y}
      x2={end.x}
      y2={end.y}
      marker-end="url(#suspicion-end)"
    />
  )
}

function Message({ message, placeOf }: { readonly message: MessagePicture; readonly placeOf: Places }) {
  const from = placeOf.get(message.from)
  const to = placeOf.get(message.to)
  if (from === undefined || to === undefined) return null
  const { x, y } = between(from, to, message.progress)
  return (
    <g class="message" transform={`translate(${x} ${y})`}>
      <circle r="4" />
      <text y="-8">{message.type}</text>
    </g>
  )
}

interface TokenProps {
  readonly picture: LockPicture
  readonly layout: RingLayout
  readonly placeOf: Places
}

/** Its place is a style and not an attribute, so that it moves there by itself (style/ring.css). */
function Token({ picture: { token }, layout, placeOf }: TokenProps) {
  const at = token === null ? undefined : placeOf.get(token.at)
  if (token === null || at === undefined) return null
  const from = token.from === null ? undefined : placeOf.get(token.from)
  const { x, y } = from === undefined ? tokenPlace(layout, at) : between(from, at, 0.5)
  return (
    <g class="token" style={{ transform: `translate(${x}px, ${y}px)` }}>
      <circle r="12" />
      <path d="M-4.5 4.5 4.5 -4.5" />
    </g>
  )
}
