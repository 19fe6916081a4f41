/** Acquire the lock from the page, change what it guards, and release it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Held } from '../../client/held.ts'
import { Field } from '../view/field.tsx'
import type { HolderPicture } from '../view/lock-picture.ts'
import { OperationForm } from './operation-form.tsx'
import { Outcome } from './outcome.tsx'
import type { Service } from './service.ts'
import { useAction } from './use-action.ts'

export interface HoldActionsProps {
  readonly service: Service
  readonly name: string
  /** Whoever holds the lock now, as far as the page knows. */
  readonly holder: HolderPicture | null
  readonly onDone: () => void
}

const WAIT_MS = 60_000

export function HoldActions({ service, name, holder, onDone }: HoldActionsProps) {
  const lock = service.baton.lock(name)
  const action = useAction(onDone)
  const { held, setHeld } = useHeld(holder)
  const [owner, setOwner] = useState('me')
  const [ttlSeconds, setTtlSeconds] = useState(30)
  const [isKept, setIsKept] = useState(false)
  const waiting = useRef<AbortController | null>(null)
  const [isWaiting, setIsWaiting] = useState(false)

  const acquire = (event: Event) => {
    event.preventDefault()
    void action.run(async () => {
      waiting.current = new AbortController()
      setIsWaiting(true)
      try {
        const { signal } = waiting.current
        const ttlMs = Math.round(ttlSeconds * 1_000)
        const called = owner.trim() === '' ? {} : { owner: owner.trim() }
        const granted = await lock.acquire({ ttlMs, waitMs: WAIT_MS, keepAlive: isKept, signal, ...called })
        setHeld(granted)
        return `The lock is yours, with fence ${granted.fence}.`
      } catch (error) {
        if (waiting.current.signal.aborted) return 'You no longer wait.'
        throw error
      } finally {
        setIsWaiting(false)
      }
    })
  }
  const release = () =>
    action.run(async () => {
      await held!.release()
      setHeld(null)
      return held!.lost === undefined ? 'Released.' : 'It was lost before.'
    })

  return (
    <section class="panel actions" aria-label="Use the lock">
      <h2>{held === null ? 'Hold it yourself' : `You hold it, with fence ${held.fence}`}</h2>
      <Outcome action={action} />
      {held === null ? (
        <form onSubmit={acquire}>
          <Field label="Your name">
            {id => (
              <input
                id={id}
                value={owner}
                maxLength={128}
                onInput={event => setOwner(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Seconds to live" isShort>
            {id => (
              <input
                id={id}
                type="number"
                min={1}
                max={600}
                required
                value={ttlSeconds}
                onInput={event => setTtlSeconds(event.currentTarget.valueAsNumber)}
              />
            )}
          </Field>
          <label class="check">
            <input
              type="checkbox"
              checked={isKept}
              onChange={event => setIsKept(event.currentTarget.checked)}
            />
            keep it alive
          </label>
          {isWaiting ? (
            <button type="button" onClick={() => waiting.current?.abort()}>
              Stop waiting
            </button>
          ) : (
            <button type="submit" class="main" disabled={action.isBusy}>
              Acquire
            </button>
          )}
        </form>
      ) : (
        <div class="row">
          <button type="button" class="main" disabled={action.isBusy} onClick={release}>
            Release
          </button>
        </div>
      )}
      <OperationForm lock={lock} held={held} onDone={onDone} />
    </section>
  )
}

/** The grant of this page, until it is known to be over. */
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
