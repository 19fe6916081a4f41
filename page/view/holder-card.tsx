/** Who holds the lock: its name, its fence, and how long its grant still lasts. */
import { useRef } from 'preact/hooks'
import type { HolderPicture, LockPicture } from './lock-picture.ts'
import { duration, participantName, plural } from './words.ts'

export function HolderCard({ picture }: { readonly picture: LockPicture }) {
  const { holder, participants, now } = picture
  if (holder === null) {
    return (
      <div class="holder is-free">
        <p class="owner">Nobody holds it</p>
        <Waiting picture={picture} />
      </div>
    )
  }
  const at = participants.find(({ id }) => id === holder.participant)
  return (
    <div class="holder">
      <p class="soft">Held by</p>
      <p class="owner">{holder.owner ?? 'somebody without a name'}</p>
      <dl>
        <div>
          <dt>at</dt>
          <dd>{at === undefined ? `participant ${holder.participant}` : participantName(at)}</dd>
        </div>
        <div>
          <dt>fence</dt>
          <dd class="fence">{holder.fence}</dd>
        </div>
        <div>
          <dt>for</dt>
          <dd>{holder.since === null ? '–' : duration(now - holder.since)}</dd>
        </div>
      </dl>
      <TimeLeft holder={holder} now={now} />
      <Waiting picture={picture} />
    </div>
  )
}

/** The bar is full whenever the grant is new or was kept alive. */
function TimeLeft({ holder, now }: { readonly holder: HolderPicture; readonly now: number }) {
  const full = useRef({ expiresAt: 0, ms: 1 })
  const { expiresAt } = holder
  if (expiresAt === null) return null
  const left = Math.max(0, expiresAt - now)
  if (full.current.expiresAt !== expiresAt) full.current = { expiresAt, ms: Math.max(1, left) }
  const share = left / full.current.ms
  return (
    <div class="time-left">
      <progress
        value={share}
        max={1}
        aria-label="Time to live of the grant"
        class={share < 0.25 ? 'is-low' : ''}
      />
      <p class="soft">
        {left === 0 ? 'its time is over' : `expires in ${duration(left)} unless it is kept alive`}
      </p>
    </div>
  )
}

function Waiting({ picture: { waiting, now } }: { readonly picture: LockPicture }) {
  const count = waiting.reduce((sum, { number }) => sum + number, 0)
  if (count === 0) return <p class="waiting soft">Nobody waits.</p>
  const since = Math.min(...waiting.map(one => one.since ?? now))
  const where = waiting.filter(({ number }) => number > 0)
  return (
    <p class="waiting">
      <strong>{plural(count, 'client waits', 'clients wait')}</strong>
      {since < now && <>, the first for {duration(now - since)}</>}
      <span class="soft">
        {' '}
        ({where.map(({ participant, number }) => `${number} at ${participant}`).join(', ')})
      </span>
    </p>
  )
}
