/** The protocols whose members operators can change, for those that cannot and say so. */
import type { ProtocolName, UserInput } from '../protocol.ts'
import { refuseEvent } from '../refusals.ts'
import type { Collecting } from '../step.ts'

/** Those that say so themselves (`Protocol.changesMembers`); some only without certain options. */
export const CHANGING_PROTOCOLS: readonly ProtocolName[] = [
  'wme-1',
  'wme-2',
  'wme-consensus',
  'ricart-agrawala',
]

export function refuseToChange(step: Collecting, event: UserInput): void {
  refuseEvent(step, event, { code: 'not-supported', protocols: CHANGING_PROTOCOLS })
}
