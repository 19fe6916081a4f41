/** Other things to show: a run of one's own, a seed of the simulator, a recorded history. */
import { useState } from 'preact/hooks'
import {
  DEFAULT_SETUP,
  LONG_TTL_MS,
  MAX_PARTICIPANTS,
  MAX_SEED,
  MIN_TTL_MS,
  type Setup,
  SIMULATED_PROTOCOLS,
  type SimulatedProtocol,
} from '../engine/setup.ts'
import type { Tape } from '../engine/tape.ts'
import { writeLink } from '../link.ts'
import { readHistory } from '../recordings/history-tape.ts'

interface StartsProps {
  readonly open: (link: string) => void
  readonly openTape: (tape: Tape | string) => void
}

/** A file that is longer is not read at all. */
const MAX_FILE_BYTES = 50_000_000

export function Starts({ open, openTape }: StartsProps) {
  const [setup, setSetup] = useState<Setup>(DEFAULT_SETUP)
  const [members, setMembers] = useState(false)
  const set = (part: Partial<Setup>) => setSetup({ ...setup, ...part })
  const isWme = setup.protocol === 'wme-1' || setup.protocol === 'wme-2'
  return (
    <section class="panel starts" aria-label="Start something else">
      <h2>Start something else</h2>
      <form
        onSubmit={event => {
          event.preventDefault()
          open(writeLink({ source: { kind: 'run', setup, actions: [] }, position: null }))
          scrollTo({ top: 0 })
        }}
      >
        <div class="field">
          <label for="protocol">Protocol</label>
          <select
            id="protocol"
            value={setup.protocol}
            onChange={event => set({ protocol: event.currentTarget.value as SimulatedProtocol })}
          >
            {SIMULATED_PROTOCOLS.map(name => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <NumberField
          id="participants"
          label="Participants"
          value={setup.participants}
          least={1}
          most={MAX_PARTICIPANTS}
          onValue={participants => set({ participants })}
        />
        <NumberField
          id="seed"
          label="Seed"
          value={setup.seed}
          least={0}
          most={MAX_SEED}
          onValue={seed => set({ seed })}
        />
        <NumberField
          id="ttl"
          label="Grants last (ms)"
          value={setup.ttlMs}
          least={MIN_TTL_MS}
          most={LONG_TTL_MS}
          onValue={ttlMs => set({ ttlMs })}
        />
        <button type="submit" class="main">
          Start a run
        </button>
        <button
          type="button"
          disabled={setup.protocol === 'redlock'}
          onClick={() => {
            open(writeLink({ source: { kind: 'seed', setup, members: members && isWme }, position: null }))
            scrollTo({ top: 0 })
          }}
        >
          Load the seed of the simulator
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={members}
            disabled={!isWme}
            onChange={event => setMembers(event.currentTarget.checked)}
          />
          its members change
        </label>
      </form>
      <p class="soft">
        The seed of the simulator is what <code>npm run sim -- --replay SEED</code> runs, with all its faults.
      </p>
      <div class="field">
        <label for="history">A recorded history (what a lock’s /history answers)</label>
        <input
          id="history"
          type="file"
          accept=".jsonl,.ndjson,.json,.txt"
          onChange={event => {
            const file = event.currentTarget.files?.[0]
            if (file === undefined) return
            if (file.size > MAX_FILE_BYTES) return openTape('The file is longer than the page can show.')
            void file.text().then(text => {
              openTape(readHistory(text))
              scrollTo({ top: 0 })
            })
          }}
        />
      </div>
    </section>
  )
}

interface NumberFieldProps {
  readonly id: string
  readonly label: string
  readonly value: number
  readonly least: number
  readonly most: number
  readonly onValue: (value: number) => void
}

function NumberField({ id, label, value, least, most, onValue }: NumberFieldProps) {
  return (
    <div class="field is-short">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        required
        value={value}
        min={least}
        max={most}
        onInput={event => {
          const { valueAsNumber } = event.currentTarget
          if (Number.isInteger(valueAsNumber)) onValue(valueAsNumber)
        }}
      />
    </div>
  )
}
