/** The page as a client of the lock: it waits, holds and releases. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Held } from '../../client/held.ts'
import type { HolderPicture } from '../view/lock-picture.ts'
import type { Service } from './service.ts'
import { type Action, useAction } from './use-action.ts'

export interface Wish {
  readonly owner: string
  readonly ttlMs: number
  readonly keepAlive: boolean
}

export interface Holding {
  /** The grant of this page; `null` if it has none, or if that is over. */
  readonly held: Held | null
  readonly isWaiting: boolean
  readonly action: Action
  acquire(wish: Wish): void
  stopWaiting(): void
  release(): void
}

const WAIT_MS = 60_000

export function useHolding(
  service: Service,
  name: string,
  holder: HolderPicture | null,
  onDone: () => void,
): Holding {
  const action = useAction(onDone)
  const { held, setHeld } = useHeld(holder)
  const [waiting, setWaiting] = useState<AbortController | null>(null)

  const acquire = ({ owner, ttlMs, keepAlive }: Wish) =>
    void action.run(async () => {
      const end = new AbortController()
      setWaiting(end)
      try {
        const called = owner.trim() === '' ? {} : { owner: owner.trim() }
        const options = { ttlMs, keepAlive, waitMs: WAIT_MS, signal: end.signal, ...called }
        const granted = await service.baton.lock(name).acquire(options)
        setHeld(granted)
        return `The lock is yours, with fence ${granted.fence}.`
      } catch (error) {
        if (end.signal.aborted) return 'You no longer wait.'
        throw error
      } finally {
        setWaiting(null)
      }
    })
  const release = () =>
    void action.run(async () => {
      await held!.release()
      setHeld(null)
      return held!.lost === undefined ? 'Released.' : 'It was lost before.'
    })
  return {
    held,
    isWaiting: waiting !== null,
    action,
    acquire,
    stopWaiting: () => waiting?.abort(),
    release,
  }
}

function useHeld(holder: HolderPicture | null) {
  const [held, setHeld] = useState<Held | null>(null)
  const isSeen = useRef(false)
  const latest = useRef(held)
  latest.current = held
  const fence = held?.fence ?? 0
  if (held !== null && holder?.fence === fence) isSeen.current = true
  // A status from before the grant may still arrive: only what came after it tells that it is over.
  const isOver =
    held !== null && (held.signal.aborted || (holder === null ? isSeen.current : holder.fence > fence))
  useEffect(() => {
    if (isOver) setHeld(null)
    isSeen.current = false
  }, [isOver, held])
  // Whoever leaves the page does not keep the lock.
  useEffect(() => () => void latest.current?.release().catch(() => {}), [])
  return { held: isOver ? null : held, setHeld }
}
