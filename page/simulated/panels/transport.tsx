/** Run, pause, step, back, speed, and a slider over all moments. */
import { type Player, SPEEDS } from '../player.ts'

interface TransportProps {
  readonly player: Player
  readonly change: (action: (player: Player) => void) => void
}

export function Transport({ player, change }: TransportProps) {
  const { position, length, isPlaying, speed } = player
  const moment = player.tape.moments[position - 1]
  return (
    <section class="panel transport" aria-label="Time">
      <div class="row">
        <button type="button" disabled={position <= 1} onClick={() => change(one => one.goTo(1))}>
          Start
        </button>
        <button
          type="button"
          disabled={position <= 1}
          onClick={() =>
            change(one => {
              one.pause()
              one.back()
            })
          }
        >
          Back
        </button>
        <button
          type="button"
          class="main run"
          onClick={() => change(one => (one.isPlaying ? one.pause() : one.play()))}
        >
          {isPlaying ? 'Pause' : 'Run'}
        </button>
        <button
          type="button"
          onClick={() =>
            change(one => {
              one.pause()
              one.step()
            })
          }
        >
          Step
        </button>
        <div class="field is-short">
          <label class="hidden" for="speed">
            Speed
          </label>
          <select
            id="speed"
            value={speed}
            onChange={event => {
              const chosen = Number(event.currentTarget.value)
              change(one => {
                one.speed = chosen
              })
            }}
          >
            {SPEEDS.map(({ name }, index) => (
              <option key={name} value={index}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <span class="soft clock">
          {Math.round(player.now)} ms · moment {position} of {length}
        </span>
      </div>
      <label class="hidden" for="moment">
        Moment
      </label>
      <input
        id="moment"
        type="range"
        min={1}
        max={Math.max(1, length)}
        value={position}
        aria-valuetext={`${position}: ${moment?.text ?? ''}`}
        onInput={event => {
          const wanted = Number(event.currentTarget.value)
          change(one => {
            one.pause()
            one.goTo(wanted)
          })
        }}
      />
      <p class="now">{moment?.text ?? ''}</p>
    </section>
  )
}
