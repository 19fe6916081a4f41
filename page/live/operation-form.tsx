/**
 * Changes what the lock guards: under the grant of this page, or with one call that holds the lock by itself.
 */
import { useState } from 'preact/hooks'
import type { Held } from '../../client/held.ts'
import type { Lock } from '../../client/lock.ts'
import type { Json } from '../../shared/json.ts'
import type { KeyValueOp } from '../../shared/resource/key-value.ts'
import { Field } from '../view/field.tsx'
import { Outcome } from './outcome.tsx'
import { useAction } from './use-action.ts'

export interface OperationFormProps {
  readonly lock: Lock
  readonly held: Held | null
  readonly onDone: () => void
}

const KINDS = ['increment', 'put', 'append', 'delete'] as const
type Kind = (typeof KINDS)[number]

export function OperationForm({ lock, held, onDone }: OperationFormProps) {
  const [kind, setKind] = useState<Kind>('increment')
  const [key, setKey] = useState('visits')
  const [value, setValue] = useState('')
  const action = useAction(onDone)
  const apply = (event: Event) => {
    event.preventDefault()
    void action.run(async () => {
      const ops = [operationOf(kind, key, value)] as const
      const { applied, results } = held === null ? await lock.transact(ops) : await held.apply(ops)
      const answer = JSON.stringify(results[0])
      return applied ? `Applied: ${answer}` : `Not applied: ${answer}`
    })
  }
  return (
    <>
      <form onSubmit={apply}>
        <Field label="Operation" isShort>
          {id => (
            <select id={id} value={kind} onChange={event => setKind(event.currentTarget.value as Kind)}>
              {KINDS.map(one => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Key">
          {id => (
            <input
              id={id}
              value={key}
              required
              autocapitalize="off"
              spellcheck={false}
              onInput={event => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        {kind !== 'delete' && (
          <Field label={kind === 'increment' ? 'By' : 'Value'} isShort={kind === 'increment'}>
            {id => (
              <input
                id={id}
                value={value}
                placeholder={kind === 'increment' ? '1' : 'JSON, or text'}
                autocapitalize="off"
                spellcheck={false}
                onInput={event => setValue(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        <button type="submit" class={held === null ? '' : 'main'} disabled={action.isBusy}>
          Apply
        </button>
      </form>
      {held === null && (
        <p class="soft">
          <small>
            Without holding the lock, an operation acquires it, changes the state and releases it in one call.
          </small>
        </p>
      )}
      <Outcome action={action} />
    </>
  )
}

function operationOf(kind: Kind, key: string, text: string): KeyValueOp {
  if (kind === 'delete') return { delete: key }
  if (kind === 'increment')
    return text.trim() === '' ? { increment: key } : { increment: key, by: Number(text) }
  const value = readValue(text)
  return kind === 'put' ? { put: key, value } : { append: key, value }
}

/** What is no JSON is text. */
function readValue(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
