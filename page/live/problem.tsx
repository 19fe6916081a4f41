/** What went wrong, in the words of the service. */
import { BadRequestError, BatonError, UnauthenticatedError } from '../../client/errors.ts'
import { goToKeyField } from './key-field.tsx'

export interface ProblemProps {
  readonly error: unknown
  readonly onClose?: () => void
}

export function Problem({ error, onClose }: ProblemProps) {
  return (
    <div class="problem" role="alert">
      <div>
        <p>{wordsOf(error)}</p>
        {error instanceof BadRequestError && error.errors.length > 1 && (
          <ul>
            {error.errors.map(({ path, message }) => (
              <li key={path}>
                <code>{path}</code> {message}
              </li>
            ))}
          </ul>
        )}
        {error instanceof UnauthenticatedError && (
          <p>
            The service wants a key: put it into the field at the top of this page.{' '}
            <button type="button" onClick={goToKeyField}>
              Go there
            </button>
          </p>
        )}
      </div>
      {onClose !== undefined && (
        <button type="button" onClick={onClose} aria-label="Close this message">
          ✕
        </button>
      )}
    </div>
  )
}

export function wordsOf(error: unknown): string {
  if (!(error instanceof BatonError)) return error instanceof Error ? error.message : String(error)
  const outcome = error.outcome === undefined ? '' : ` The operation is ${OUTCOMES[error.outcome]}.`
  return sentence(error.detail) + outcome
}

const OUTCOMES = {
  applied: 'applied all the same',
  'not-applied': 'not applied',
  unknown: 'perhaps applied: nobody can tell',
} as const

function sentence(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') return 'The service gave no reason.'
  const upper = trimmed[0]!.toUpperCase() + trimmed.slice(1)
  return /[.!?]$/.test(upper) ? upper : `${upper}.`
}
