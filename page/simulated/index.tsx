/** The simulated page: the protocols themselves, run in the browser, with everything that can go wrong. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { LockView } from '../view/lock-view.tsx'
import { pictureAt } from './engine/picture.ts'
import { participantsOf } from './engine/tape.ts'
import { verdictAt } from './engine/verdict.ts'
import { Deeds } from './panels/deeds.tsx'
import { EventsList } from './panels/events-list.tsx'
import { SpaceTime } from './panels/space-time.tsx'
import { Starts } from './panels/starts.tsx'
import { Story } from './panels/story.tsx'
import { Transport } from './panels/transport.tsx'
import { VerdictPanel } from './panels/verdict-panel.tsx'
import type { Player } from './player.ts'
import { useKeys } from './use-keys.ts'
import { usePlayer } from './use-player.ts'

/** While it plays, the checker looks only now and then. */
const JUDGED_EVERY = 12

export default function Simulated({ parameters }: { readonly parameters: URLSearchParams }) {
  const { player, problem, change, open, openTape } = usePlayer(parameters)
  return (
    <div class="simulated">
      <h1>Simulated locks</h1>
      <p class="soft">
        The protocols that the service runs, here in your browser, with virtual time. Everything follows from
        the seed and from what you do.
      </p>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {player === null ? (
        <p role="status">{problem === null ? 'The simulation runs …' : ''}</p>
      ) : (
        <Shown player={player} change={change} open={open} />
      )}
      <Starts open={open} openTape={openTape} />
    </div>
  )
}

interface ShownProps {
  readonly player: Player
  readonly change: (action: (player: Player) => void) => void
  readonly open: (link: string) => void
}

function Shown({ player, change, open }: ShownProps) {
  const { tape, position } = player
  const [chosen, setChosen] = useState(1)
  useKeys(change)
  const picture = pictureAt(tape, position, player.now)
  const judged = player.isPlaying ? position - (position % JUDGED_EVERY) : position
  // The tape grows in place: what was judged stays as it is for the same player and number of moments.
  const judgement = useMemo(() => verdictAt(tape, judged), [player, tape.history.events, judged])
  const ids = participantsOf(tape)
  useEffect(() => {
    if (!ids.includes(chosen)) setChosen(ids[0] ?? 1)
  })
  return (
    <>
      <Story player={player} change={change} open={open} />
      <Transport player={player} change={change} />
      <SpaceTime player={player} change={change} />
      <LockView picture={picture} timeOf={timeOf} onChoose={setChosen} chosen={chosen}>
        <Deeds player={player} chosen={chosen} choose={setChosen} change={change} />
      </LockView>
      <div class="beside">
        <VerdictPanel judgement={judgement} player={player} />
        <EventsList player={player} />
      </div>
    </>
  )
}

const timeOf = (at: number): string => `${Math.round(at)} ms`
