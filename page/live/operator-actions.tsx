/** What an operator can do: eject the holder, change the members, delete the lock. */
import { useState } from 'preact/hooks'
import { Field } from '../view/field.tsx'
import type { LockPicture, ParticipantPicture } from '../view/lock-picture.ts'
import { REGION_CODES, regionName } from '../view/words.ts'
import { Outcome } from './outcome.tsx'
import type { Service } from './service.ts'
import { type Action, useAction } from './use-action.ts'

export interface OperatorActionsProps {
  readonly service: Service
  readonly picture: LockPicture
  readonly onDone: () => void
}

export function OperatorActions({ service, picture, onDone }: OperatorActionsProps) {
  const lock = service.baton.lock(picture.lock)
  const action = useAction(onDone)
  const { holder } = picture
  const eject = () =>
    action.run(async () => {
      const { epoch } = await lock.eject({ fence: holder!.fence })
      return `The holder is out, in epoch ${epoch}.`
    })
  const change = (wanted: Parameters<typeof lock.changeMembers>[0]) =>
    action.run(async () => {
      const { participants, isDone } = await lock.changeMembers(wanted)
      const numbers = participants.map(({ id }) => id).join(', ')
      return isDone
        ? `The participants are ${numbers}.`
        : `The change is under way. So far the participants are ${numbers}.`
    })
  return (
    <section class="panel actions" aria-label="For operators">
      <h2>For operators</h2>
      <Outcome action={action} />
      <div class="row">
        <button type="button" class="danger" disabled={holder === null || action.isBusy} onClick={eject}>
          Eject the holder
        </button>
        {holder === null && <span class="soft">Nobody holds the lock.</span>}
      </div>
      <details>
        <summary>Change the members</summary>
        <AddForm action={action} onAdd={location => change({ add: { location } })} />
        <MemberForm
          participants={picture.participants}
          action={action}
          onRemove={id => change({ remove: id })}
          onReplace={(id, location) => change({ replace: id, location })}
        />
      </details>
      <details>
        <summary>Delete the lock</summary>
        <DeleteForm
          action={action}
          onDelete={force =>
            action.run(async () => {
              await lock.delete({ force })
              return 'The lock is deleted, with the state that it guarded.'
            })
          }
        />
      </details>
    </section>
  )
}

// ---------------------------------------------------------------- members

interface AddFormProps {
  readonly action: Action
  readonly onAdd: (location: string | null) => void
}

function AddForm({ action, onAdd }: AddFormProps) {
  const [location, setLocation] = useState('')
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        onAdd(location === '' ? null : location)
      }}
    >
      <RegionField label="New participant in" value={location} onChange={setLocation} />
      <button type="submit" disabled={action.isBusy}>
        Add
      </button>
    </form>
  )
}

interface MemberFormProps {
  readonly participants: readonly ParticipantPicture[]
  readonly action: Action
  readonly onRemove: (id: number) => void
  readonly onReplace: (id: number, location: string | null) => void
}

function MemberForm({ participants, action, onRemove, onReplace }: MemberFormProps) {
  const [chosen, setChosen] = useState(participants[0]?.id ?? 1)
  const [location, setLocation] = useState('')
  const id = participants.some(one => one.id === chosen) ? chosen : (participants[0]?.id ?? 1)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        onReplace(id, location === '' ? null : location)
      }}
    >
      <Field label="Participant" isShort>
        {field => (
          <select
            id={field}
            value={String(id)}
            onChange={event => setChosen(Number(event.currentTarget.value))}
          >
            {participants.map(one => (
              <option key={one.id} value={String(one.id)}>
                {one.id} {one.location ?? ''}
              </option>
            ))}
          </select>
        )}
      </Field>
      <button type="button" class="danger" disabled={action.isBusy} onClick={() => onRemove(id)}>
        Remove
      </button>
      <RegionField label="or replace it by one in" value={location} onChange={setLocation} />
      <button type="submit" disabled={action.isBusy}>
        Replace
      </button>
    </form>
  )
}

interface RegionFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (location: string) => void
}

function RegionField({ label, value, onChange }: RegionFieldProps) {
  return (
    <Field label={label}>
      {id => (
        <select id={id} value={value} onChange={event => onChange(event.currentTarget.value)}>
          <option value="">anywhere</option>
          {REGION_CODES.map(code => (
            <option key={code} value={code}>
              {regionName(code)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

// ---------------------------------------------------------------- the end

interface DeleteFormProps {
  readonly action: Action
  readonly onDelete: (force: boolean) => void
}

/** Two steps: what is deleted does not come back. */
function DeleteForm({ action, onDelete }: DeleteFormProps) {
  const [isSure, setIsSure] = useState(false)
  const [force, setForce] = useState(false)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        setIsSure(false)
        onDelete(force)
      }}
    >
      <label class="check">
        <input type="checkbox" checked={force} onChange={event => setForce(event.currentTarget.checked)} />
        also while somebody holds it
      </label>
      {isSure ? (
        <>
          <button key="yes" type="submit" class="danger" disabled={action.isBusy}>
            Yes, delete it with its state
          </button>
          <button key="no" type="button" onClick={() => setIsSure(false)}>
            No
          </button>
        </>
      ) : (
        <button key="delete" type="button" class="danger" onClick={() => setIsSure(true)}>
          Delete
        </button>
      )}
    </form>
  )
}
