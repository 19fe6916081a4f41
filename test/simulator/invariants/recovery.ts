/**
 * I20: the recovered state is a function of storage. What the process believes to be durable is what it would
 * come back with.
 */

import { recover } from '../../../shared/protocols/wme/records.ts'
import { violate } from '../violation.ts'
import { isEqual } from './equal.ts'
import type { WmeParticipant } from './wme-participant.ts'

export function checkRecovery({ id, context, state, storage }: WmeParticipant): void {
  const recovered = recover(context, storage)
  const { durable, derived } = recovered
  for (const part of Object.keys(durable) as (keyof typeof durable)[]) {
    if (isEqual(durable[part], state.durable[part])) continue
    const here = JSON.stringify(state.durable[part])
    violate(
      'I20',
      `p${id} would come back with another '${part}': ${JSON.stringify(durable[part])}, not ${here}`,
    )
  }
  if (!isEqual(derived, state.derived)) {
    const here = JSON.stringify(state.derived)
    violate('I20', `p${id} would derive ${JSON.stringify(derived)} from its log, not ${here}`)
  }
}
