/** Where the key of a service goes. It stays in this tab, and nowhere else. */
import { useState } from 'preact/hooks'

const STORED_AS = 'baton-key'
export const KEY_FIELD = 'key-field'

export const storedKey = (): string => sessionStorage.getItem(STORED_AS) ?? ''

export interface KeyFieldProps {
  readonly value: string
  readonly onChange: (key: string) => void
}

export function KeyField({ value, onChange }: KeyFieldProps) {
  const [typed, setTyped] = useState(value)
  const use = (key: string) => {
    if (key === '') sessionStorage.removeItem(STORED_AS)
    else sessionStorage.setItem(STORED_AS, key)
    setTyped(key)
    onChange(key)
  }
  return (
    <form
      class="key"
      onSubmit={event => {
        event.preventDefault()
        use(typed.trim())
      }}
    >
      <label class="hidden" for={KEY_FIELD}>
        Key
      </label>
      <input
        id={KEY_FIELD}
        type="password"
        autocomplete="off"
        placeholder="Key, if it asks for one"
        value={typed}
        onInput={event => setTyped(event.currentTarget.value)}
      />
      <button type="submit" disabled={typed.trim() === value}>
        Use
      </button>
      {value !== '' && (
        <button type="button" onClick={() => use('')}>
          Forget
        </button>
      )}
    </form>
  )
}

export function goToKeyField(): void {
  document.getElementById(KEY_FIELD)?.focus()
}
