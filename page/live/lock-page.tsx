/** One lock of the service, as it is now, and what can be done with it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { LOCK_NAME } from '../../client/connection.ts'
import type { LockPicture } from '../view/lock-picture.ts'
import { LockView } from '../view/lock-view.tsx'
import { clockTime, plural } from '../view/words.ts'
import { Follower } from './follower.ts'
import { HoldActions } from './hold-actions.tsx'
import { OperatorActions } from './operator-actions.tsx'
import { Problem } from './problem.tsx'
import type { Service } from './service.ts'
import { useHolding } from './use-holding.ts'

export interface LockPageProps {
  readonly service: Service
  readonly name: string
}

export function LockPage({ service, name }: LockPageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${name} · Baton`
    heading.current?.focus()
  }, [name])
  return (
    <>
      <p class="way">
        <a href="#/">Locks</a> ›
      </p>
      <h1 ref={heading} tabIndex={-1}>
        {name}
      </h1>
      {LOCK_NAME.test(name) ? (
        <Followed service={service} name={name} />
      ) : (
        <p role="alert">
          No lock can have this name: it begins with a letter or a digit, and has at most 64 letters, digits
          and <code>_ . : -</code>.
        </p>
      )}
    </>
  )
}

/** Times run on between what the service tells. */
const TICK_MS = 250

function Followed({ service, name }: LockPageProps) {
  const [follower, setFollower] = useState<Follower | null>(null)
  const [, setTurn] = useState(0)
  useEffect(() => {
    const redraw = () => setTurn(turn => turn + 1)
    const made = new Follower(service, name, redraw)
    setFollower(made)
    const timer = setInterval(redraw, TICK_MS)
    return () => {
      made.stop()
      clearInterval(timer)
    }
  }, [service, name])
  const picture = follower?.story.picture(service.now()) ?? null
  const refresh = () => follower?.refresh()
  const holding = useHolding(service, name, picture?.holder ?? null, refresh)
  if (follower === null) return null
  // Before anything is known of the lock there is nothing to do with it.
  const isKnown = picture !== null || follower.isAbsent
  return (
    <>
      <p class="soft lead">{leadOf(follower, picture)}</p>
      {follower.problem !== null && <Problem error={follower.problem} />}
      {isKnown && (
        <LockView
          picture={picture}
          timeOf={clockTime}
          waits={follower.metrics?.waits}
          holds={follower.metrics?.holds}
          {...(picture !== null && {
            last: <OperatorActions service={service} picture={picture} onDone={refresh} />,
          })}
        >
          <HoldActions lock={service.baton.lock(name)} holding={holding} onDone={refresh} />
        </LockView>
      )}
    </>
  )
}

function leadOf({ isAbsent }: Follower, picture: LockPicture | null): string {
  if (picture !== null) return `${picture.protocol}, ${plural(picture.participants.length, 'participant')}`
  return isAbsent ? 'There is no lock of this name yet. The first acquire makes it.' : 'Asking the service…'
}
