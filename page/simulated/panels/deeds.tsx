/** What the reader can do: at the chosen participant, between two of them, and to the members. */
import { useState } from 'preact/hooks'
import type { LinkAction, PlaceAction } from '../engine/actions.ts'
import { mayChangeMembers, possibleAt } from '../engine/possible.ts'
import { MAX_MACHINES } from '../engine/setup.ts'
import { type Seat, seatsAt } from '../engine/tape.ts'
import type { Player } from '../player.ts'

interface DeedsProps {
  readonly player: Player
  readonly chosen: number
  readonly choose: (participant: number) => void
  readonly change: (action: (player: Player) => void) => void
}

const USERS: readonly (readonly [PlaceAction, string])[] = [
  ['visit', 'A user comes'],
  ['stay', 'A user comes to stay'],
  ['commute', 'A client comes again and again'],
  ['operate', 'It operates'],
  ['leave', 'It leaves'],
]

const FATES: readonly (readonly [PlaceAction, string])[] = [
  ['kill', 'Kill'],
  ['restart', 'Restart'],
  ['pause', 'Stop'],
  ['resume', 'Let go on'],
  ['wipe', 'Wipe its disk'],
  ['eject', 'Eject the holder'],
]

export function Deeds({ player, chosen, choose, change }: DeedsProps) {
  const { tape, position } = player
  const seats = seatsAt(tape, position)
  const seat = seats.find(({ id }) => id === chosen) ?? seats[0]
  if (player.run === null || seat === undefined) return null
  const possible = possibleAt(tape, position, seat)
  const button = ([type, text]: readonly [PlaceAction, string]) => (
    <button
      key={type}
      type="button"
      disabled={!possible.has(type)}
      onClick={() => change(one => one.act({ type, participant: seat.id }))}
    >
      {text}
    </button>
  )
  return (
    <section class="panel actions deeds" aria-label="What you can do">
      <div class="field is-short">
        <label for="chosen">At participant</label>
        <select id="chosen" value={seat.id} onChange={event => choose(Number(event.currentTarget.value))}>
          {seats.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </div>
      <fieldset class="row" aria-label="Users">
        {USERS.map(button)}
      </fieldset>
      <fieldset class="row" aria-label="The participant">
        {FATES.map(button)}
      </fieldset>
      {seats.length > 1 && <Links player={player} seats={seats} seat={seat} change={change} />}
      {mayChangeMembers(tape) && <Members seats={seats} seat={seat} change={change} />}
    </section>
  )
}

interface PartProps {
  readonly seats: readonly Seat[]
  readonly seat: Seat
  readonly change: (action: (player: Player) => void) => void
}

const LINKS: readonly (readonly [LinkAction, string])[] = [
  ['cut', 'Cut the link'],
  ['heal', 'Mend the link'],
  ['suspect', 'Suspect it'],
]

/** Between the chosen participant and another one, or all others. */
function Links({ player, seats, seat, change }: PartProps & { readonly player: Player }) {
  const [wanted, setWanted] = useState(0)
  const others = seats.filter(({ id }) => id !== seat.id)
  const peer = others.some(({ id }) => id === wanted) ? wanted : 0
  const peers = peer === 0 ? others.map(({ id }) => id) : [peer]
  const cuts = player.tape.moments[player.position - 1]?.cuts ?? []
  const isCut = (id: number) => cuts.some(([from, to]) => from === seat.id && to === id)
  const isPossible = (type: LinkAction) =>
    type === 'suspect' ? seat.condition === 'up' : peers.some(id => isCut(id) === (type === 'heal'))
  return (
    <fieldset class="row" aria-label="Links">
      <div class="field is-short">
        <label for="peer">and participant</label>
        <select id="peer" value={peer} onChange={event => setWanted(Number(event.currentTarget.value))}>
          <option value={0}>all others</option>
          {others.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </div>
      {LINKS.map(([type, text]) => (
        <button
          key={type}
          type="button"
          disabled={!isPossible(type)}
          onClick={() =>
            change(one => {
              for (const to of peers) one.act({ type, from: seat.id, to })
            })
          }
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}

function Members({ seats, seat, change }: PartProps) {
  const members = seats.filter(({ isMember }) => isMember).map(({ id }) => id)
  const next = Math.max(...seats.map(({ id }) => id)) + 1
  const ask = (wanted: readonly number[]) => change(one => one.act({ type: 'members', members: wanted }))
  const others = members.filter(id => id !== seat.id)
  const hasRoom = next <= MAX_MACHINES
  const isMember = members.includes(seat.id)
  return (
    <fieldset class="row" aria-label="Members">
      <button type="button" disabled={!hasRoom} onClick={() => ask([...members, next])}>
        Add participant {next}
      </button>
      <button type="button" disabled={!hasRoom || !isMember} onClick={() => ask([...others, next])}>
        Replace {seat.id} by {next}
      </button>
      <button type="button" disabled={!isMember || others.length === 0} onClick={() => ask(others)}>
        Remove {seat.id}
      </button>
    </fieldset>
  )
}
