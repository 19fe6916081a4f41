/**
 * One lock as a whole: the ring, who holds it, the state, the news. Both the live and the simulated page show
 * it.
 */
import type { ComponentChildren } from 'preact'
import { HolderCard } from './holder-card.tsx'
import type { LockPicture } from './lock-picture.ts'
import { NewsList } from './news-list.tsx'
import { ParticipantsTable } from './participants-table.tsx'
import { Ring } from './ring.tsx'
import { StateTable } from './state-table.tsx'
import type { TimesBucket } from './times.ts'
import { TimesChart } from './times-chart.tsx'
import { plural } from './words.ts'

export interface LockViewProps {
  /** `null`: there is nothing to see yet, only something to do. */
  readonly picture: LockPicture | null
  /** How the time of news is written. */
  readonly timeOf: (at: number) => string
  readonly waits?: readonly TimesBucket[] | undefined
  readonly holds?: readonly TimesBucket[] | undefined
  readonly onChoose?: (participant: number) => void
  readonly chosen?: number | null
  /** What can be done, beside the ring. */
  readonly children?: ComponentChildren
  /** The same, for what is seldom done. */
  readonly last?: ComponentChildren
}

export function LockView(props: LockViewProps) {
  const { picture, timeOf, children, last } = props
  // What can be done stays where it is in the tree: otherwise whatever was typed into it would be lost.
  return (
    <div class={picture === null ? 'lock-view is-empty' : 'lock-view'}>
      {picture !== null && <Replicas {...props} picture={picture} />}
      <div class="column">
        {picture !== null && (
          <section class="panel area-holder" aria-label="Holder">
            <HolderCard picture={picture} />
          </section>
        )}
        {children !== undefined && <div class="area-actions">{children}</div>}
        {picture !== null && (
          <section class="panel area-news">
            <h2>News</h2>
            <NewsList news={picture.news} timeOf={timeOf} />
          </section>
        )}
        {last !== undefined && <div class="area-last">{last}</div>}
      </div>
    </div>
  )
}

/** The participants, and what they have. */
function Replicas({
  picture,
  waits,
  holds,
  onChoose,
  chosen,
}: LockViewProps & { readonly picture: LockPicture }) {
  return (
    <div class="column">
      <section class="panel area-ring" aria-label="Participants">
        <Ring picture={picture} {...(onChoose && { onChoose })} {...(chosen !== undefined && { chosen })} />
        <p class="explanation">{picture.explanation}</p>
      </section>
      <section class="panel area-state">
        <h2>
          State <small>{plural(picture.state.length, 'key')}</small>
        </h2>
        <StateTable state={picture.state} />
      </section>
      <section class="panel area-participants">
        <h2>Participants</h2>
        <ParticipantsTable participants={picture.participants} />
      </section>
      {(waits !== undefined || holds !== undefined) && (
        <section class="panel area-times">
          <h2>Times</h2>
          <div class="charts">
            {waits !== undefined && <TimesChart title="Waiting" buckets={waits} />}
            {holds !== undefined && <TimesChart title="Holding" buckets={holds} />}
          </div>
        </section>
      )}
    </div>
  )
}
