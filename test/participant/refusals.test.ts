/** What a participant says of an operation that has no outcome. */
import { expect, it } from 'vitest'
import { overProblem, unsettled } from '../../worker/participant/calls/refusals.ts'

it('an operation under a grant whose end is forgotten may have been applied', () => {
  expect(overProblem(null, 'op').outcome).toBe('unknown')
  expect(overProblem({ fence: 1, reason: 'expired' }, 'op').outcome).toBe('not-applied')
  expect(unsettled.outcome).toBe('unknown')
})

it('an operation that was pending when the grant ended is what the participants found it to be', () => {
  const pending = { opId: 'op', outcome: 'unknown' } as const
  expect(overProblem({ fence: 1, reason: 'suspected', pending }, 'op').outcome).toBe('unknown')
  expect(overProblem({ fence: 1, reason: 'suspected', pending }, 'another').outcome).toBe('not-applied')
})
