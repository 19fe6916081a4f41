/** What became of an action: what was done, or what went wrong. */
import { Problem } from './problem.tsx'
import type { Action } from './use-action.ts'

export function Outcome({ action }: { readonly action: Action }) {
  return (
    <>
      {action.problem !== null && <Problem error={action.problem} onClose={action.clear} />}
      <p class={action.done === '' ? 'hidden' : 'done'} role="status">
        {action.done}
      </p>
    </>
  )
}
