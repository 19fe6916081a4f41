/** Which scenario is shown, and what there is to see in it now. */
import { plural } from '../../view/words.ts'
import { participantsOf } from '../engine/tape.ts'
import type { Player } from '../player.ts'
import { SCENARIOS, scenarioNamed } from '../scenarios/all.ts'

interface StoryProps {
  readonly player: Player
  readonly change: (action: (player: Player) => void) => void
  readonly open: (link: string) => void
}

export function Story({ player, change, open }: StoryProps) {
  const source = player.link?.source
  const name = source?.kind === 'scenario' ? source.name : ''
  return (
    <section class="panel story" aria-label="Scenario">
      <div class="field">
        <label for="scenario">Prepared scenario</label>
        <select
          id="scenario"
          value={name}
          onChange={event => {
            const chosen = event.currentTarget.value
            if (chosen !== '') open(`#/simulated?scenario=${chosen}`)
          }}
        >
          {name === '' && <option value="">None: {titleOf(player)}</option>}
          {SCENARIOS.map(({ name: one, title }) => (
            <option key={one} value={one}>
              {title}
            </option>
          ))}
        </select>
      </div>
      {name === '' ? <Free player={player} /> : <Captions player={player} name={name} change={change} />}
    </section>
  )
}

function titleOf(player: Player): string {
  const { tape } = player
  const kind = player.run === null ? 'a recording' : 'a run of your own'
  return `${kind}, ${tape.protocol}, ${plural(participantsOf(tape).length, 'participant')}`
}

function Free({ player }: { readonly player: Player }) {
  if (player.run === null)
    return <p class="caption">A recording. You can look at every moment of it, but you cannot act in it.</p>
  return (
    <p class="caption">
      {player.isChanged
        ? 'This is your own run now: what you did is in the link above, in the address of this page.'
        : 'A run of your own: choose a participant below, and let a user come.'}
    </p>
  )
}

interface CaptionsProps {
  readonly player: Player
  readonly name: string
  readonly change: (action: (player: Player) => void) => void
}

function Captions({ player, name, change }: CaptionsProps) {
  const { captions, caption } = player
  const number = caption === null ? 0 : captions.indexOf(caption) + 1
  return (
    <>
      <p class="soft">{scenarioNamed(name)?.summary}</p>
      <p class="caption" aria-live="polite">
        {caption?.text ?? 'Step, or run: the words follow what happens.'}
      </p>
      <div class="row">
        <button type="button" disabled={number <= 1} onClick={() => change(one => one.previousCaption())}>
          Previous
        </button>
        <span class="soft">
          {number} of {captions.length}
        </span>
        <button
          type="button"
          class={number < captions.length ? 'main' : ''}
          disabled={number >= captions.length}
          onClick={() => change(one => one.nextCaption())}
        >
          Next
        </button>
      </div>
    </>
  )
}
