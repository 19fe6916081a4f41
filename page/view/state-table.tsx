/** The state that the lock guards. What has just changed is marked for a moment. */
import type { CellPicture } from './lock-picture.ts'
import { Shown } from './shown.tsx'

const CHARACTERS_SHOWN = 400

export function StateTable({ state }: { readonly state: readonly CellPicture[] }) {
  if (state.length === 0) return <p class="soft">The lock guards no keys yet.</p>
  return (
    <Shown items={state} few={12} most={500}>
      {shown => <Rows state={shown} />}
    </Shown>
  )
}

function Rows({ state }: { readonly state: readonly CellPicture[] }) {
  return (
    <table class="state">
      <caption class="hidden">The guarded state</caption>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
          <th scope="col" class="figure">
            Revision
          </th>
        </tr>
      </thead>
      <tbody>
        {state.map(({ key, value, revision }) => (
          <tr key={`${key} ${revision}`}>
            <th scope="row">{key}</th>
            <td>
              <code>{shorten(value)}</code>
            </td>
            <td class="figure">{revision}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= CHARACTERS_SHOWN ? text : `${text.slice(0, CHARACTERS_SHOWN)}…`
}
