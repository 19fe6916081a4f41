/** Acquire the lock from the page, change what it guards, and release it. */
import { useState } from 'preact/hooks'
import type { Lock } from '../../client/lock.ts'
import { Field } from '../view/field.tsx'
import { OperationForm } from './operation-form.tsx'
import { Outcome } from './outcome.tsx'
import type { Holding } from './use-holding.ts'

export interface HoldActionsProps {
  readonly lock: Lock
  readonly holding: Holding
  readonly onDone: () => void
}

export function HoldActions({ lock, holding, onDone }: HoldActionsProps) {
  const { held, action } = holding
  return (
    <section class="panel actions" aria-label="Use the lock">
      <h2>{held === null ? 'Hold it yourself' : `You hold it, with fence ${held.fence}`}</h2>
      <Outcome action={action} />
      {held === null ? (
        <AcquireForm holding={holding} />
      ) : (
        <div class="row">
          <button type="button" class="main" disabled={action.isBusy} onClick={holding.release}>
            Release
          </button>
        </div>
      )}
      <OperationForm lock={lock} held={held} onDone={onDone} />
    </section>
  )
}

function AcquireForm({ holding }: { readonly holding: Holding }) {
  const [owner, setOwner] = useState('me')
  const [ttlSeconds, setTtlSeconds] = useState(30)
  const [keepAlive, setKeepAlive] = useState(false)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        holding.acquire({ owner, ttlMs: Math.round(ttlSeconds * 1_000), keepAlive })
      }}
    >
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
      <div class="ends">
        <label class="check">
          <input
            type="checkbox"
            checked={keepAlive}
            onChange={event => setKeepAlive(event.currentTarget.checked)}
          />
          keep it alive
        </label>
        {/* Two elements: one that became the other while it is clicked would do both. */}
        {holding.isWaiting ? (
          <button key="stop" type="button" onClick={holding.stopWaiting}>
            Stop waiting
          </button>
        ) : (
          <button key="acquire" type="submit" class="main" disabled={holding.action.isBusy}>
            Acquire
          </button>
        )}
      </div>
    </form>
  )
}
