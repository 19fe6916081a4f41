/** What a user is told whose event is answered but not run. Refusals are values; only defects throw. */
import type { Ending, PendingOutcome, Refusal, UserInput } from './protocol.ts'
import { type Collecting, emit } from './step.ts'

type Event<Type extends UserInput['type']> = Extract<UserInput, { type: Type }>

export function refuse(step: Collecting, user: string, event: UserInput['type'], refusal: Refusal): void {
  emit(step, { type: 'refused', user, event, refusal })
}

export const NOT_A_MEMBER: Refusal = { code: 'not-a-member' }

/** One user may ask for several operations at once, so the refusal says which of them it means. */
export function refuseOperation(step: Collecting, event: Event<'issue'>, refusal: Refusal): void {
  emit(step, { type: 'refused', user: event.user, event: 'issue', refusal, opId: event.opId })
}

/** Refuses an event of any kind. Operators and readers are known by the names of their requests. */
export function refuseEvent(step: Collecting, event: UserInput, refusal: Refusal): void {
  if (event.type === 'issue') return refuseOperation(step, event, refusal)
  refuse(step, 'user' in event ? event.user : event.request, event.type, refusal)
}

/** Not every protocol has operations, reads, or participants that leave. A read that is not there is gone. */
export function refuseUnsupported(step: Collecting, event: UserInput): void {
  if (event.type !== 'cancel-read') refuseEvent(step, event, { code: 'not-supported' })
}

/**
 * An event for a grant that is over is answered but not run (trap A7). A release said twice counts as a
 * release. `outcome` says what became of the operation, if the event is one.
 */
export function refuseBecauseOver(
  step: Collecting,
  event: Event<'issue' | 'exit' | 'keep-alive'>,
  ending: Ending | null,
  outcome: PendingOutcome['outcome'] = 'unknown',
): void {
  const { user, fence } = event
  if (event.type === 'exit' && ending?.reason === 'released') return emit(step, { type: 'rem', user, fence })
  if (event.type === 'issue') refuseOperation(step, event, { code: 'grant-over', ending, outcome })
  else refuse(step, user, event.type, { code: 'grant-over', ending })
}

/** How this grant of this user ended, as long as that is remembered. */
export function endingOf<Remembered extends Ending>(
  endings: readonly Remembered[],
  { user, fence }: { readonly user: string; readonly fence: number },
): Remembered | null {
  return endings.find(ended => ended.fence === fence && ended.user === user) ?? null
}
