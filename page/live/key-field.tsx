/** Where the key of a service goes. It stays in this tab, and nowhere else. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

const STORED_AS = 'baton-key'
const FIELD = 'key-field'
const WANTED = 'baton-key-wanted'

export const storedKey = (): string => sessionStorage.getItem(STORED_AS) ?? ''

/** Opens the field, and puts the cursor into it. */
export function goToKeyField(): void {
  dispatchEvent(new Event(WANTED))
}

export interface KeyFieldProps {
  readonly value: string
  readonly onChange: (key: string) => void
}

/** Most services on one's own machine want no key, so the field is out of the way until it is wanted. */
export function KeyField({ value, onChange }: KeyFieldProps) {
  const [isOpen, setIsOpen] = useState(value !== '')
  const field = useRef<HTMLInputElement>(null)
  const [isWanted, setIsWanted] = useState(false)
  useEffect(() => {
    const open = () => {
      setIsOpen(true)
      setIsWanted(true)
    }
    addEventListener(WANTED, open)
    return () => removeEventListener(WANTED, open)
  }, [])
  // Not after the next paint: what is typed until then would be lost.
  useLayoutEffect(() => {
    if (isWanted) field.current?.focus()
    setIsWanted(false)
  }, [isWanted])
  if (!isOpen) {
    return (
      <button type="button" onClick={goToKeyField}>
        Key…
      </button>
    )
  }
  const use = (key: string) => {
    if (key === '') sessionStorage.removeItem(STORED_AS)
    else sessionStorage.setItem(STORED_AS, key)
    field.current!.value = key
    onChange(key)
  }
  return (
    <form
      class="key"
      onSubmit={event => {
        event.preventDefault()
        use(field.current!.value.trim())
      }}
    >
      <label class="hidden" for={FIELD}>
        Key of the service
      </label>
      <input
        id={FIELD}
        ref={field}
        type="password"
        autocomplete="off"
        placeholder="Key of the service"
        defaultValue={value}
      />
      <button type="submit">Use</button>
      {value !== '' && (
        <button type="button" onClick={() => use('')}>
          Forget
        </button>
      )}
    </form>
  )
}
