/** A field with its label. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export interface FieldProps {
  readonly label: string
  readonly isShort?: boolean
  /** Makes the input, which has the id that the label refers to. */
  readonly children: (id: string) => ComponentChildren
}

export function Field({ label, isShort = false, children }: FieldProps) {
  const id = useId()
  return (
    <div class={isShort ? 'field is-short' : 'field'}>
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  )
}
